import type { ApiBudgetStatus, Outage } from '../../src/contract/admin/rollout-status.ts';
import type { ScanEntry } from '../../src/orchestrator/ports/scan-book.ts';
import { needsCollectorZone } from '../../src/rollout/calendar/calendar.ts';
import { emptyCounts } from '../../src/rollout/decision/assess.ts';
import type { FleetCollector, FleetSnapshot } from '../../src/rollout/model/collector.ts';
import type { PlanGroups } from '../../src/rollout/model/plan-groups.ts';
import type { Policy, TargetRule, WaveRule } from '../../src/rollout/model/policy.ts';
import {
  noRollback,
  type Rollout,
  type RolloutHold,
  type RolloutInventory,
  type RolloutPlan,
  type RolloutRollback,
  type RolloutStrata,
  type RolloutView,
  type StratumSummary,
  type Wave,
  type WaveSummary,
} from '../../src/rollout/model/rollout.ts';
import type {
  ProgressIn,
  Upgrade,
  UpgradeIdentity,
  UpgradeProgress,
  UpgradeState,
  UpgradeTally,
} from '../../src/rollout/model/upgrade.ts';
import type { BuildRecord } from '../../src/rollout/report/build-record.ts';
import type { EvolveContext } from '../../src/rollout/upgrade/transitions.ts';

/** The instant at which tests begin. */
export const startedAt = Date.parse('2026-03-02T21:00:00Z');
export const oldBuild = '19.441-2';
export const targetBuild = '19.536-4';

export function aWaveRule(changes: Partial<WaveRule> = {}): WaveRule {
  return {
    name: 'rest',
    size: { kind: 'percent', percent: 100 },
    soakMs: 0,
    maxFailures: { kind: 'percent', percent: 2 },
    approval: false,
    gates: [],
    ...changes,
  };
}

export function anApiBudgetStatus(changes: Partial<ApiBudgetStatus> = {}): ApiBudgetStatus {
  const requestsPerSecondMax = 4;
  const requestsPerSecondNow = changes.requestsPerSecondMax ?? requestsPerSecondMax;
  const rates = { requestsPerSecond: 3.4, requestsPerSecondNow, requestsPerSecondMax };
  return { ...rates, rateLimited: 0, outage: null, ...changes };
}

/** A pause of three hours that the service asked for. */
export function anOutage(changes: Partial<Outage> = {}): Outage {
  return {
    kind: 'rateLimited',
    reason: 'the service asked for a pause',
    detail: null,
    since: null,
    until: startedAt + 3 * 3_600_000,
    ...changes,
  };
}

export function aTarget(changes: Partial<TargetRule> = {}): TargetRule {
  return { version: 'latest', allowDowngrade: false, minimumAgeMs: 0, supersede: false, ...changes };
}

export function aScanEntry(changes: Partial<ScanEntry> = {}): ScanEntry {
  return {
    policy: 'production',
    outcome: 'nothing',
    at: startedAt,
    reason: 'no collector needs build 19.536-4',
    overdueAt: startedAt + 3_600_000,
    ...changes,
  };
}

/** Of a rollout in which one of ten collectors did not come back. */
export function aBuildRecord(changes: Partial<BuildRecord> = {}): BuildRecord {
  const figures = { tried: 10, failed: { unconfirmed: 1 }, returned: 9, medianMs: 60_000 };
  return {
    rolloutId: 'production-20260302-1',
    policy: 'production',
    build: targetBuild,
    endedAt: startedAt,
    strata: [{ label: 'Linux', ...figures }],
    others: null,
    groups: [],
    ...changes,
  };
}

export function aPolicy(changes: Partial<Policy> = {}): Policy {
  return {
    name: 'production',
    select: { include: {}, exclude: [] },
    target: aTarget(),
    schedule: '*/15 * * * *',
    timeZone: 'UTC',
    concurrency: 10,
    maxInFlightPer: [],
    spreadBy: [],
    isolate: 'strata',
    approval: false,
    windows: [],
    freezes: [],
    onBreach: 'hold',
    waves: [aWaveRule()],
    lostWeight: 3,
    upgrade: { deadlineMs: 35 * 60_000, verifyWithinMs: 600_000, expectMs: 300_000 },
    retry: { maxAttempts: 3, backoff: { initialMs: 120_000, factor: 3, maxMs: 3_600_000, jitter: 0.2 } },
    defer: { upToMs: 12 * 3_600_000 },
    messageRules: [],
    ...changes,
  };
}

