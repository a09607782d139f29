import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { AttributeTable, Outcomes } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { CapDomain, PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Rollout, StoredView } from '../../rollout/model/rollout.ts';
import type { Upgrade, UpgradeState } from '../../rollout/model/upgrade.ts';
import type { Fence } from './leader.ts';

// A lane shows as many candidates as slots are free, and at least two, by which it is seen that it waits. While many slots are
// free, its share of all candidates is the limit: with a hundred lanes, each shows 40.
export const candidatesPerView = 4_000;
export const perLaneMin = 2;

/** How many events of a rollout are stored, of its upgrades and of the rollout itself. */
export const eventsKeptMax = 10_000;

/** How many events of the rollout itself are stored beyond these: its plan, verbs, waves, gates and holds. */
const milestonesKeptMax = 5_000;

/** Enough to read all stored events. Redis trims whole nodes, of a hundred events each. */
export const eventsReadMax = eventsKeptMax + milestonesKeptMax + 200;

/** One change of one upgrade, made from the record with `expectedRev`. */
export interface UpgradeChange {
  readonly before: Upgrade;
  readonly after: Upgrade;
  readonly events: readonly RolloutEvent[];
}

/** Conditions for saving many changes. An omitted condition is not checked. */
export interface SaveGuard {
  /** The rollout is still at the rev from which the changes were decided. */
  readonly rolloutRev?: number;
  /** No other leader has followed this one. */
  readonly fence?: Fence;
}

/** A rollout with all its data, written in one step. */
export interface FrozenPlan {
  readonly rollout: Rollout;
  readonly upgrades: readonly Upgrade[];
  readonly groups: PlanGroups;
  /** The attributes of its collectors; for late joiners, only theirs. Absent when only groups change. */
  readonly attributes?: AttributeTable;
  readonly events: readonly RolloutEvent[];
}

export interface UpgradePage {
  readonly offset: number;
  readonly limit: number;
  readonly state?: UpgradeState;
  readonly wave?: number;
}

/** Upgrades without success, by kind. `failed`: those that count as failures. */
export interface MissedPage {
  readonly kind: 'failed' | 'withdrawn' | 'retrying';
  readonly limit: number;
}

export interface LoadedUpgrades {
  readonly upgrades: readonly Upgrade[];
  /** Collectors with an unreadable record. They belong to the rollout nevertheless (P1). */
  readonly unreadable: readonly number[];
}

