import { countEach } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { PlanExclusion } from '../../base/vocabulary.ts';

/** Why a plan leaves a collector out; `messages/exclusions.ts` makes the sentences. */
export type LeftOutKind =
  | PlanExclusion
  /** In a rollback: the inventory no longer has the collector. */
  | 'leftFleet';

/** How many collectors a plan leaves out for one reason. */
export interface LeftOutCount {
  readonly kind: LeftOutKind;
  readonly count: number;
}

/** Counts reasons, in the order of their first occurrence. */
export function countLeftOut(kinds: Iterable<LeftOutKind>): readonly LeftOutCount[] {
  return [...countEach(kinds)].map(([kind, count]) => ({ kind, count }));
}

/** Why a policy has no target build. */
export type NoTarget =
  | { readonly kind: 'noLatest' }
  | { readonly kind: 'notOffered'; readonly build: string }
  /** `reason`: the operator's reason for the hold. */
  | { readonly kind: 'buildHeld'; readonly build: string; readonly reason: string }
  /** The build is too new. `since`: when it was first seen; `notBefore`: when it is old enough. */
  | {
      readonly kind: 'tooNew';
      readonly build: string;
      readonly since: EpochMs;
      readonly ageMs: DurationMs;
      readonly notBefore: EpochMs;
    };
