import type { DurationMs } from '../../base/time.ts';
import { withEitherSignal } from '../../base/waiting.ts';
import { adminApiPath } from '../../contract/admin/api.ts';
import {
  explainCollector,
  holdSubject,
  listHolds,
  readAudit,
  releaseSubject,
} from '../../contract/admin/holds.ts';
import { listPolicies, previewStart, startPolicy } from '../../contract/admin/policies.ts';
import { previewReload, reloadConfig } from '../../contract/admin/reload.ts';
import {
  type CollectorSearch,
  type EventSearch,
  getRollout,
  listRolloutCollectors,
  listRolloutEvents,
  listRollouts,
  reportRollout,
} from '../../contract/admin/rollouts.ts';
import type { VerbBody } from '../../contract/admin/verb-body.ts';
import {
  abortRollout,
  approveRollout,
  pauseRollout,
  previewRepair,
  previewRollback,
  repairRollout,
  resumeRollout,
  retryRollout,
  rollBackRollout,
  skipRolloutSoak,
} from '../../contract/admin/verbs.ts';
import type { Operation } from '../../contract/operation.ts';
import { type CallInput, makeHttpClient } from '../../http/client.ts';
import { HttpFault } from '../../http/fault.ts';
import type { HoldRequest, RepairRequest, VerbRequest } from '../../orchestrator/operations/operations.ts';
import type { StartRequest } from '../../orchestrator/operations/start-policy.ts';
import type { ReportFormat } from '../../rollout/report/write-report.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';
import { readFault } from './admin-client-fault.ts';

export interface AdminClientParts {
  /** Of the daemon: `http://127.0.0.1:9464`. */
  readonly baseUrl: string;
  readonly token: string | undefined;
}

/** The daemon's API, for whoever sits in another process. Every call fails with an `AdminClientFault`. */
export type AdminClient = ReturnType<typeof makeAdminClient>;

const connectMs = 3_000;
// Each a little more than what the daemon allows itself (`ask-operations.ts`), so that its own word arrives.
const readMs = 10_000;
const actMs = 65_000;
const approveMs = 305_000;

// A page of upgrades, or the history of a rollout: of a daemon of our own, for one command.
const bodyBytesMax = 32 * 1024 * 1024;

