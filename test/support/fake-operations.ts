import type { Explanation } from '../../src/contract/admin/collector-explanation.ts';
import type { RolloutCourse } from '../../src/contract/admin/course.ts';
import type { AuditEntry, HeldThings } from '../../src/contract/admin/holds.ts';
import type { PolicyStatuses } from '../../src/contract/admin/policies.ts';
import type { RolloutStatus } from '../../src/contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../src/contract/admin/status-parts.ts';
import type { VerbBody } from '../../src/contract/admin/verb-body.ts';
import type { RollbackPreview } from '../../src/contract/admin/verbs.ts';
import { makeAuditMatcher, makeEventMatcher } from '../../src/orchestrator/operations/event-filters.ts';
import type {
  ExplainResult,
  HoldRequest,
  HoldResult,
  Operations,
  VerbRequest,
  VerbResult,
} from '../../src/orchestrator/operations/operations.ts';
import type { ReloadPreviewResult, ReloadResult } from '../../src/orchestrator/operations/reload-config.ts';
import type {
  StartPreviewResult,
  StartRequest,
  StartResult,
} from '../../src/orchestrator/operations/start-policy.ts';
import { emptyCounts } from '../../src/rollout/decision/assess.ts';
import type { RolloutEvent } from '../../src/rollout/model/events.ts';
import { noGroups, type PlanGroups } from '../../src/rollout/model/plan-groups.ts';
import type { RolloutState } from '../../src/rollout/model/rollout.ts';
import type { Upgrade, UpgradeState } from '../../src/rollout/model/upgrade.ts';
import { makeStratumPlace } from '../../src/rollout/planning/former-stratum.ts';
import { summarizeBuilds } from '../../src/rollout/report/build-history.ts';
import type { BuildRecord } from '../../src/rollout/report/build-record.ts';
import { isCounted, makeUpgradeMatcher } from '../../src/rollout/status/find-upgrades.ts';
import { headlineOf } from '../../src/rollout/status/headline.ts';
import type { RolloutVerb } from '../../src/rollout/verbs/judge-verb.ts';
import { anApiBudgetStatus, startedAt } from './builders.ts';
import { aNight } from './status-parts.ts';

export const countsOf = (counts: Partial<Record<UpgradeState, number>>): Record<UpgradeState, number> => ({
  ...emptyCounts(),
  ...counts,
});

export function aWaveStatus(changes: Partial<WaveStatus> = {}): WaveStatus {
  return {
    name: 'canary',
    size: 2,
    joined: 0,
    strata: 1,
    state: 'open',
    counts: countsOf({ succeeded: 1, upgrading: 1 }),
    failures: 0,
    failuresAllowed: 0,
    lost: 0,
    acknowledged: 0,
    setAside: 0,
    gates: [],
    openedAt: startedAt,
    soakEndsAt: null,
    passedAt: null,
    expected: null,
    waits: null,
    ...changes,
  };
}

/** The headline is derived from the other fields. */
export function aRolloutStatus(changes: Partial<Omit<RolloutStatus, 'headline'>> = {}): RolloutStatus {
  const facts = {
    id: 'production-20260302-1',
    kind: 'upgrade',
    rollbackOf: null,
    rollbackId: null,
    policy: 'production',
    state: 'running',
    reason: 'the plan is on its way',
    reasonKind: 'asked',
    hold: null,
    heldFor: null,
    recordUnreadable: null,
    account: 'own',
    targetBuild: '19.536-4',
    backTo: [],
    leftBehind: [],
    fromBuilds: ['19.441-2'],
    planHash: '7f3a',
    drift: null,
    startedBy: 'schedule',
    createdAt: startedAt,
    endedAt: null,
    planned: 10,
    counts: countsOf({ succeeded: 1, upgrading: 1, pending: 8 }),
    causes: [],
    sharedAttribute: null,
    unweighedFields: [],
    leftOut: [{ kind: 'excluded', reason: 'excluded', count: 3 }],
    inFlight: 1,
    concurrency: 50,
    lostWeight: 3,
    eta: { kind: 'at', at: startedAt + 3_600_000, plusMinusMs: 600_000, requests: 24 },
    api: anApiBudgetStatus(),
    window: null,
    buildHold: null,
    strata: { total: 1, held: [], uncovered: { count: 0, labels: [] } },
    fromOthers: 0,
    expectedFailures: null,
    waves: [
      aWaveStatus(),
      aWaveStatus({
        name: 'rest',
        size: 8,
        state: 'waiting',
        counts: countsOf({ pending: 8 }),
        failuresAllowed: 1,
        openedAt: null,
        waits: 'gate of canary',
      }),
    ],
    waitsFor: null,
    blockers: [],
    verbs: ['pause', 'abort', 'rollback'],
    ...changes,
  } satisfies Omit<RolloutStatus, 'headline'>;
  return { ...facts, headline: headlineOf({ ...facts, isPolicyMissing: false, rollbackState: null }) };
}

