import type { RolloutState } from '../../base/vocabulary.ts';
import type { LeftBehindReason } from './left-behind.ts';
import type { StopCause } from './stop-cause.ts';

/** Why a rollout is in its state, with the figures; `messages/rollout-reasons.ts` makes the sentence. */
export type RolloutReason =
  /** The daemon held, aborted or rolled back the rollout by itself. */
  | StopCause
  /** The service refuses all requests. `detail`: its message. */
  | { readonly kind: 'serviceRefuses'; readonly detail: string }
  | { readonly kind: 'buildNotOffered'; readonly build: string }
  | PersonReason
  | { readonly kind: 'awaitsApproval' }
  /** A newer build is available, and the policy upgrades to it. */
  | { readonly kind: 'newerBuild'; readonly build: string }
  /** A wave that was held without evidence has evidence, or may get some again. */
  | { readonly kind: 'evidence'; readonly wave: string; readonly isShown: boolean }
  | { readonly kind: 'allEnded' }
  | { readonly kind: 'rollsBack'; readonly rollout: string }
  | { readonly kind: 'rollbackEnded'; readonly rollback: string; readonly state: RolloutState }
  | {
      readonly kind: 'nothingRolledBack';
      readonly left: ReadonlyArray<{ readonly count: number; readonly why: LeftBehindReason }>;
    }
  | { readonly kind: 'recordNewer'; readonly version: number; readonly readable: number };

/** A person or a schedule requested it. `words`: the given reason, or empty. */
export interface PersonReason {
  readonly kind: 'asked';
  readonly by: string;
  readonly words: string;
}
