import type { DurationMs } from '../../base/time.ts';
import type { RolloutState } from '../../base/vocabulary.ts';
import type { Implausible } from './assess-inventory.ts';
import type { OutlierTally } from './attributes.ts';

/** Why an upgrade is in its state, with the figures; `messages/upgrade-reasons.ts` makes the sentence. */
export type UpgradeReason =
  | TurnReason
  | DeferReason
  | FailureReason
  | EndReason
  | SoakReason
  | PersonReason
  /** It was deferred for this reason, and may start again. */
  | { readonly kind: 'waited'; readonly before: UpgradeReason }
  /** It was withdrawn for this reason, and is eligible again. */
  | { readonly kind: 'rejoined'; readonly before: UpgradeReason };

/** Why an upgrade released its slot before its create was sent. */
type TurnReason =
  | { readonly kind: 'rolloutStopped'; readonly state: RolloutState }
  /** Another daemon or a person stopped the rollout at this moment. */
  | { readonly kind: 'braked' }
  | { readonly kind: 'inventory'; readonly why: Implausible }
  /** No config has the policy any more: it was renamed or removed. */
  | { readonly kind: 'policyMissing'; readonly policy: string }
  /** The policy's limits changed after it was admitted. */
  | { readonly kind: 'policyChanged' }
  | { readonly kind: 'stratumHeld'; readonly label: string; readonly reason: StratumReason }
  | { readonly kind: 'windowCloses' }
  | { readonly kind: 'buildNotOffered' };

/** The kinds of reasons for which an upgrade is put back. */
export const turnReasonKinds = [
  'rolloutStopped',
  'braked',
  'inventory',
  'policyMissing',
  'policyChanged',
  'stratumHeld',
  'windowCloses',
  'buildNotOffered',
] as const satisfies readonly TurnReason['kind'][];

/** Why an upgrade waits without a slot. */
type DeferReason =
  | { readonly kind: 'notAlive' }
  | { readonly kind: 'silent' }
  /** The upgradable list lacks the collector: an upgrade may be running. */
  | { readonly kind: 'notUpgradable' }
  | { readonly kind: 'upgradedElsewhere' }
  /** Another rollout is upgrading it. */
  | { readonly kind: 'claimed'; readonly rollout: string }
  /** Polls fail. `before`: the earlier reason of the wait. */
  | { readonly kind: 'unpollable'; readonly detail: string; readonly before?: UpgradeReason };

/** What went wrong. `detail`, `message`: texts of the service. */
type FailureReason =
  | { readonly kind: 'service'; readonly detail: string }
  | { readonly kind: 'task'; readonly message: string }
  | { readonly kind: 'buildRefused'; readonly detail: string }
  | { readonly kind: 'createsUnanswered'; readonly creates: number }
  | { readonly kind: 'adoptedEnded' }
  | { readonly kind: 'noEnd'; readonly withinMs: DurationMs }
  /** No poll can show whether the task ended. */
  | { readonly kind: 'endUnseen'; readonly withinMs: DurationMs; readonly detail: string }
  | { readonly kind: 'notBack'; readonly withinMs: DurationMs }
  | { readonly kind: 'returnUnseen'; readonly withinMs: DurationMs; readonly detail: string }
  /** The collector is alive on another build; empty if it shows none. */
  | { readonly kind: 'otherBuild'; readonly build: string; readonly afterMs: DurationMs }
  /** The rollout was ended, and this upgrade is in another account, where it can't be watched. */
  | { readonly kind: 'unwatched' }
  | { readonly kind: 'unexplainedTwice'; readonly last: UpgradeReason }
  | {
      readonly kind: 'attemptsSpent';
      readonly attempts: number;
      readonly attemptsMax: number;
      readonly last: UpgradeReason;
    };

/** An end that is not a failure. */
type EndReason =
  /** `late`: the task did not show the success, but the collector shows the build. */
  | { readonly kind: 'returned'; readonly late: boolean }
  /** Someone else had upgraded the collector. `but`: what happened to it during the soak. */
  | { readonly kind: 'onBuild'; readonly but?: UpgradeReason }
  | { readonly kind: 'gone' }
  | { readonly kind: 'deferExpired'; readonly before: UpgradeReason; readonly forMs: DurationMs }
  | { readonly kind: 'rolloutOver'; readonly state: RolloutState }
  | { readonly kind: 'heldToTheEnd'; readonly labels: readonly string[] }
  | { readonly kind: 'rolledBack'; readonly build: string; readonly rollback: string };

/** What happened to a collector during the soak. */
export type SoakReason =
  /** `build`: empty if it shows none. */
  | { readonly kind: 'leftBuild'; readonly build: string }
  /** `silentMs`: null if the service itself reports the collector as dead. */
  | { readonly kind: 'died'; readonly silentMs: DurationMs | null }
  /** The collector is alive, but delivers nothing. `before`: its earlier messages in the same time. */
  | { readonly kind: 'wentSilent'; readonly before: number; readonly windowMs: DurationMs }
  | { readonly kind: 'vanished' }
  | { readonly kind: 'departed'; readonly because: 'ephemeral' | 'held' };

/** A person asked for it. `words`: the given reason, or empty. */
type PersonReason =
  | { readonly kind: 'collectorHeld'; readonly by: string; readonly words: string }
  | { readonly kind: 'retryAsked'; readonly by: string; readonly words: string };

/** Why a stratum is held alone; `messages/stratum-reasons.ts` makes the sentence. */
export type StratumReason =
  /** Its collectors fail, and the others do not. */
  | ({ readonly kind: 'outlier' } & OutlierTally)
  | { readonly kind: 'asked'; readonly by: string; readonly words: string };
