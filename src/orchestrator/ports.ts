import type { DurationMs, EpochMs } from '../base/time.ts';
import type { FleetSnapshot } from '../rollout/collector.ts';
import type { RolloutEvent } from '../rollout/events.ts';
import type { CollectorSighting } from '../rollout/facts.ts';
import type { ServiceFailure } from '../rollout/failure-classes.ts';
import type { Rollout, RolloutView } from '../rollout/rollout.ts';
import type { Upgrade, UpgradeState } from '../rollout/upgrade.ts';

/** An answer of the service, or why there was none: failures are data here, the core decides what they mean. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: ServiceFailure };

export interface Build {
  readonly version: string;
  readonly latest: boolean;
}

/** A task as one look shows it. `serviceAt`: the service's own clock at the answer, where it told. */
export interface TaskSighting {
  readonly status: number;
  readonly message: string;
  readonly serviceAt: EpochMs | null;
}

/** The Collector Management Service, in our words. Every call waits for its place in the API budget (P8). */
export interface FleetService {
  listBuilds(signal?: AbortSignal): Promise<Answer<readonly Build[]>>;
  /** The whole inventory, and who could be upgraded to this build. Repeats what fails in passing, a bounded number of times. */
  readFleet(targetBuild: string, signal?: AbortSignal): Promise<Answer<FleetSnapshot>>;
  /**
   * Creates an upgrade task. `beforeSend` runs when the request has its place in the budget, right before it leaves;
   * when it answers false, nothing is sent and the answer is a `cancelled` failure with `sent: false`.
   */
  createTask(
    task: { readonly collectorId: number; readonly toBuild: string },
    beforeSend: () => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<Answer<{ readonly taskId: string }>>;
  lookAtTask(taskId: string, signal?: AbortSignal): Promise<Answer<TaskSighting>>;
  /** `upgradableTo`: also ask whether the service would start an upgrade of it to this build now. */
  lookAtCollector(
    look: { readonly collectorId: number; readonly upgradableTo: string | null; readonly urgent: boolean },
    signal?: AbortSignal,
  ): Promise<Answer<CollectorSighting>>;
}

/** One change of one upgrade, made from the record with `expectedRev`. */
export interface UpgradeChange {
  readonly before: Upgrade;
  readonly after: Upgrade;
  readonly events: readonly RolloutEvent[];
}

/** The leader's fence: a write under an older one is refused, so a leader that slept past its lease changes nothing. */
export type Fence = number;

export type SaveResult = 'saved' | 'stale';

/** Where rollouts live. Every method is one atomic change, safe to repeat, and visible to all daemons. */
export interface RolloutStore {
  /** Ids of rollouts whose upgrades have not all ended, of these policies. */
  activeRolloutIds(policies: readonly string[]): Promise<readonly string[]>;
  /** All kept rollouts of these policies, newest first. */
  listRollouts(policies: readonly string[]): Promise<readonly Rollout[]>;
  loadRollout(rolloutId: string): Promise<Rollout | undefined>;
  /** The next free `n` of `<policy>-<yyyymmdd>-<n>`. */
  nextRolloutNumber(policy: string, yyyymmdd: string): Promise<number>;
  /** Freezes a plan. `busy`: the policy has an active rollout already, and nothing was changed. */
  freeze(
    rollout: Rollout,
    upgrades: readonly Upgrade[],
    events: readonly RolloutEvent[],
  ): Promise<'frozen' | 'busy'>;
  /** What `decide` sees. `pageSize` bounds every list in it; `overdueBefore`: steps due before it count as overdue. */
  loadView(
    rolloutId: string,
    at: { readonly now: EpochMs; readonly overdueBefore: EpochMs; readonly pageSize: number },
  ): Promise<RolloutView | undefined>;
  /**
   * Saves a rollout made from `expectedRev`, and sets, lifts or keeps the store's brake in the same write. With
   * `endedAt` set it is active no longer.
   */
  saveRollout(
    change: {
      readonly rollout: Rollout;
      readonly expectedRev: number;
      readonly events: readonly RolloutEvent[];
      readonly brake: 'set' | 'lift' | 'keep';
    },
    fence: Fence | null,
  ): Promise<SaveResult>;
  loadUpgrade(rolloutId: string, collectorId: number): Promise<Upgrade | undefined>;
  loadUpgrades(rolloutId: string, collectorIds: readonly number[]): Promise<readonly Upgrade[]>;
  /** A page of records in plan order, optionally of one state. */
  listUpgrades(
    rolloutId: string,
    page: { readonly offset: number; readonly limit: number; readonly state?: UpgradeState },
  ): Promise<readonly Upgrade[]>;
  /**
   * Gives slots: each change is applied only while fewer than `slots` are taken, the rollout runs unbraked at
   * `rolloutRev`, and the record is unchanged.
   * @returns the collectors admitted
   */
  admit(
    admission: {
      readonly rolloutId: string;
      readonly rolloutRev: number;
      readonly slots: number;
      readonly changes: readonly UpgradeChange[];
    },
    fence: Fence,
  ): Promise<readonly number[]>;
  /**
   * Saves one change. `tripAbove`: when the wave's weighted failures exceed it with this change, the brake is set in
   * the same write, so that no create leaves after it.
   */
  saveUpgrade(change: UpgradeChange, tripAbove: number | null): Promise<SaveResult>;
  /** The intent before a create: saved only while the rollout runs and is not braked (P4). */
  saveIntent(change: UpgradeChange): Promise<SaveResult | 'braked'>;
  /** Creates that may be leaving right now: intents without an answer, younger than `since`. */
  countFreshIntents(rolloutId: string, since: EpochMs): Promise<number>;
  readEvents(rolloutId: string, page: { readonly limit: number }): Promise<readonly RolloutEvent[]>;
}

/** The leader lease: at most one holder over all daemons, renewed while it lives. */
export interface LeaderLease {
  /** The fence of our leadership while the lease has enough life left to act; undefined when another leads. */
  hold(): Promise<Fence | undefined>;
  release(): Promise<void>;
}

/** Delivers steps. Losing or doubling a delivery is harmless: the record is the truth. */
export interface StepQueue {
  /** Makes sure that a job exists for each of these; one that exists already is left alone. */
  deliver(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
  /** The same for steps that are overdue: a job that exists, but in no list from which it could be taken, is made anew. */
  redeliver(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
}

/** Wakes the reconcilers of all daemons soon; may be lost. */
export interface Bell {
  ring(): void;
}

/** Where things that happened are told to: log, metrics, notifications. Never throws. */
export interface EventSink {
  tell(event: RolloutEvent): void;
  /** Things that belong to no rollout. */
  note(note: DaemonNote): void;
}

export type DaemonNote =
  | { readonly event: 'scan.finished'; readonly policy: string; readonly result: string }
  | { readonly event: 'scan.failed'; readonly policy: string; readonly reason: string }
  | { readonly event: 'leader.acquired' | 'leader.lost' }
  | { readonly event: 'redis.unreachable' | 'redis.reachable'; readonly reason: string }
  | { readonly event: 'redis.risk'; readonly reason: string }
  | { readonly event: 'service.throttled'; readonly reason: '429' | '401'; readonly pauseMs: DurationMs }
  | {
      readonly event: 'step.failed';
      readonly rollout: string;
      readonly collectorId: number;
      readonly error: unknown;
    }
  | { readonly event: 'reconcile.failed'; readonly rollout: string; readonly error: unknown }
  | { readonly event: 'daemon.started' | 'daemon.stopping' | 'daemon.stopped'; readonly detail: string };