/** Of calls that take a `caller`, it ends the wait. */
export function makeAdminClient({ baseUrl, token }: AdminClientParts) {
  const http = makeHttpClient({
    baseUrl: `${baseUrl.replace(/\/+$/, '')}${adminApiPath}`,
    timeouts: { totalMs: approveMs, connectMs },
    bodyBytesMax,
    hooks: { headers: () => (token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });
  /** Makes calls that give up after this time. A caller that aborted gets its own reason back. */
  const within =
    (limitMs: DurationMs): Ask =>
    async (operation, input, caller) => {
      const limit = AbortSignal.timeout(limitMs);
      try {
        const call = (signal: AbortSignal) => http.call(operation, input, { signal });
        return (await withEitherSignal([caller, limit], call)).body;
      } catch (error) {
        caller?.throwIfAborted();
        throw error instanceof HttpFault ? readFault(error, baseUrl) : error;
      }
    };
  const [read, act, approve] = [within(readMs), within(actMs), within(approveMs)];
  return {
    /** What is current, newest first: those that are running, and each policy's last that has ended. */
    listRollouts: async (caller?: AbortSignal): Promise<readonly RolloutStatus[]> =>
      (await read(listRollouts, {}, caller)).rollouts,
    /** A page of all that are kept, newest first. `next`: to go on with as `before`; null: these were the last. */
    pageRollouts: async (
      query: { readonly before?: string; readonly limit: number },
      caller?: AbortSignal,
    ): Promise<{ readonly rollouts: readonly RolloutStatus[]; readonly next: string | null }> => {
      const { rollouts, next = null } = await read(listRollouts, { query }, caller);
      return { rollouts, next };
    },
    /** When each policy scanned last, and what came of it. */
    listPolicies: (caller?: AbortSignal) => read(listPolicies, {}, caller),
    rolloutStatus: (id: string, caller?: AbortSignal): Promise<RolloutStatus> =>
      read(getRollout, { params: { id } }, caller),
    /** A page of the collectors that match. `next` is the `after` of the page that follows. */
    searchUpgrades: (id: string, query: Partial<CollectorSearch>, caller?: AbortSignal) =>
      read(listRolloutCollectors, { params: { id }, query }, caller),
    /** The latest that match, newest first. */
    readEvents: async (id: string, query: Partial<EventSearch>, caller?: AbortSignal) =>
      (await read(listRolloutEvents, { params: { id }, query }, caller)).events,
    /** What went where and when, as a whole file. */
    report: async (id: string, format: ReportFormat, caller?: AbortSignal) =>
      (await act(reportRollout, { params: { id }, query: { format } }, caller)).report,
    /** What a rollback would do now. */
    previewRollback: (id: string, caller?: AbortSignal) => act(previewRollback, { params: { id } }, caller),
    /** When it answers, the verb holds (P4). */
    apply: (request: VerbRequest, caller?: AbortSignal): Promise<RolloutStatus> =>
      sendVerb(request.verb === 'approve' ? approve : act, request, caller),
    /** Settles corrupt records. */
    repair: ({ rolloutId: id, ...body }: RepairRequest, caller?: AbortSignal): Promise<RolloutStatus> =>
      act(repairRollout, { params: { id }, body }, caller),
    /** What `repair` would settle now. */
    previewRepair: (of: Pick<RepairRequest, 'rolloutId' | 'collectorId'>, caller?: AbortSignal) => {
      const { rolloutId: id, ...query } = of;
      return act(previewRepair, { params: { id }, query }, caller);
    },
    /** When it answers, no create of what is held leaves any more (P4). */
    hold: (body: HoldRequest, caller?: AbortSignal) => act(holdSubject, { body }, caller),
    release: (body: HoldRequest, caller?: AbortSignal) => act(releaseSubject, { body }, caller),
    listHolds: (caller?: AbortSignal) => read(listHolds, {}, caller),
    /** What was held and released beside rollouts, newest first. */
    readAudit: async (limit: number, caller?: AbortSignal) =>
      (await read(readAudit, { query: { limit } }, caller)).entries,
    /** What `startPolicy` would begin now. */
    previewStart: (policy: string, caller?: AbortSignal) =>
      approve(previewStart, { params: { policy } }, caller),
    /** Begins a rollout by the plan that was shown. */
    startPolicy: ({ policy, ...body }: StartRequest, caller?: AbortSignal): Promise<RolloutStatus> =>
      approve(startPolicy, { params: { policy }, body }, caller),
    /** The daemon reads its config file again. When it answers, running rollouts follow its brakes. */
    reload: (body: VerbBody, caller?: AbortSignal) => act(reloadConfig, { body }, caller),
    /** What `reload` would change. */
    previewReload: (caller?: AbortSignal) => read(previewReload, {}, caller),
    /** Why not now, and when. @param collector its id, or its exact name */
    explain: (collector: string, caller?: AbortSignal) =>
      act(explainCollector, { params: { collector } }, caller),
    close: () => http.close(),
  };
}

type Ask = <Params, Query, Body, Answer>(
  operation: Operation<Params, Query, Body, Answer>,
  input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
  caller: AbortSignal | undefined,
) => Promise<Answer>;

const plainVerbs = { pause: pauseRollout, abort: abortRollout } as const;

function sendVerb(ask: Ask, request: VerbRequest, caller: AbortSignal | undefined) {
  const { rolloutId: id, by, reason } = request;
  const params = { id };
  const words = { by, reason };
  switch (request.verb) {
    case 'resume':
      return ask(resumeRollout, { params, body: { ...words, hold: request.hold } }, caller);
    case 'approve': {
      const what = 'wave' in request ? { wave: request.wave } : { planHash: request.planHash };
      return ask(approveRollout, { params, body: { ...words, ...what } }, caller);
    }
    case 'skipSoak':
      return ask(skipRolloutSoak, { params, body: { ...words, wave: request.wave } }, caller);
    case 'rollback': {
      const { shown, now = false } = request;
      return ask(rollBackRollout, { params, body: { ...words, now, ...(shown && { shown }) } }, caller);
    }
    case 'retry': {
      const { failed, failureClass } = request;
      const body = failureClass === undefined ? { ...words, failed } : { ...words, failed, failureClass };
      return ask(retryRollout, { params, body }, caller);
    }
    default:
      return ask(plainVerbs[request.verb], { params, body: words }, caller);
  }
}
