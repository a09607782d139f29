import type { DurationMs } from '../../base/time.ts';
import { withEitherSignal } from '../../base/waiting.ts';
import { adminApiPath } from '../../contract/admin/api.ts';
import type { CollectorExplanationBody } from '../../contract/admin/collector-explanation.ts';
import type { AuditEntryBody, HeldThingsBody, HoldAnswerBody } from '../../contract/admin/holds.ts';
import {
  explainCollector,
  holdSubject,
  listHolds,
  readAudit,
  releaseSubject,
} from '../../contract/admin/holds.ts';
import {
  listPolicies,
  type PolicyStatusesBody,
  previewStart,
  type StartPreviewBody,
  startPolicy,
} from '../../contract/admin/policies.ts';
import {
  previewReload,
  type ReloadAnswerBody,
  type ReloadPreviewBody,
  reloadConfig,
} from '../../contract/admin/reload.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
import {
  type CollectorPage,
  type CollectorSearch,
  type EventSearch,
  getRollout,
  listRolloutCollectors,
  listRolloutEvents,
  listRollouts,
  reportRollout,
} from '../../contract/admin/rollouts.ts';
import type { VerbBody } from '../../contract/admin/verb-body.ts';
import type { RepairPreviewBody, RollbackPreviewBody } from '../../contract/admin/verbs.ts';
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
export interface AdminClient {
  /** What is current, newest first: those that are running, and each policy's last that has ended. */
  listRollouts(signal?: AbortSignal): Promise<readonly RolloutStatus[]>;
  /** A page of all that are kept, newest first. `next`: to go on with as `before`; null: these were the last. */
  pageRollouts(
    page: { readonly before?: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<{ readonly rollouts: readonly RolloutStatus[]; readonly next: string | null }>;
  /** When each policy scanned last, and what came of it. */
  listPolicies(signal?: AbortSignal): Promise<PolicyStatusesBody>;
  rolloutStatus(rolloutId: string, signal?: AbortSignal): Promise<RolloutStatus>;
  /** A page of the collectors that match. `next` is the `after` of the page that follows. */
  searchUpgrades(
    rolloutId: string,
    search: Partial<CollectorSearch>,
    signal?: AbortSignal,
  ): Promise<CollectorPage>;
  /** The latest that match, newest first. */
  readEvents(
    rolloutId: string,
    search: Partial<EventSearch>,
    signal?: AbortSignal,
  ): Promise<readonly RolloutEventBody[]>;
  /** What went where and when, as a whole file. */
  report(rolloutId: string, format: ReportFormat, signal?: AbortSignal): Promise<string>;
  /** What a rollback would do now. */
  previewRollback(rolloutId: string, signal?: AbortSignal): Promise<RollbackPreviewBody>;
  /** When it answers, the verb holds (P4). */
  apply(request: VerbRequest, signal?: AbortSignal): Promise<RolloutStatus>;
  /** What `repair` would settle now. */
  previewRepair(
    of: Pick<RepairRequest, 'rolloutId' | 'collectorId'>,
    signal?: AbortSignal,
  ): Promise<RepairPreviewBody>;
  /** Settles corrupt records. */
  repair(request: RepairRequest, signal?: AbortSignal): Promise<RolloutStatus>;
  /** When it answers, no create of what is held leaves any more (P4). */
  hold(request: HoldRequest, signal?: AbortSignal): Promise<HoldAnswerBody>;
  release(request: HoldRequest, signal?: AbortSignal): Promise<HoldAnswerBody>;
  listHolds(signal?: AbortSignal): Promise<HeldThingsBody>;
  /** What was held and released beside rollouts, newest first. */
  readAudit(limit: number, signal?: AbortSignal): Promise<readonly AuditEntryBody[]>;
  /** What `startPolicy` would begin now. */
  previewStart(policy: string, signal?: AbortSignal): Promise<StartPreviewBody>;
  /** Begins a rollout by the plan that was shown. */
  startPolicy(request: StartRequest, signal?: AbortSignal): Promise<RolloutStatus>;
  /** The daemon reads its config file again. When it answers, running rollouts follow its brakes. */
  reload(words: VerbBody, signal?: AbortSignal): Promise<ReloadAnswerBody>;
  /** What `reload` would change. */
  previewReload(signal?: AbortSignal): Promise<ReloadPreviewBody>;
  /** Why not now, and when. @param collector its id, or its exact name */
  explain(collector: string, signal?: AbortSignal): Promise<CollectorExplanationBody>;
  close(): Promise<void>;
}

const connectMs = 3_000;
// Each a little more than what the daemon allows itself (`ask-operations.ts`), so that its own word arrives.
const readMs = 10_000;
const actMs = 65_000;
const approveMs = 305_000;

// A page of upgrades, or the history of a rollout: of a daemon of our own, for one command.
const bodyBytesMax = 32 * 1024 * 1024;

export function makeAdminClient({ baseUrl, token }: AdminClientParts): AdminClient {
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
    listRollouts: async (caller) => (await read(listRollouts, {}, caller)).rollouts,
    pageRollouts: async (query, caller) => {
      const { rollouts, next = null } = await read(listRollouts, { query }, caller);
      return { rollouts, next };
    },
    listPolicies: (caller) => read(listPolicies, {}, caller),
    rolloutStatus: (id, caller) => read(getRollout, { params: { id } }, caller),
    searchUpgrades: (id, query, caller) => read(listRolloutCollectors, { params: { id }, query }, caller),
    readEvents: async (id, query, caller) =>
      (await read(listRolloutEvents, { params: { id }, query }, caller)).events,
    report: async (id, format, caller) =>
      (await act(reportRollout, { params: { id }, query: { format } }, caller)).report,
    previewRollback: (id, caller) => act(previewRollback, { params: { id } }, caller),
    apply: (request, caller) => sendVerb(request.verb === 'approve' ? approve : act, request, caller),
    repair: ({ rolloutId: id, ...body }, caller) => act(repairRollout, { params: { id }, body }, caller),
    previewRepair: ({ rolloutId: id, ...query }, caller) =>
      act(previewRepair, { params: { id }, query }, caller),
    hold: (body, caller) => act(holdSubject, { body }, caller),
    release: (body, caller) => act(releaseSubject, { body }, caller),
    listHolds: (caller) => read(listHolds, {}, caller),
    readAudit: async (limit, caller) => (await read(readAudit, { query: { limit } }, caller)).entries,
    previewStart: (policy, caller) => approve(previewStart, { params: { policy } }, caller),
    startPolicy: ({ policy, ...body }, caller) => approve(startPolicy, { params: { policy }, body }, caller),
    reload: (body, caller) => act(reloadConfig, { body }, caller),
    previewReload: (caller) => read(previewReload, {}, caller),
    explain: (collector, caller) => act(explainCollector, { params: { collector } }, caller),
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
