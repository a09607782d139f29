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
import { type ReloadAnswerBody, reloadConfig } from '../../contract/admin/reload.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-status.ts';
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
import type { RollbackPreviewBody } from '../../contract/admin/verbs.ts';
import {
  abortRollout,
  approveRollout,
  pauseRollout,
  previewRollback,
  repairRollout,
  resumeRollout,
  retryRollout,
  rollBackRollout,
  skipRolloutSoak,
} from '../../contract/admin/verbs.ts';
import { type HttpClient, makeHttpClient } from '../../http/client.ts';
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
  /** What is current, newest first: those on their way, and each policy's last that has ended. */
  listRollouts(signal?: AbortSignal): Promise<readonly RolloutStatus[]>;
  /** A page of all that are kept, newest first. `next`: to go on with as `before`; null: these were the last. */
  pageRollouts(
    page: { readonly before?: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<{ readonly rollouts: readonly RolloutStatus[]; readonly next: string | null }>;
  /** When each policy looked for work last, and what came of it. */
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
  /** The daemon reads its config file anew. When it answers, rollouts on their way follow its brakes. */
  reload(words: VerbBody, signal?: AbortSignal): Promise<ReloadAnswerBody>;
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
  const ask = async <Body>(
    limitMs: DurationMs,
    caller: AbortSignal | undefined,
    call: (signal: AbortSignal) => Promise<{ readonly body: Body }>,
  ): Promise<Body> => {
    const limit = AbortSignal.timeout(limitMs);
    try {
      return (await withEitherSignal([caller, limit], call)).body;
    } catch (error) {
      // A caller that aborted gets its own reason back.
      caller?.throwIfAborted();
      throw error instanceof HttpFault ? readFault(error, baseUrl) : error;
    }
  };
  return {
    listRollouts: async (caller) =>
      (await ask(readMs, caller, (signal) => http.call(listRollouts, {}, { signal }))).rollouts,
    pageRollouts: async (query, caller) => {
      const body = await ask(readMs, caller, (signal) => http.call(listRollouts, { query }, { signal }));
      return { rollouts: body.rollouts, next: body.next ?? null };
    },
    listPolicies: (caller) => ask(readMs, caller, (signal) => http.call(listPolicies, {}, { signal })),
    rolloutStatus: (id, caller) =>
      ask(readMs, caller, (signal) => http.call(getRollout, { params: { id } }, { signal })),
    searchUpgrades: (id, query, caller) => {
      const input = { params: { id }, query };
      return ask(readMs, caller, (signal) => http.call(listRolloutCollectors, input, { signal }));
    },
    readEvents: async (id, query, caller) => {
      const input = { params: { id }, query };
      return (await ask(readMs, caller, (signal) => http.call(listRolloutEvents, input, { signal }))).events;
    },
    report: async (id, format, caller) => {
      const input = { params: { id }, query: { format } };
      return (await ask(actMs, caller, (signal) => http.call(reportRollout, input, { signal }))).report;
    },
    previewRollback: (id, caller) =>
      ask(actMs, caller, (signal) => http.call(previewRollback, { params: { id } }, { signal })),
    apply: (request, caller) => {
      const limitMs = request.verb === 'approve' ? approveMs : actMs;
      return ask(limitMs, caller, (signal) => sendVerb(http, request, signal));
    },
    repair: ({ rolloutId: id, ...body }, caller) =>
      ask(actMs, caller, (signal) => http.call(repairRollout, { params: { id }, body }, { signal })),
    hold: (body, caller) => ask(actMs, caller, (signal) => http.call(holdSubject, { body }, { signal })),
    release: (body, caller) =>
      ask(actMs, caller, (signal) => http.call(releaseSubject, { body }, { signal })),
    listHolds: (caller) => ask(readMs, caller, (signal) => http.call(listHolds, {}, { signal })),
    readAudit: async (limit, caller) => {
      const input = { query: { limit } };
      return (await ask(readMs, caller, (signal) => http.call(readAudit, input, { signal }))).entries;
    },
    previewStart: (policy, caller) =>
      ask(approveMs, caller, (signal) => http.call(previewStart, { params: { policy } }, { signal })),
    startPolicy: ({ policy, ...body }, caller) =>
      ask(approveMs, caller, (signal) => http.call(startPolicy, { params: { policy }, body }, { signal })),
    reload: (body, caller) => ask(actMs, caller, (signal) => http.call(reloadConfig, { body }, { signal })),
    explain: (collector, caller) => {
      const input = { params: { collector } };
      return ask(actMs, caller, (signal) => http.call(explainCollector, input, { signal }));
    },
    close: () => http.close(),
  };
}

const plainVerbs = { pause: pauseRollout, abort: abortRollout } as const;

function sendVerb(http: HttpClient, request: VerbRequest, signal: AbortSignal) {
  const { rolloutId: id, by, reason } = request;
  const params = { id };
  const words = { by, reason };
  switch (request.verb) {
    case 'resume':
      return http.call(resumeRollout, { params, body: { ...words, hold: request.hold } }, { signal });
    case 'approve': {
      const what = 'wave' in request ? { wave: request.wave } : { planHash: request.planHash };
      return http.call(approveRollout, { params, body: { ...words, ...what } }, { signal });
    }
    case 'skipSoak':
      return http.call(skipRolloutSoak, { params, body: { ...words, wave: request.wave } }, { signal });
    case 'rollback': {
      const { shown, now = false } = request;
      return http.call(
        rollBackRollout,
        { params, body: { ...words, now, ...(shown && { shown }) } },
        { signal },
      );
    }
    case 'retry': {
      const { failed, failureClass } = request;
      const body = failureClass === undefined ? { ...words, failed } : { ...words, failed, failureClass };
      return http.call(retryRollout, { params, body }, { signal });
    }
    default:
      return http.call(plainVerbs[request.verb], { params, body: words }, { signal });
  }
}
