import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import {
  advisesEndWithoutStrata,
  groupToHold,
  groupToHoldFirst,
  strataToReleaseFirst,
} from '../../rollout/decision/group-to-hold.ts';
import { askedNow } from '../../rollout/status/legal-verbs.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';

/** What a release names: the target build, or strata by their labels. */
export interface Released {
  readonly of: 'build' | 'strata';
  readonly subjects: readonly string[];
}

/** One thing to do now. The line `do` shows its command, and the live screen has keys for most. */
export type DueStep =
  | { readonly kind: 'hold'; readonly group: string }
  | { readonly kind: 'release'; readonly released: Released }
  /** An alternative to the resume before it in the list, which ends the rollout without what is held: release first, then resume. */
  | { readonly kind: 'releaseFirst'; readonly released: Released }
  | { readonly kind: 'verb'; readonly verb: RolloutVerb };

/** Verbs, the most likely first. */
const firstVerbs: readonly RolloutVerb[] = ['approve', 'resume'];
const firstWithoutPolicy: readonly RolloutVerb[] = ['abort'];

/** What to do now, in this order: the most likely verb, after what has to come before it, or with it. None: no verb is legal. */
export function dueSteps(status: RolloutStatus): readonly DueStep[] {
  const { verbs, buildHold, headline } = status;
  const preferred = headline.kind === 'policyMissing' ? firstWithoutPolicy : firstVerbs;
  const next = preferred.find((verb) => verbs.includes(verb));
  const first = next ?? verbs[0];
  if (first === undefined) return [];
  const holdFirst = isHoldDue(status) ? groupToHold(status) : undefined;
  const hold: readonly DueStep[] = holdFirst === undefined ? [] : [{ kind: 'hold', group: holdFirst }];
  // A held build is released first. Only then is the verb possible that continues the rollout.
  if (buildHold !== null && next === undefined && headline.needsPerson) {
    const resume: readonly DueStep[] =
      askedNow(status, 'resume') === undefined ? [] : [{ kind: 'verb', verb: 'resume' }];
    return [...hold, { kind: 'release', released: { of: 'build', subjects: [buildHold.build] } }, ...resume];
  }
  const verb: DueStep = { kind: 'verb', verb: first };
  const strata = first === 'resume' ? strataToReleaseFirst(status) : [];
  if (strata.length === 0) return [...hold, verb];
  const released: Released = { of: 'strata', subjects: strata };
  return advisesEndWithoutStrata(status)
    ? [...hold, verb, { kind: 'releaseFirst', released }]
    : [...hold, { kind: 'release', released }, verb];
}

/** The group that explains the failures is held before the rollout is resumed. */
export function isHoldDue(status: RolloutStatus): boolean {
  return status.headline.kind === 'held' && groupToHoldFirst(status) !== undefined;
}
