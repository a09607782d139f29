import type { DurationMs } from '../../base/time.ts';
import { adminApi, adminApiPath } from '../../contract/admin/api.ts';
import type { AuditSearch } from '../../contract/admin/holds.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { CollectorSearch, EventSearch } from '../../contract/admin/rollouts.ts';
import type { VerbBody } from '../../contract/admin/verb-body.ts';
import type { Operation } from '../../contract/operation.ts';
import { type CallInput, type LooseQuery, makeHttpClient } from '../../http/client.ts';
import { HttpFault } from '../../http/fault.ts';
import type { HoldRequest, VerbRequest } from '../../orchestrator/operations/operations.ts';
import type { StartRequest } from '../../orchestrator/operations/start-policy.ts';
import type { ReportFormat } from '../../rollout/report/write-report.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import { readFault } from './admin-client-fault.ts';

export interface AdminClientParts {
  /** The URL of the daemon: `http://127.0.0.1:9464`. */
  readonly baseUrl: string;
  readonly token: string | undefined;
}

/** The daemon's API, for other processes. Every failed call throws an `AdminClientFault`. */
export type AdminClient = ReturnType<typeof makeAdminClient>;

type AdminOperation = (typeof adminApi)[number];

/** Every operation by its name. */
const operations = Object.fromEntries(adminApi.map((each) => [each.name, each])) as {
  readonly [Name in AdminOperation['name']]: Extract<AdminOperation, { readonly name: Name }>;
};

const connectMs = 3_000;
// Each is a little longer than the daemon's own limit (`ask-operations.ts`): the daemon's answer arrives before it.
const readMs = 10_000;
const actMs = 65_000;
const approveMs = 305_000;

// A page of upgrades, or the history of a rollout.
const bodyBytesMax = 32 * 1024 * 1024;

export function makeAdminClient({ baseUrl, token }: AdminClientParts) {
  const http = makeHttpClient({
    baseUrl: `${baseUrl.replace(/\/+$/, '')}${adminApiPath}`,
    timeouts: { totalMs: approveMs, connectMs },
    bodyBytesMax,
    hooks: { headers: () => (token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });
  /** Makes calls that give up after this time. */
  const within =
    (limitMs: DurationMs): Ask =>
    async (operation, input) => {
      try {
        return (await http.call(operation, input, { signal: AbortSignal.timeout(limitMs) })).body;
      } catch (error) {
        throw error instanceof HttpFault ? readFault(error, baseUrl) : error;
      }
    };
  const [read, act, approve] = [within(readMs), within(actMs), within(approveMs)];
  return {
    /** Current rollouts, newest first: the running ones, and the last ended one of each policy. */
    listRollouts: async (): Promise<readonly RolloutStatus[]> =>
      (await read(operations.listRollouts, {})).rollouts,
    /** A page of all stored rollouts, newest first. `next` is the `before` of the following page; null: no more pages. */
    pageRollouts: async (query: {
      readonly before?: string | undefined;
      readonly limit: number;
    }): Promise<{ readonly rollouts: readonly RolloutStatus[]; readonly next: string | null }> => {
      const { rollouts, next = null } = await read(operations.listRollouts, { query });
      return { rollouts, next };
    },
    /** The last scan of each policy, and its result. */
    listPolicies: () => read(operations.listPolicies, {}),
    course: (id: string) => read(operations.getRolloutCourse, { params: { id } }),
    rolloutStatus: (id: string): Promise<RolloutStatus> => read(operations.getRollout, { params: { id } }),
    /** A page of the collectors that match. `next` is the `after` of the page that follows. */
    searchUpgrades: (id: string, query: LooseQuery<CollectorSearch>) =>
      read(operations.listRolloutCollectors, { params: { id }, query }),
    /** The latest events that match, newest first. */
    readEvents: async (id: string, query: LooseQuery<EventSearch>) =>
      (await read(operations.listRolloutEvents, { params: { id }, query })).events,
    /** The report of a rollout, as a file. */
    report: async (id: string, format: ReportFormat) =>
      (await act(operations.reportRollout, { params: { id }, query: { format } })).report,
    /** What a rollback would do now. */
    previewRollback: (id: string) => act(operations.previewRollback, { params: { id } }),
    /** When it answers, the verb is in force (P4). */
    apply: ({ rolloutId: id, verb, ...body }: VerbRequest): Promise<RolloutStatus> => {
      const ask = verb === 'approve' ? approve : act;
      return ask(verbOperations[verb], { params: { id }, body });
    },
    /** When it answers, no create for a held subject leaves any more (P4). */
    hold: (body: HoldRequest) => act(operations.holdSubject, { body }),
    release: (body: HoldRequest) => act(operations.releaseSubject, { body }),
    listHolds: () => read(operations.listHolds, {}),
    /** The audit, newest first. */
    readAudit: async (query: AuditSearch) => (await read(operations.readAudit, { query })).entries,
    /** What builds did in ended rollouts, the newest build first. */
    listBuildHistory: async () => (await read(operations.listBuildHistory, {})).builds,
    /** The plan that `startPolicy` would start now. */
    previewStart: (policy: string) => approve(operations.previewStart, { params: { policy } }),
    /** Starts a rollout with the plan that was shown. */
    startPolicy: ({ policy, ...body }: StartRequest): Promise<RolloutStatus> =>
      approve(operations.startPolicy, { params: { policy }, body }),
    /** Makes the daemon read its config file again. When it answers, running rollouts follow the new limits. */
    reload: (body: VerbBody) => act(operations.reloadConfig, { body }),
    /** What `reload` would change. */
    previewReload: () => read(operations.previewReload, {}),
    /** Why a collector is not upgraded now, and when it will be. @param collector its id, or its exact name */
    explain: (collector: string) => act(operations.explainCollector, { params: { collector } }),
    close: () => http.close(),
  };
}

type Ask = <Params, Query, Body, Answer>(
  operation: Operation<Params, Query, Body, Answer>,
  input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
) => Promise<Answer>;

type VerbOperation = Operation<{ id: string }, Record<string, never>, object, RolloutStatus>;

const verbOperations: Readonly<Record<RolloutVerb, VerbOperation>> = {
  pause: operations.pauseRollout,
  resume: operations.resumeRollout,
  approve: operations.approveRollout,
  skipSoak: operations.skipRolloutSoak,
  abort: operations.abortRollout,
  rollback: operations.rollBackRollout,
  retry: operations.retryRollout,
};