/** A page of the history, newest first. */
export interface RolloutsPage {
  /** Only rollouts created before this one; undefined: from the newest on. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export type SaveResult = 'saved' | 'stale';

/** Stores rollouts. Every method is one atomic change, safe to repeat, and visible to all daemons. */
export interface RolloutStore {
  /** Ids of rollouts whose upgrades have not all ended, of these policies. */
  activeRolloutIds(policies: readonly string[]): Promise<readonly string[]>;
  /**
   * The upgrades of one collector in all active rollouts of these policies, in one read. `upgrade` is undefined if its
   * record is unreadable.
   */
  findUpgradesOf(
    policies: readonly string[],
    collectorId: number,
  ): Promise<ReadonlyArray<{ readonly rolloutId: string; readonly upgrade: Upgrade | undefined }>>;
  /**
   * The current rollouts of these policies, newest first: the active ones, the last ended one of each policy, and the rollback
   * or original of each. The cost does not grow with the history.
   */
  currentRollouts(policies: readonly string[]): Promise<readonly Rollout[]>;
  /**
   * A page of all stored rollouts, newest first. `next`: the `before` of the following page; null: no more pages. undefined:
   * `before` is not stored.
   */
  pageRollouts(
    policies: readonly string[],
    page: RolloutsPage,
  ): Promise<{ readonly rollouts: readonly Rollout[]; readonly next: string | null } | undefined>;
  /** All stored rollouts of these policies, newest first: 1,000 at most. */
  listRollouts(policies: readonly string[]): Promise<readonly Rollout[]>;
  /** `unreadable`: the rollout's own record is unreadable. The same applies to `loadView`. */
  loadRollout(rolloutId: string): Promise<Rollout | undefined>;
  /** The next free `n` of `<policy>-<yyyymmdd>-<n>`. */
  nextRolloutNumber(policy: string, yyyymmdd: string): Promise<number>;
  /**
   * Freezes a plan. `busy`: the policy has an active rollout of this kind already, and nothing was changed. A rollback may be
   * active beside its original rollout.
   */
  freeze(frozen: FrozenPlan): Promise<'frozen' | 'busy'>;
  /**
   * Replaces a plan that still waits for approval: records, groups and counters are all new. `stale`: the rollout is not at
   * `expectedRev`, or no longer waits for approval. Then nothing was changed.
   */
  replan(frozen: FrozenPlan, expectedRev: number): Promise<SaveResult>;
  /**
   * Adds late joiners: their records, the rollout and its groups, in one write. A collector that has a record already is left
   * out.
   */
  join(frozen: FrozenPlan, expectedRev: number, fence: Fence | null): Promise<SaveResult>;
  /**
   * Saves changes that reopen work of a rollout, all decided at `rolloutRev`, and raises that rev: a leader that is about to
   * end the rollout has to decide again. Nothing is saved when the rollout has changed. A changed record is left out.
   * @returns the collectors saved
   */
  rejoin(
    rolloutId: string,
    changes: readonly UpgradeChange[],
    rolloutRev: number,
  ): Promise<readonly number[]>;
  /** The groups of its plan; undefined also when they are unreadable. */
  loadGroups(rolloutId: string): Promise<PlanGroups | undefined>;
  /**
   * The attributes of the plan's collectors, including late joiners; undefined if they are unreadable. Too large to read in
   * every pass.
   */
  loadAttributes(rolloutId: string): Promise<AttributeTable | undefined>;
  /** Which collectors failed, and which were upgraded, even if they were rolled back since. Reads all ids of a plan. */
  listOutcomes(rolloutId: string): Promise<Outcomes>;
  /**
   * The part of the view for `decide` that the store has. Candidates belong to started waves (not `waiting` or
   * `awaitingApproval`), by lane. `pageSize` bounds each list. `overdueBefore`: steps due earlier count as overdue.
   */
  loadView(
    rolloutId: string,
    at: { readonly now: EpochMs; readonly overdueBefore: EpochMs; readonly pageSize: number },
  ): Promise<StoredView | undefined>;
  /**
   * Saves a rollout decided at `expectedRev`, and sets, lifts or keeps the store's brake in the same write. With `endedAt` set
   * it is no longer active. Reopening an ended rollout is `stale` while the policy has another active rollout.
   */
  saveRollout(
    change: {
      readonly rollout: Rollout;
      readonly expectedRev: number;
      readonly events: readonly RolloutEvent[];
      readonly brake: 'set' | 'lift' | 'keep';
      /** The unreadable text that the save replaces. It is kept for an export. */
      readonly replaced?: string;
    },
    fence: Fence | null,
  ): Promise<SaveResult>;
  /** The records of those of these collectors that belong to the rollout, however many. */
  loadUpgrades(rolloutId: string, collectorIds: readonly number[]): Promise<LoadedUpgrades>;
  /** The records of the plan's collectors with this name, by id, through an index. */
  findNamed(rolloutId: string, name: string): Promise<readonly Upgrade[]>;
  /** Ids of all collectors of its plan, including late joiners, in any state. Read again only after the plan has changed. */
  listMemberIds(rolloutId: string): Promise<readonly number[]>;
  /**
   * A page of records in plan order (pending ones: by wave and lane), optionally of one state and one wave. Unreadable records
   * are left out, so a page may be short although others follow. A page may be as large as the plan. With a state or wave,
   * each page costs a walk from the plan's beginning.
   */
  listUpgrades(rolloutId: string, page: UpgradePage): Promise<readonly Upgrade[]>;
  /** Records in order of their end, the latest first; retrying ones by due instant. The cost does not grow with the plan. */
  listMissed(rolloutId: string, page: MissedPage): Promise<readonly Upgrade[]>;
  /** Up to `limit` records with a due instant, except retries: the earliest due first. */
  listDue(rolloutId: string, limit: number): Promise<readonly Upgrade[]>;
  /**
   * Gives slots. A change is applied only while fewer than `slots` are taken, each of its domains is below its cap, the
   * rollout is running without a brake at `rolloutRev`, and the record is unchanged (P2).
   * @returns the collectors admitted
   */
  admit(
    admission: {
      readonly rolloutId: string;
      readonly rolloutRev: number;
      readonly slots: number;
      /** Caps by the index of the domain in the plan's groups. */
      readonly domains: readonly CapDomain[];
      readonly changes: readonly UpgradeChange[];
    },
    fence: Fence,
  ): Promise<readonly number[]>;
  /**
   * Removes candidates that do not fit their record, which an earlier version may have left: the record names another lane,
   * or is no longer retrying. A candidate that fits stays.
   */
  dropStrayRetries(
    rolloutId: string,
    retries: ReadonlyArray<{ readonly collectorId: number; readonly lane: number }>,
  ): Promise<void>;
  /**
   * Saves changes of one rollout in one write; a record that has changed is left out. `brakeAbove`: if a change raises the
   * wave's weighted failures above it, the brake is set in the same write, and no create is sent after it.
   * @returns the collectors saved; none if the guard does not hold
   */
  saveUpgrades(
    rolloutId: string,
    changes: ReadonlyArray<UpgradeChange & { readonly brakeAbove: number | null }>,
    guard: SaveGuard,
  ): Promise<readonly number[]>;
  /**
   * Saves the intent before a create, only while the rollout is running without a brake (P4), and is still at the `rolloutRev`
   * from which the create was decided: a later hold must stop it.
   */
  saveIntent(change: UpgradeChange, rolloutRev: number): Promise<SaveResult | 'braked'>;
  /**
   * Counts creates that may be in the process of being sent: intents without an answer, stored within this time by the
   * store's own clock, because the clocks of two daemons differ.
   */
  countFreshIntents(rolloutId: string, withinMs: DurationMs): Promise<number>;
  /**
   * Packs the records of rollouts of these policies that ended before an instant, until the signal is aborted. Readers see no
   * difference. A rollout that is opened again is unpacked first.
   */
  packEnded(policies: readonly string[], endedBefore: EpochMs, signal: AbortSignal): Promise<void>;
  /** The newest events first. Where upgrade events were dropped, the rollout's own events from before follow. */
  readEvents(rolloutId: string, page: { readonly limit: number }): Promise<readonly RolloutEvent[]>;
}
