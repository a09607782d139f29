import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { PlanExclusion } from '../../base/vocabulary.ts';
import type { TextReason } from './upgrade-reason.ts';

/** Why a plan leaves a collector out; `messages/exclusions.ts` makes the sentences. */
export type LeftOutKind =
  | PlanExclusion
  /** Of a rollback: the inventory has it no more. */
  | 'leftFleet';

/** How many collectors a plan leaves out for one reason. */
export type LeftOutCount = { readonly count: number } & ({ readonly kind: LeftOutKind } | TextReason);

/** Counts reasons, in the order in which they come first. */
export function countLeftOut(kinds: Iterable<LeftOutKind>): readonly LeftOutCount[] {
  const counts = new Map<LeftOutKind, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => ({ kind, count }));
}

/** Why a policy has no build to go to. */
export type NoTarget =
  | { readonly kind: 'noLatest' }
  | { readonly kind: 'notOffered'; readonly build: string }
  /** `reason`: of the hold, as it was given. */
  | { readonly kind: 'buildHeld'; readonly build: string; readonly reason: string }
  /** Only its age stands in the way. `since`: when it was first seen; `notBefore`: when it is old enough. */
  | {
      readonly kind: 'tooNew';
      readonly build: string;
      readonly since: EpochMs;
      readonly ageMs: DurationMs;
      readonly notBefore: EpochMs;
    };
