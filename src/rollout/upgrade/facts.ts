import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import type { ServiceFailure } from './failure-classes.ts';

/**
 * What happened to one upgrade: past tense, with its instant. Only `evolve` turns facts into state. `admitted`: the
 * reconciler gave the upgrade a slot.
 */
export type UpgradeFact = { readonly at: EpochMs } & (
  | {
      readonly kind: 'admitted';
      readonly startBy: EpochMs | null;
      /** How often the rollout's limits have changed. The admission is valid until they change again. */
      readonly changes: number;
      /** How much of the rollout's pace its create uses up; absent without a pace. */
      readonly paceMs?: DurationMs | undefined;
      /** The collector's row on a page read just before, if any. */
      readonly seen?: RowObservation | undefined;
      /** Records before this instant may have lost changes; all are trusted if it is absent. */
      readonly trustedSince?: EpochMs;
    }
  /** It cannot start now (brake, hold), and its slot is released. */
  | { readonly kind: 'putBack'; readonly reason: UpgradeReason }
  /** Another rollout is upgrading the collector. */
  | { readonly kind: 'claimed'; readonly reason: UpgradeReason }
  /** The intent is stored, and the create is sent next. */
  | { readonly kind: 'createSent' }
  /** The create was stopped before it was sent. */
  | { readonly kind: 'createNotSent' }
  | { readonly kind: 'created'; readonly taskId: string }
  | { readonly kind: 'createFailed'; readonly failure: ServiceFailure }
  /** The offered builds were read after a refused version: is the target still offered? */
  | { readonly kind: 'buildsSeen'; readonly stillOffered: boolean }
  | ({ readonly kind: 'taskSeen' } & TaskSighting)
  | ({ readonly kind: 'collectorSeen' } & CollectorObservation)
  /**
   * A row suggests that the task has ended, so it is polled now. The row alone ends nothing (P10). `unchangedAt`: when a
   * list last showed the task as running.
   */
  | { readonly kind: 'changeHinted'; readonly unchangedAt?: EpochMs }
  /**
   * A row shows no change, and the next row comes soon: a poll due before `until` is postponed to `until`. A poll that is
   * already due is not postponed, and none is postponed beyond its rare poll, its deadline or the end of its verification.
   * Polls therefore resume by themselves if pages stop. `isAwaited`: no row showed it yet, but the next list will.
   */
  | { readonly kind: 'unchanged'; readonly until: EpochMs; readonly isAwaited?: true }
  | ({ readonly kind: 'pollFailed' } & FailedPoll)
  /** `trustedSince`: where the record may lack a create until then, as in `nextStep`. */
  | { readonly kind: 'withdrawn'; readonly reason: UpgradeReason; readonly trustedSince?: EpochMs }
  /** The upgrade can't be watched to its end: it is in another account, and its rollout was ended. */
  | { readonly kind: 'abandoned'; readonly reason: UpgradeReason }
  /** During the soak, the collector left the fleet for a known reason that is unrelated to the build. */
  | { readonly kind: 'departed'; readonly reason: UpgradeReason }
  /** During the soak, the collector went down (`lost`) or left the build. */
  | { readonly kind: 'regressed'; readonly reason: UpgradeReason; readonly lost: boolean }
  /** An operator asked to retry a failed upgrade. */
  | { readonly kind: 'retryAsked'; readonly reason: UpgradeReason }
  /** A withdrawn collector is eligible again. */
  | { readonly kind: 'rejoined'; readonly reason: UpgradeReason }
  /** The rollback of this collector succeeded. */
  | { readonly kind: 'rolledBack'; readonly reason: UpgradeReason }
);

export type FactKind = UpgradeFact['kind'];
export type FactOf<Kind extends FactKind> = Extract<UpgradeFact, { readonly kind: Kind }>;
export type CollectorSeen = FactOf<'collectorSeen'>;

/** What a failed poll asked for, and how it failed. */
export interface FailedPoll {
  readonly of: 'task' | 'collector' | 'builds';
  readonly failure: ServiceFailure;
  /** Whether the service answered another request right after; absent if that does not matter. */
  readonly othersAnswered?: boolean;
  /** For a 404 of a collector: whether a plausible inventory read afterwards lacks it, too. */
  readonly isGone?: boolean;
}

/** A task as shown by one poll. `serviceAt`: the service's clock in the answer, if it has one. */
export interface TaskSighting {
  readonly status: number;
  readonly message: string;
  readonly serviceAt: EpochMs | null;
}

/** A collector as shown by one poll. */
export interface CollectorObservation extends InventoryRow {
  /** Whether the service lists it as upgradable: alive, on another build and in no upgrade. null if not asked. */
  readonly upgradable: boolean | null;
  /** The service refuses the build itself, which may be withdrawn. Then `upgradable` is false. */
  readonly isBuildRefused?: true;
  /** The service's clock when it listed the collector, if `upgradable` is true and the clock is known. */
  readonly offeredAt?: EpochMs;
}

/** A collector's row in the inventory. */
export interface InventoryRow {
  readonly build: string;
  readonly alive: boolean;
  readonly lastSeenAlive: EpochMs | null;
  /** The service's clock in the answer, if known. */
  readonly serviceAt: EpochMs | null;
}

/** A collector's row in a list, and when it was read. */
export type RowObservation = InventoryRow & {
  readonly at: EpochMs;
  /** The last time before this heartbeat that an upgradable list had it, so that no upgrade of it was running then. */
  readonly offered?: ListedOffer | undefined;
};

/** An upgradable list had a collector. Reading began `at` by our clock, and ended before `offeredAt` by the service's. */
export interface ListedOffer {
  readonly at: EpochMs;
  readonly offeredAt: EpochMs;
}