export function aContext(changes: Partial<EvolveContext> = {}): EvolveContext {
  return { policy: aPolicy(), answerWithinMs: 35_000, jitter: 0, ...changes };
}

export function aCollector(changes: Partial<FleetCollector> = {}): FleetCollector {
  return {
    id: 1,
    name: 'prod-web-014',
    category: 'prod/web/nginx',
    hostName: 'prod-web-014.example.com',
    osName: 'Linux',
    osArch: 'amd64',
    build: oldBuild,
    alive: true,
    lastSeenAlive: startedAt,
    ephemeral: false,
    sourceSyncMode: 'UI',
    timeZone: 'Etc/UTC',
    fields: {},
    ...changes,
  };
}

export function aFleet(
  size: number,
  change: (id: number) => Partial<FleetCollector> = () => ({}),
): FleetSnapshot {
  const collectors = Array.from({ length: size }, (_, index) =>
    aCollector({ id: index + 1, name: `collector-${index + 1}`, ...change(index + 1) }),
  );
  return {
    readAt: startedAt,
    serviceAt: startedAt,
    collectors,
    upgradableIds: new Set(collectors.map(({ id }) => id)),
    offeredAt: null,
  };
}

/** The figures of an upgrade beside its state, in one object. */
export type UpgradeFigures = UpgradeIdentity & UpgradeTally & Pick<Upgrade, 'rev'>;

export function anUpgrade(progress: UpgradeProgress, figures: Partial<UpgradeFigures> = {}): Upgrade {
  const { rev = 1, attempts = 0, createsInDoubt = 0, unexplained = 0, failedPolls = 0, ...rest } = figures;
  const {
    unansweredSince,
    deferredMs,
    turnChanges,
    turnPaceMs,
    inDoubtUntil,
    firstStartedAt = null,
    tasks,
    ...identity
  } = rest;
  return {
    identity: {
      rolloutId: 'production-20260302-1',
      collectorId: 1,
      collectorName: 'prod-web-014',
      wave: 0,
      order: 1,
      fromBuild: oldBuild,
      toBuild: targetBuild,
      lane: 0,
      stratum: 0,
      domains: [],
      eligibleAt: startedAt,
      ...identity,
    },
    tally: {
      ...{ attempts, createsInDoubt, unexplained, failedPolls },
      ...(unansweredSince === undefined ? {} : { unansweredSince }),
      ...(deferredMs === undefined ? {} : { deferredMs }),
      ...(turnChanges === undefined ? {} : { turnChanges }),
      ...(turnPaceMs === undefined ? {} : { turnPaceMs }),
      ...(inDoubtUntil === undefined ? {} : { inDoubtUntil }),
      firstStartedAt,
      ...(tasks === undefined ? {} : { tasks }),
    },
    progress,
    rev,
  };
}

export function anUpgradingOne(
  changes: Partial<ProgressIn<'upgrading'>> = {},
  figures: Partial<UpgradeFigures> = {},
): Upgrade {
  return anUpgrade(
    {
      state: 'upgrading',
      taskId: '77',
      startedAt,
      polledAt: startedAt,
      deadlineAt: startedAt + 35 * 60_000,
      dueAt: startedAt + 150_000,
      ending: null,
      ...changes,
    },
    { attempts: 1, firstStartedAt: startedAt, ...figures },
  );
}

export function aWave(changes: Partial<Wave> = {}): Wave {
  return {
    name: 'rest',
    size: 10,
    chain: 1,
    joined: 0,
    state: 'open',
    openedAt: startedAt,
    soakEndsAt: null,
    passedAt: null,
    approvedAt: null,
    soakSkippedAt: null,
    soakCheck: null,
    gates: [],
    acknowledgedWeight: 0,
    acceptedWithoutEvidence: false,
    ...changes,
  };
}

