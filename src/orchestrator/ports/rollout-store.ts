import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { AttributeTable, Outcomes } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { CapDomain, PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Rollout, StoredView } from '../../rollout/model/rollout.ts';
import type { Upgrade, UpgradeState } from '../../rollout/model/upgrade.ts';
import type { CorruptUpgrade, Settlement } from '../../rollout/upgrade/repair-upgrade.ts';
import type { Fence } from './leader.ts';

// A lane is asked for no more than this share of one view: a hundred lanes show 40 candidates each, which is more than
// a pass of the reconciler starts of one lane. With more than half as many lanes each shows two.
export const candidatesPerView = 4_000;
export const perLaneMin = 2;

/** As many events as are kept of a rollout. */
export const eventsKeptMax = 10_000;

/** One change of one upgrade, made from the record with `expectedRev`. */
export interface UpgradeChange {
  readonly before: Upgrade;
  readonly after: Upgrade;
  readonly events: readonly RolloutEvent[];
}

/** When many changes are saved: only as long as this holds; nothing of what is omitted is asked. */
export interface SaveGuard {
  /** The rollout is still at the rev at which they were found to be right. */
  readonly rolloutRev?: number;
  /** No other leader has followed this one. */
  readonly fence?: Fence;
}

/** A rollout with all that belongs to it, as it is written in one step. */
export interface FrozenPlan {
  readonly rollout: Rollout;
  readonly upgrades: readonly Upgrade[];
  readonly groups: PlanGroups;
  /** What its collectors are like; of late joiners, theirs alone. */
  readonly attributes?: AttributeTable;
  readonly events: readonly RolloutEvent[];
}

export interface UpgradePage {
  readonly offset: number;
  readonly limit: number;
  readonly state?: UpgradeState;
  readonly wave?: number;
}

/** Upgrades that did not succeed, of one kind: `failed` are those that count as failures. */
export interface MissedPage {
  readonly kind: 'failed' | 'withdrawn' | 'retrying';
  readonly limit: number;
}

export interface LoadedUpgrades {
  readonly upgrades: readonly Upgrade[];
  /** Collectors whose record is unreadable: nobody may take them for strangers (P1). */
  readonly unreadable: readonly number[];
}

/** The record that takes the place of a corrupt one, and the event of it. */
export interface RepairedUpgrade {
  readonly upgrade: Upgrade;
  readonly event: RolloutEvent;
}

/** A piece of the history, newest first. */
export interface RolloutsPage {
  /** Only those that were created before this one; undefined: from the newest on. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export type SaveResult = 'saved' | 'stale';

/** Where rollouts live. Every method is one atomic change, safe to repeat, and visible to all daemons. */
export interface RolloutStore {
  /** Ids of rollouts whose upgrades have not all ended, of these policies. */
  activeRolloutIds(policies: readonly string[]): Promise<readonly string[]>;
  /**
   * The upgrades of one collector in all active rollouts of these policies, in one reading. `upgrade` is undefined where
   * its record is unreadable.
   */
  findUpgradesOf(
    policies: readonly string[],
    collectorId: number,
  ): Promise<ReadonlyArray<{ readonly rolloutId: string; readonly upgrade: Upgrade | undefined }>>;
  /**
   * What is current of these policies, newest first: the active rollouts, the last one of each policy that has ended, and
   * the rollback or the rolled-back one of each of them. Its cost does not grow with the history.
   */
  currentRollouts(policies: readonly string[]): Promise<readonly Rollout[]>;
  /**
   * A page of all kept rollouts, newest first. `next`: what to ask for as `before` to go on; null: these were the last.
   * undefined: `before` is not kept.
   */
  pageRollouts(
    policies: readonly string[],
    page: RolloutsPage,
  ): Promise<{ readonly rollouts: readonly Rollout[]; readonly next: string | null } | undefined>;
  /** All kept rollouts of these policies, newest first: 1,000 at most. */
  listRollouts(policies: readonly string[]): Promise<readonly Rollout[]>;
  /** One whose own record is unreadable is `unreadable`; the same in `loadView`. */
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
   * to end the rollout judges again. Nothing is saved when it has moved on; a record that has changed is left out.
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
   * What the collectors of its plan were like, late joiners included; undefined where that was not kept, as by earlier
   * versions, or is unreadable. Large: not for each pass.
   */
  loadAttributes(rolloutId: string): Promise<AttributeTable | undefined>;
  /** Which collectors failed, and which were upgraded, taken back or not; at the cost of the ids of a plan. */
  listOutcomes(rolloutId: string): Promise<Outcomes>;
  /**
   * What the store knows of what `decide` sees. Candidates are those of waves that have started (their state is not
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
  /** The records of these collectors, however many, as far as they are in the rollout. */
  loadUpgrades(rolloutId: string, collectorIds: readonly number[]): Promise<LoadedUpgrades>;
  /**
   * The records of the collectors of this name in the plan, by id, through an index. Plans that an earlier version froze have
   * none, and show nobody.
   */
  findNamed(rolloutId: string, name: string): Promise<readonly Upgrade[]>;
  /** Ids of all collectors of its plan, late joiners included, whatever became of them. */
  listMemberIds(rolloutId: string): Promise<readonly number[]>;
  /**
   * A page of records in plan order (pending ones: by wave and lane), optionally of one state, and of one wave. One that
   * is unreadable is left out, so a page may be short, also where others follow. A page may be as large as the plan; of
   * one state or wave, each page costs a walk from the plan's beginning.
   */
  listUpgrades(rolloutId: string, page: UpgradePage): Promise<readonly Upgrade[]>;
  /** The latest that ended first; of retrying ones, the earliest due. Its cost does not grow with the plan. */
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
   * Saves changes of one rollout in one write, each with its own `tripAbove`; a record that has changed is left out.
   * @returns the collectors saved; none where the guard does not hold
   */
  saveUpgrades(
    rolloutId: string,
    changes: ReadonlyArray<UpgradeChange & { readonly tripAbove: number | null }>,
    guard: SaveGuard,
  ): Promise<readonly number[]>;
  /**
   * Puts other records in the place of corrupt ones that are still running, and counts again what they had counted; one that
   * is over stays as it is: nothing waits for it. Nothing is done when one of them changed meanwhile.
   * @param of without a collector: all of the rollout
   * @param replace what takes the place of one, as it is settled
   * @returns those that were put there
   */
  repair(
    of: { readonly rolloutId: string; readonly collectorId?: number; readonly settlement: Settlement },
    replace: (corrupt: CorruptUpgrade, groups: PlanGroups, as: Settlement) => RepairedUpgrade,
  ): Promise<readonly RepairedUpgrade[]>;
  /** What `repair` would settle now: corrupt records of upgrades that have not ended. Reads the whole plan. */
  findCorrupt(rolloutId: string): Promise<readonly CorruptUpgrade[]>;
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
  /**
   * Packs the records of rollouts of these policies that ended before an instant, as far as it gets until the signal is
   * aborted. Whoever reads them sees no difference; one that is opened again is unpacked first.
   */
  packEnded(policies: readonly string[], endedBefore: EpochMs, signal: AbortSignal): Promise<void>;
  readEvents(rolloutId: string, page: { readonly limit: number }): Promise<readonly RolloutEvent[]>;
}