export function aRollbackPreview(changes: Partial<RollbackPreview> = {}): RollbackPreview {
  return {
    rollout: 'production-20260302-1',
    collectors: 40,
    running: 2,
    uncertain: 1,
    mayGrowBy: 50,
    builds: [
      { build: '19.441-2', count: 30 },
      { build: '19.456-3', count: 10 },
    ],
    leftBehind: [
      {
        kind: 'buildNotOffered',
        reason: 'the service no longer offers the build they had',
        count: 3,
        names: ['web-1 (had 19.402-1)'],
      },
    ],
    waves: [
      { name: 'canary', size: 4, soakMs: 1_800_000, maxFailures: '0' },
      { name: 'rest', size: 36, soakMs: 0, maxFailures: '2%' },
    ],
    concurrency: 50,
    caps: [{ key: 'fields.cluster', cap: 1 }],
    estimate: { durationMs: 36_000_000, plusMinusMs: 600_000, requests: 100 },
    estimateNow: { durationMs: 3_600_000, plusMinusMs: 600_000, requests: 100 },
    perHour: null,
    window: null,
    ...changes,
  };
}

export function aRolloutEvent(changes: Partial<RolloutEvent> = {}): RolloutEvent {
  return {
    at: startedAt,
    event: 'upgrade.succeeded',
    policy: 'production',
    rollout: 'production-20260302-1',
    reason: 'on the build and alive',
    by: 'daemon',
    ...changes,
  };
}

export function anExplanation(changes: Partial<Explanation> = {}): Explanation {
  return {
    kind: 'planned',
    policy: 'production',
    rollout: 'production-20260302-1',
    wave: 'rest',
    state: 'pending',
    target: '19.536-4',
    stratum: 'Linux / amd64',
    heldGroup: null,
    shared: null,
    attempts: [],
    rule: null,
    reason: 'all 50 slots are taken',
    until: null,
    ...changes,
  };
}

export interface FakeOperations extends Operations {
  readonly requests: VerbRequest[];
  readonly reloads: VerbBody[];
  readonly starts: StartRequest[];
  readonly holdRequests: Array<{ readonly did: 'hold' | 'release' } & HoldRequest>;
  /** Sets the status of this rollout. */
  rolloutStandsAt(status: RolloutStatus): void;
  /** Sets the status of the policies. */
  standAt(policies: PolicyStatuses): void;
  /** Makes every later call fail with this error. */
  breakWith(error: Error): void;
  /** Calls succeed again. */
  recover(): void;
  /** Leaves every later call unanswered. */
  hang(): void;
}

