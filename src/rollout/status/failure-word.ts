import { upgradeFailureClasses } from '../../base/vocabulary.ts';
import { upgradeWords } from '../messages/upgrade-reasons.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { failureClassOf } from '../model/upgrade-figures.ts';
import type { FailedSummary } from '../verbs/refusal.ts';

/**
 * Makes the test for the word that an operator gives with `retry --class`: a class by its name, else a state, or words of
 * the reason as `status` and `explain` show them. Case, blanks and dashes don't matter: `time-out` is `timedOut`.
 */
export function makeFailureTest(word: string): (upgrade: Upgrade) => boolean {
  const wanted = simplified(word);
  const named = upgradeFailureClasses.find((each) => simplified(each) === wanted);
  if (named !== undefined) return (upgrade) => failureClassOf(upgrade) === named;
  const isTimeOut = wanted === 'timeout';
  return (upgrade) => {
    if (failureClassOf(upgrade) === undefined) return false;
    if (isTimeOut && failureClassOf(upgrade) === 'timedOut') return true;
    return (
      simplified(upgrade.progress.state) === wanted || simplified(upgradeWords(upgrade)).includes(wanted)
    );
  };
}

const reasonsShownMax = 5;

/** What failed, for an operator whose word matched nothing. */
export function summarizeFailed(upgrades: readonly Upgrade[]): FailedSummary {
  const failed = upgrades.flatMap((upgrade) => {
    const failureClass = failureClassOf(upgrade);
    return failureClass === undefined ? [] : [{ failureClass, reason: upgradeWords(upgrade) }];
  });
  const reasons = counted(failed.map(({ reason }) => reason));
  return {
    classes: counted(failed.map(({ failureClass }) => failureClass)).map(([failureClass, count]) => ({
      failureClass,
      count,
    })),
    reasons: reasons.slice(0, reasonsShownMax).map(([reason, count]) => ({ reason, count })),
    moreReasons: Math.max(0, reasons.length - reasonsShownMax),
  };
}

/** The most frequent first. */
function counted<T extends string>(words: readonly T[]): ReadonlyArray<readonly [T, number]> {
  const counts = new Map<T, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

function simplified(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}