/** Changes of a rollout. Those of its groups may be partial. */
export type RolloutChanges = Omit<Partial<Rollout>, 'plan' | 'hold' | 'strata' | 'inventory' | 'rollback'> & {
  readonly plan?: Partial<RolloutPlan>;
  readonly hold?: Partial<RolloutHold> | null;
  readonly strata?: Partial<RolloutStrata>;
  readonly inventory?: Partial<RolloutInventory>;
  readonly rollback?: Partial<RolloutRollback>;
};

export function changedRollout(rollout: Rollout, changes: RolloutChanges): Rollout {
  const { hold = rollout.hold } = changes;
  return {
    ...rollout,
    ...changes,
    plan: { ...rollout.plan, ...changes.plan },
    hold: hold && { number: rollout.rev, ...rollout.hold, ...hold },
    strata: { ...rollout.strata, ...changes.strata },
    inventory: { ...rollout.inventory, ...changes.inventory },
    rollback: { ...rollout.rollback, ...changes.rollback },
  };
}

export function aRollout(changes: RolloutChanges = {}): Rollout {
  const { state = 'running', policy = aPolicy(), rev = 1 } = changes;
  const rollout: Rollout = {
    id: 'production-20260302-1',
    kind: 'upgrade',
    policy,
    config: { generation: 0, changes: 0 },
    startedBy: 'schedule',
    createdAt: startedAt,
    plan: {
      hash: '7f3a',
      targetBuild,
      fromBuilds: [oldBuild],
      fromCounts: [],
      leftOut: [],
      unweighedFields: [],
      groupsRev: 1,
      knowsZones: needsCollectorZone(policy),
      fleetReadAt: startedAt,
      fleetSize: 10,
      drift: null,
    },
    state,
    reason: askedFor(''),
    hold: state === 'held' || state === 'paused' ? { number: rev } : null,
    waves: [aWave()],
    strata: { held: [], acknowledged: [], endsWithoutHeld: false },
    inventory: { baseline: null, implausible: null },
    rollback: noRollback,
    endedAt: null,
    accountMarks: [],
    rev,
  };
  return changedRollout(rollout, changes);
}

export function aSummary(
  counts: Partial<Record<UpgradeState, number>> = {},
  changes: Partial<WaveSummary> = {},
): WaveSummary {
  return {
    counts: { ...emptyCounts(), ...counts },
    weight: 0,
    lost: 0,
    onBuild: 0,
    lastChangeAt: startedAt,
    ...changes,
  };
}

export function aStratumSummary(changes: Partial<StratumSummary> = {}): StratumSummary {
  return { stratum: 0, wave: 0, waiting: 0, active: 0, succeeded: 0, failed: 0, weight: 0, ...changes };
}

/** One stratum of ten in one wave, one lane, no caps. */
export function someGroups(changes: Partial<PlanGroups> = {}): PlanGroups {
  return {
    strata: [{ label: 'all', sizes: [10] }],
    lanes: [{ stratum: 0, timeZone: '', domains: [] }],
    domains: [],
    ...changes,
  };
}

export function aView(changes: Partial<RolloutView> = {}): RolloutView {
  return {
    rollout: aRollout(),
    waves: [aSummary({ pending: 10 })],
    groups: someGroups(),
    strata: [],
    slotsTaken: 0,
    pacedForMs: 0,
    domainsTaken: new Map(),
    candidates: [],
    nextRetryAt: null,
    overdue: [],
    braked: false,
    learned: { count: 0, meanMs: 0 },
    durations: new Map(),
    buildHold: null,
    rollback: null,
    ...changes,
  };
}

/** The reason of an upgrade: a text of the service. */
export function because(detail: string) {
  return { kind: 'service', detail } as const;
}

/** The reason of a rollout or a stratum: somebody asked for it, in these words. */
export function askedFor(words: string) {
  return { kind: 'asked', by: 'alice', words } as const;
}