/** Operations over plain data, with the rules of the verbs that a server has to pass on. */
export function makeFakeOperations(data: {
  readonly rollouts: readonly RolloutStatus[];
  readonly upgrades?: readonly Upgrade[];
  /** Of the plan of all of them. */
  readonly groups?: PlanGroups;
  readonly course?: Partial<RolloutCourse>;
  readonly events?: readonly RolloutEvent[];
  readonly held?: HeldThings;
  readonly policies?: PolicyStatuses;
  readonly audit?: readonly AuditEntry[];
  readonly buildRecords?: readonly BuildRecord[];
  /** What a start would begin; no policy is known, where left out. */
  readonly preview?: StartPreviewResult;
  /** What a reload comes to; nothing has changed, where left out. */
  readonly reload?: ReloadResult;
  /** What a reload would come to; nothing has changed, where left out. */
  readonly reloadPreview?: ReloadPreviewResult;
  /** What a hold or a release of this subject answers; others are unknown. */
  readonly holdResults?: Readonly<Record<string, HoldResult>>;
  /** By id or name; others are unknown. */
  readonly explanations?: Readonly<Record<string, ExplainResult>>;
}): FakeOperations {
  const statuses = new Map(data.rollouts.map((status) => [status.id, status]));
  const present = { policies: data.policies ?? { policies: [], orphans: [] } };
  let trouble = async (): Promise<void> => undefined;
  const answer = <T>(make: () => T): Promise<T> => trouble().then(make);
  const known = <T>(id: string, make: () => T) => answer(() => (statuses.has(id) ? make() : undefined));
  const changeHold = (did: 'hold' | 'release', request: HoldRequest) =>
    answer((): HoldResult => {
      operations.holdRequests.push({ did, ...request });
      const { subject } = request;
      return (
        data.holdResults?.[subject] ?? { kind: 'unknown', why: { kind: 'unknown', subject, nearest: [] } }
      );
    });
  const operations: FakeOperations = {
    ...{ requests: [], reloads: [], starts: [], holdRequests: [] },
    rolloutStandsAt: (status) => void statuses.set(status.id, status),
    standAt: (policies) => void Object.assign(present, { policies }),
    breakWith: (error) => {
      trouble = () => Promise.reject(error);
    },
    recover: () => {
      trouble = async () => undefined;
    },
    hang: () => {
      trouble = () => new Promise(() => {});
    },
    listRollouts: () => answer(() => [...statuses.values()]),
    pageRollouts: ({ before, limit }) =>
      answer(() => {
        const all = [...statuses.values()];
        const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
        if (before !== undefined && from === 0) return undefined;
        const rollouts = all.slice(from, from + limit);
        return { rollouts, next: from + limit < all.length ? (rollouts.at(-1)?.id ?? null) : null };
      }),
    listPolicies: () => answer(() => present.policies),
    rolloutStatus: (id) => answer(() => statuses.get(id)),
    listUpgrades: (id, { offset, limit, state }) =>
      known(id, () =>
        (data.upgrades ?? [])
          .filter((upgrade) => state === undefined || upgrade.progress.state === state)
          .slice(offset, offset + limit),
      ),
    searchUpgrades: (id, { after = '0', limit, ...filter }) =>
      known(id, () => {
        const all = (data.upgrades ?? []).filter(makeUpgradeMatcher(filter, data.groups ?? noGroups));
        const end = Number(after) + limit;
        return {
          upgrades: all.slice(Number(after), end),
          placeOf: makeStratumPlace(data.groups ?? noGroups, [], undefined),
          total: isCounted(filter) ? all.length : null,
          next: end < all.length ? String(end) : null,
        };
      }),
    showCourse: (id) =>
      known(id, () => ({
        burnUp: { points: [], isWhole: true },
        gates: [],
        builds: null,
        eventCounts: [],
        strata: [],
        strataTotal: 0,
        night: aNight(),
        ...data.course,
      })),
    readEvents: (id, limit, filter = {}) =>
      known(id, () => (data.events ?? []).filter(makeEventMatcher(filter)).slice(0, limit)),
    report: (id, format) => known(id, () => `${format} of ${id}`),
    previewRollback: (id) =>
      answer(() =>
        statuses.has(id)
          ? { kind: 'shown', preview: aRollbackPreview({ rollout: id }), left: [] }
          : { kind: 'unknownRollout' },
      ),
    apply: (request) =>
      answer((): VerbResult => {
        operations.requests.push(request);
        const status = statuses.get(request.rolloutId);
        if (status === undefined) return { kind: 'unknownRollout' };
        if (status.endedAt !== null) {
          const { state } = status;
          return { kind: 'refused', refusal: { kind: 'over', state }, reason: `it has ended: ${state}` };
        }
        const wanted = stateAfter[request.verb];
        if (status.state === wanted) return { kind: 'unchanged', status };
        const changed = aRolloutStatus({ ...status, state: wanted, reason: request.reason });
        statuses.set(status.id, changed);
        return { kind: 'done', status: changed };
      }),
    hold: (request) => changeHold('hold', request),
    release: (request) => changeHold('release', request),
    listHolds: () => answer(() => data.held ?? { builds: [], collectors: [], groups: [], strata: [] }),
    readAudit: (limit, filter = {}) =>
      answer(() => (data.audit ?? []).filter(makeAuditMatcher(filter, data.audit ?? [])).slice(0, limit)),
    listBuildHistory: () => answer(() => summarizeBuilds(data.buildRecords ?? [])),
    reload: (request) =>
      answer((): ReloadResult => {
        operations.reloads.push(request);
        return data.reload ?? { kind: 'unchanged', ...nothingChanged };
      }),
    previewReload: () =>
      answer(
        (): ReloadPreviewResult => data.reloadPreview ?? { kind: 'shown', ...nothingChanged, configs: [] },
      ),
    previewStart: (policy) => answer(() => data.preview ?? unknownPolicy(policy)),
    start: (request) =>
      answer((): StartResult => {
        operations.starts.push(request);
        const preview = data.preview ?? unknownPolicy(request.policy);
        if (preview.kind !== 'planned') return preview;
        const { planHash } = preview.preview;
        const [status] = data.rollouts;
        if (status !== undefined && planHash === request.planHash) return { kind: 'started', status };
        return { kind: 'refused', reason: `the plan is ${planHash} now` };
      }),
    explain: (collector) =>
      answer(
        (): ExplainResult =>
          data.explanations?.[collector] ?? { kind: 'unknownCollector', nearest: ['web-7', 'web-8'] },
      ),
    explainPlanned: (collector) =>
      answer(() => {
        const known = data.explanations?.[collector];
        const isPlanned = known?.kind === 'explained' && known.explanations.some(({ wave }) => wave !== null);
        return isPlanned ? known : undefined;
      }),
  };
  return operations;
}

const nothingChanged = { policies: [], settings: [], needsRestart: [], rollouts: [], warnings: [] };

function unknownPolicy(policy: string) {
  return { kind: 'unknownPolicy', reason: `there is no policy ${policy}` } as const;
}

const stateAfter: Readonly<Record<RolloutVerb, RolloutState>> = {
  pause: 'paused',
  resume: 'running',
  approve: 'running',
  skipSoak: 'running',
  abort: 'aborted',
  rollback: 'rollingBack',
  retry: 'running',
};
