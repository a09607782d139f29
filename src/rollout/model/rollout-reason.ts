import type { RolloutState } from '../../base/vocabulary.ts';
import type { LeftBehindReason } from './left-behind.ts';
import type { StopCause } from './stop-cause.ts';
import type { TextReason } from './upgrade-reason.ts';

/** Why a rollout is in its state, with the figures; `messages/rollout-reasons.ts` makes the sentence. */
export type RolloutReason =
  /** It is held, or was aborted or rolled back, by itself. */
  | StopCause
  /** The service refuses all requests: `detail` is what it says. */
  | { readonly kind: 'serviceRefuses'; readonly detail: string }
  | { readonly kind: 'buildNotOffered'; readonly build: string }
  | PersonReason
  | { readonly kind: 'awaitsApproval' }
  /** A newer build is out, and the policy wants it. */
  | { readonly kind: 'newerBuild'; readonly build: string }
  /** A wave that was held without evidence has some, or may have some again. */
  | { readonly kind: 'evidence'; readonly wave: string; readonly isShown: boolean }
  | { readonly kind: 'allEnded' }
  | { readonly kind: 'takesBack'; readonly rollout: string }
  | { readonly kind: 'rollbackEnded'; readonly rollback: string; readonly state: RolloutState }
  | {
      readonly kind: 'nothingTakenBack';
      readonly left: ReadonlyArray<{ readonly count: number; readonly why: LeftBehindReason }>;
    }
  | { readonly kind: 'recordCorrupt' }
  | { readonly kind: 'recordNewer'; readonly version: number; readonly readable: number }
  /** It was ended although its record could not be read. */
  | { readonly kind: 'endedUnread'; readonly by: RolloutReason }
  | TextReason;

/** A person, or a schedule, said so. `words`: as they were given, or empty. */
export type PersonReason =
  | { readonly kind: 'asked'; readonly by: string; readonly words: string }
  | { readonly kind: 'repaired'; readonly by: string; readonly words: string };
