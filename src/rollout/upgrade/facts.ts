import type { EpochMs } from '../../base/time.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import type { ServiceFailure } from './failure-classes.ts';

/**
 * What happened to one upgrade: past tense, with its instant. Only `evolve` turns facts into state. `admitted`: the
 * reconciler gave it a slot.
 */
export type UpgradeFact = { readonly at: EpochMs } & (
  | {
      readonly kind: 'admitted';
      readonly startBy: EpochMs | null;
      /** How often the rollout's brakes have changed: a turn counts until they change again. */
      readonly changes?: number;
      /** What a page showed of it a moment ago, where one was read. */
      readonly seen?: RowObservation | undefined;
      /** Records from before may be undone ones; always trusted, where left out. */
      readonly trustedSince?: EpochMs;
    }
  /** It could not start now (brake, hold): its slot goes back. */
  | { readonly kind: 'putBack'; readonly reason: UpgradeReason }
  /** Another rollout is upgrading it right now. */
  | { readonly kind: 'claimed'; readonly reason: UpgradeReason }
  /** The intent is written down; the create leaves right after. */
  | { readonly kind: 'createSent' }
  /** The create was stopped before it left. */
  | { readonly kind: 'createNotSent' }
  | { readonly kind: 'created'; readonly taskId: string }
  | { readonly kind: 'createFailed'; readonly failure: ServiceFailure }
  /** The builds on offer, asked for after a refused version: is the target still one of them? */
  | { readonly kind: 'buildsSeen'; readonly stillOffered: boolean }
  | ({ readonly kind: 'taskSeen' } & TaskSighting)
  | ({ readonly kind: 'collectorSeen' } & CollectorObservation)
  /**
   * A row hints that its task may be over: it is polled now. The row itself ends nothing (P10). `unchangedAt`: when a list
   * showed last that it went on.
   */
  | { readonly kind: 'changeHinted'; readonly unchangedAt?: EpochMs }
  /**
   * A row shows that nothing has changed, and the next one comes soon: a poll due before `until` waits until then. One that
   * is due already goes ahead, and none waits longer than its rare poll, its deadline or the end of its verification: so
   * polls come back by themselves when pages do not.
   */
  | { readonly kind: 'unchanged'; readonly until: EpochMs }
  | ({ readonly kind: 'pollFailed' } & FailedPoll)
  | { readonly kind: 'withdrawn'; readonly reason: UpgradeReason }
  /** Nobody can watch it to its end: it is in another account, and its rollout was ended. */
  | { readonly kind: 'abandoned'; readonly reason: UpgradeReason }
  /** Its wave soaks, and it left the fleet for a reason that is known, which says nothing about the build. */
  | { readonly kind: 'departed'; readonly reason: UpgradeReason }
  /** Its wave soaks, and it died (`lost`) or left the build. */
  | { readonly kind: 'regressed'; readonly reason: UpgradeReason; readonly lost: boolean }
  /** An operator wants a failed one tried again. */
  | { readonly kind: 'retryAsked'; readonly reason: UpgradeReason }
  /** A withdrawn one is eligible again. */
  | { readonly kind: 'rejoined'; readonly reason: UpgradeReason }
  /** Its rollback succeeded. */
  | { readonly kind: 'rolledBack'; readonly reason: UpgradeReason }
);

export type FactKind = UpgradeFact['kind'];
export type FactOf<Kind extends FactKind> = Extract<UpgradeFact, { readonly kind: Kind }>;
export type CollectorSeen = FactOf<'collectorSeen'>;

/** What a poll that failed was for, and how it failed. */
export interface FailedPoll {
  readonly of: 'task' | 'collector' | 'builds';
  readonly failure: ServiceFailure;
  /** Whether the service answered another question right after; absent where that changes nothing. */
  readonly othersAnswered?: boolean;
  /** For a 404 of a collector: whether a plausible inventory, read after it, lacks the collector too. */
  readonly isGone?: boolean;
}

/** A task as one poll shows it. `serviceAt`: the service's own clock at the answer, where the answer shows it. */
export interface TaskSighting {
  readonly status: number;
  readonly message: string;
  readonly serviceAt: EpochMs | null;
}

/** What a poll of a collector showed. */
export interface CollectorObservation extends InventoryRow {
  /** Whether the service would start an upgrade of it now (it is alive, at another build and in no upgrade). null: not asked. */
  readonly upgradable: boolean | null;
  /** The service's clock when it would have started one, where `upgradable` is true and the clock is known. */
  readonly offeredAt?: EpochMs;
}

/** A collector's row of the inventory. */
export interface InventoryRow {
  readonly build: string;
  readonly alive: boolean;
  readonly lastSeenAlive: EpochMs | null;
  /** The service's clock at the answer, where it is known. */
  readonly serviceAt: EpochMs | null;
}

/** A collector's row of a list, and when it was read. */
export type RowObservation = InventoryRow & {
  readonly at: EpochMs;
  /** The last time that an upgradable list had it, before this heartbeat: then no upgrade of it was running. */
  readonly offered?: ListedOffer | undefined;
};

/** An upgradable list had a collector: its reading began `at`, by our clock, and ended before `offeredAt`, by the service's. */
export interface ListedOffer {
  readonly at: EpochMs;
  readonly offeredAt: EpochMs;
}
