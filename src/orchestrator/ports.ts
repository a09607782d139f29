import type { DurationMs, EpochMs } from '../base/time.ts';
import type { FleetCollector, FleetSnapshot } from '../rollout/collector.ts';
import type { RolloutEvent } from '../rollout/events.ts';
import type { CollectorSighting } from '../rollout/facts.ts';
import type { ServiceFailure } from '../rollout/failure-classes.ts';
import type { CapDomain, PlanGroups } from '../rollout/plan-groups.ts';
import type { GateRule } from '../rollout/policy.ts';
import type { BuildHold, Rollout, StoredView } from '../rollout/rollout.ts';
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

/** One page of the inventory, with the service's own clock at its answer, where it told. */
export interface InventoryPage {
  readonly collectors: readonly FleetCollector[];
  readonly serviceAt: EpochMs | null;
}

/** The Collector Management Service, in our words. Every call waits for its place in the API budget (P8). */
export interface FleetService {
  listBuilds(signal?: AbortSignal): Promise<Answer<readonly Build[]>>;
  /** The whole inventory, and who could be upgraded to this build. Repeats what fails in passing, a bounded number of times. */
  readFleet(targetBuild: string, signal?: AbortSignal): Promise<Answer<FleetSnapshot>>;
  /**
   * The inventory alone: one request for each thousand collectors.
   * @param onPage is shown each page as it comes, before the next one is asked for; a row may be shown twice. With it
   *   nothing is repeated: who looks at pages reads them again soon
   */
  readInventory(
    onPage: ((page: InventoryPage) => Promise<void>) | null,
    signal?: AbortSignal,
  ): Promise<Answer<Omit<FleetSnapshot, 'upgradableIds'>>>;
  /** One collector by its id, or by its exact name; undefined when there is none, or it is no installed one. */
  findCollector(idOrName: string, signal?: AbortSignal): Promise<Answer<FleetCollector | undefined>>;
  /**
   * Creates an upgrade task. `beforeSend` runs when the request has its place in the budget, right before it leaves;
   * when it answers false, nothing is sent and the answer is a `cancelled` failure with `sent: false`. So it is when its
   * first byte can't leave within `sendWithinMs` of the question: a pause need not wait longer for it (P4).
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

/** A rollout with all that belongs to it, as it is written in one step. */
export interface FrozenPlan {
  readonly rollout: Rollout;
  readonly upgrades: readonly Upgrade[];
  readonly groups: PlanGroups;
  readonly events: readonly RolloutEvent[];
}

export interface UpgradePage {
  readonly offset: number;
  readonly limit: number;
  readonly state?: UpgradeState;
  readonly wave?: number;
}

/** The latest upgrades that ended without success, of one kind: `failed` are those that count as failures. */
export interface MissedPage {
  readonly kind: 'failed' | 'withdrawn';
  readonly limit: number;
}

export interface LoadedUpgrades {
  readonly upgrades: readonly Upgrade[];
  /** Collectors whose record can't be read: nobody may take them for strangers (P1). */
  readonly unreadable: readonly number[];
}

/** The leader's fence: a write under an older one is refused, so a leader that slept past its lease changes nothing. */
export type Fence = number;

export type SaveResult = 'saved' | 'stale';

/** Where rollouts live. Every method is one atomic change, safe to repeat, and visible to all daemons. */
export interface RolloutStore {
  /** Ids of rollouts whose upgrades have not all ended, of these policies. */
  activeRolloutIds(policies: readonly string[]): Promise<readonly string[]>;
  /** All kept rollouts of these policies that can be read, newest first. */
  listRollouts(policies: readonly string[]): Promise<readonly Rollout[]>;
  loadRollout(rolloutId: string): Promise<Rollout | undefined>;
  /** The next free `n` of `<policy>-<yyyymmdd>-<n>`. */
  nextRolloutNumber(policy: string, yyyymmdd: string): Promise<number>;
  /**
   * Freezes a plan. `busy`: the policy has an active rollout of this kind already, and nothing was changed; a
   * rollback may be active beside the rollout that it takes back.
   */
  freeze(frozen: FrozenPlan): Promise<'frozen' | 'busy'>;
  /**
   * Puts another plan in the place of one that still waits for approval: records, groups and counters are all new.
   * `stale`: the rollout is not at `expectedRev`, or no longer waits for approval; nothing was changed.
   */
  replan(frozen: FrozenPlan, expectedRev: number): Promise<SaveResult>;
  /**
   * Adds late joiners: their records, and the rollout and groups that know them, in one write. An upgrade whose
   * collector has a record already is left out.
   */
  join(frozen: FrozenPlan, expectedRev: number, fence: Fence | null): Promise<SaveResult>;
  /**
   * Saves changes that open a rollout's work again, all made at `rolloutRev`, and raises it, so that whoever was about
   * to end the rollout judges anew. Nothing is saved when it has moved on; a record that has changed is left out.
   * @returns the collectors saved
   */
  rejoin(
    rolloutId: string,
    changes: readonly UpgradeChange[],
    rolloutRev: number,
  ): Promise<readonly number[]>;
  /** The groups of its plan. */
  loadGroups(rolloutId: string): Promise<PlanGroups | undefined>;
  /**
   * What the store knows of what `decide` sees. Candidates are those of waves that have begun (their state is not
   * `waiting` or `awaitingApproval`), by lane. `pageSize` bounds each list; `overdueBefore`: steps due before it count as overdue.
   */
  loadView(
    rolloutId: string,
    at: { readonly now: EpochMs; readonly overdueBefore: EpochMs; readonly pageSize: number },
  ): Promise<StoredView | undefined>;
  /**
   * Saves a rollout made from `expectedRev`, and sets, lifts or keeps the store's brake in the same write. With
   * `endedAt` set it is active no longer; one that had ended and is open again needs its policy's place, and is
   * `stale` while another rollout has it.
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
  /** The records of these collectors, as far as they are in the rollout. */
  loadUpgrades(rolloutId: string, collectorIds: readonly number[]): Promise<LoadedUpgrades>;
  /**
   * A page of records in plan order (pending ones: by wave and lane), optionally of one state, and of one wave. One that
   * can't be read is left out, so a page may be short, also where others follow.
   */
  listUpgrades(rolloutId: string, page: UpgradePage): Promise<readonly Upgrade[]>;
  /** Newest first; its cost does not grow with the plan. */
  listMissed(rolloutId: string, of: MissedPage): Promise<readonly Upgrade[]>;
  /** Up to `limit` records whose next step comes at an instant, retries excepted: the earliest due first. */
  listDue(rolloutId: string, limit: number): Promise<readonly Upgrade[]>;
  /**
   * Gives slots: each change is applied only while fewer than `slots` are taken, each of its domains has fewer than
   * its cap taken, the rollout runs unbraked at `rolloutRev`, and the record is unchanged (P2).
   * @returns the collectors admitted
   */
  admit(
    admission: {
      readonly rolloutId: string;
      readonly rolloutRev: number;
      readonly slots: number;
      /** By index of the domain, from the plan's groups. */
      readonly domains: readonly CapDomain[];
      readonly changes: readonly UpgradeChange[];
    },
    fence: Fence,
  ): Promise<readonly number[]>;
  /**
   * Saves one change. `tripAbove`: when the wave's weighted failures exceed it with this change, the brake is set in
   * the same write, so that no create leaves after it.
   */
  saveUpgrade(change: UpgradeChange, tripAbove: number | null): Promise<SaveResult>;
  /**
   * The intent before a create: saved only while the rollout runs and is not braked (P4), and is still at the
   * `rolloutRev` at which the create was found to be right: what was held since then must not leave.
   */
  saveIntent(change: UpgradeChange, rolloutRev: number): Promise<SaveResult | 'braked'>;
  /**
   * Creates that may be leaving right now: intents without an answer, stored within this time by the store's own clock,
   * since those of two daemons differ.
   */
  countFreshIntents(rolloutId: string, withinMs: DurationMs): Promise<number>;
  readEvents(rolloutId: string, page: { readonly limit: number }): Promise<readonly RolloutEvent[]>;
}

/** An operator's word that a collector is to be left alone. */
export interface CollectorHold {
  readonly collectorId: number;
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
}

export interface AuditEntry {
  readonly at: EpochMs;
  readonly event: 'build.held' | 'build.released' | 'collector.held' | 'collector.released';
  /** The build, or the collector's id. */
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
}

/** What belongs to no rollout: builds and collectors that are held, and when builds were first seen. */
export interface FleetRegister {
  holds(): Promise<{ readonly builds: readonly BuildHold[]; readonly collectors: readonly CollectorHold[] }>;
  /** `unchanged`: it is held already, and the first word stands. */
  holdBuild(hold: BuildHold): Promise<'held' | 'unchanged'>;
  holdCollector(hold: CollectorHold): Promise<'held' | 'unchanged'>;
  releaseBuild(build: string): Promise<'released' | 'unchanged'>;
  releaseCollector(collectorId: number): Promise<'released' | 'unchanged'>;
  /** What operators said about builds and collectors, kept for whoever asks who and when. */
  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  readAudit(limit: number): Promise<readonly AuditEntry[]>;
  /** Notes builds that were never seen before, and tells when each was seen first. */
  firstSeen(builds: readonly string[], at: EpochMs): Promise<ReadonlyMap<string, EpochMs>>;
}

/** Tells a store from another that took its place, empty. */
export interface StoreBirth {
  /** The mark of this store, made when it has none. `isRestored`: a person put there what it holds. */
  identify(): Promise<{ readonly born: string; readonly isRestored: boolean }>;
  /**
   * Puts back what an emptied store held: each hold once, however many daemons know of it, so that it never undoes a
   * release that came after it; and no rollout gets an id that is taken.
   */
  putBack(lost: {
    readonly born: string;
    readonly builds: readonly BuildHold[];
    readonly collectors: readonly CollectorHold[];
    readonly takenIds: readonly string[];
  }): Promise<void>;
}

/** What a gate answered; the core decides what it means. */
export type GateAnswer =
  /** A query's value. */
  | { readonly kind: 'value'; readonly value: number; readonly detail: string }
  /** A webhook's word. */
  | { readonly kind: 'verdict'; readonly verdict: 'pass' | 'hold'; readonly detail: string }
  /** No usable answer: no data, no connection, an answer nobody can read (P14). */
  | { readonly kind: 'error'; readonly detail: string };

/** Asks a gate's question outside. Never throws; bounded in time. */
export interface GateProbe {
  ask(question: GateQuestion, signal?: AbortSignal): Promise<GateAnswer>;
}

export interface GateQuestion {
  readonly gate: GateRule;
  /** What a webhook is told about the wave. */
  readonly summary: {
    readonly rollout: string;
    readonly policy: string;
    readonly targetBuild: string;
    readonly wave: string;
    readonly size: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly lost: number;
    readonly deferred: number;
    readonly failures: number;
    readonly failuresAllowed: number;
  };
}

/**
 * Work that must not hold the leader's loop up: at most one for each key at a time, and one that came to nothing
 * (`again`) not at once again.
 */
export interface Errands {
  /** Begins the work unless that key's is still on its way; it may have ended when this returns. */
  run(key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>): Promise<void>;
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
  /**
   * For steps that are due by now: a job that waits for a later instant runs now; one that is missing, or in no list
   * from which it could be taken, is made anew; any other is left alone.
   */
  hasten(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
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
  | ({ readonly policy?: string } & AuditEntry)
  | { readonly event: 'scan.finished'; readonly policy: string; readonly result: string }
  /** `error`: it did not come to a result at all. */
  | {
      readonly event: 'scan.failed';
      readonly policy: string;
      readonly reason: string;
      readonly error?: unknown;
    }
  /** Something of ours in Redis can't be read, and is left out where it is one of many; told once by each daemon. */
  | { readonly event: 'record.broken'; readonly reason: string }
  | { readonly event: 'leader.acquired' | 'leader.lost' }
  | { readonly event: 'redis.unreachable' | 'redis.reachable'; readonly reason: string }
  /** It is there, and refuses writes: no memory, no disk, a replica. Told once, by each daemon, when it learns of it. */
  | { readonly event: 'redis.unwritable' | 'redis.writable'; readonly reason: string }
  | { readonly event: 'redis.risk'; readonly reason: string }
  /** Told at start, for each rollout on its way whose policy is not in the config. */
  | {
      readonly event: 'policy.orphaned';
      readonly policy: string;
      readonly rollout: string;
      readonly reason: string;
    }
  /** It holds nothing of what it held. Told once, by each daemon that knew it before. */
  | { readonly event: 'redis.emptied'; readonly reason: string }
  /** Told once, by each daemon, when it learns of it. */
  | { readonly event: 'service.down' | 'service.up'; readonly reason: string }
  /** A redirect to an allowed host was followed; told once for each address, which carries no credentials. */
  | { readonly event: 'service.moved'; readonly baseUrl: string }
  /** Collectors that no plan takes in, since who they are can't be read; told when their number changes. */
  | { readonly event: 'inventory.incomplete'; readonly reason: string }
  /** Found at a daemon's start: all wait for a pause that was begun before it. */
  | { readonly event: 'service.paused'; readonly reason: string; readonly pauseMs: DurationMs }
  | { readonly event: 'service.throttled'; readonly reason: '429' | '401'; readonly pauseMs: DurationMs }
  | {
      readonly event: 'step.failed';
      readonly rollout: string;
      readonly collectorId: number;
      readonly error: unknown;
    }
  | { readonly event: 'reconcile.failed'; readonly rollout: string; readonly error: unknown }
  /** The service did not answer what was asked for a rollout as a whole; it is asked again. */
  | { readonly event: 'look.failed'; readonly rollout: string; readonly reason: string }
  | { readonly event: 'daemon.started' | 'daemon.stopping' | 'daemon.stopped'; readonly detail: string };
