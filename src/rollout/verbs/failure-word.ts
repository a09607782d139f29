import { isFailed, type Upgrade, type UpgradeFailureClass, upgradeFailureClasses } from '../model/upgrade.ts';

/**
 * Makes the test for the word that an operator gives with `retry --class`: a class by its name, else a state, or words of
 * the reason as `status` and `explain` show them. Case, blanks and dashes don't matter: `time-out` is `timedOut`.
 */
export function makeFailureTest(word: string): (upgrade: Upgrade) => boolean {
  const wanted = simplified(word);
  const named = upgradeFailureClasses.find((each) => simplified(each) === wanted);
  if (named !== undefined) return (upgrade) => classOf(upgrade) === named;
  const isTimeOut = wanted === 'timeout';
  return (upgrade) => {
    if (classOf(upgrade) === undefined) return false;
    if (isTimeOut && classOf(upgrade) === 'timedOut') return true;
    return simplified(upgrade.progress.state) === wanted || simplified(reasonOf(upgrade)).includes(wanted);
  };
}

const causesShownMax = 5;

/** What failed, for an operator whose word matched nothing: `2 permanent, 1 timedOut; 2 "no space", 1 "no end in 35m"`. */
export function describeFailed(upgrades: readonly Upgrade[]): string {
  const failed = upgrades.filter((upgrade) => classOf(upgrade) !== undefined);
  const classes = counted(failed.map((upgrade) => classOf(upgrade) ?? ''));
  const causes = counted(failed.map((upgrade) => `"${reasonOf(upgrade)}"`));
  const more = causes.length - causesShownMax;
  const shown = causes.slice(0, causesShownMax).join(', ');
  return `${classes.join(', ')}; by reason: ${shown}${more > 0 ? `, and ${more} more reasons` : ''}`;
}

function counted(words: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]).map(([word, count]) => `${count} ${word}`);
}

function classOf(upgrade: Upgrade): UpgradeFailureClass | undefined {
  return isFailed(upgrade.progress.state) && 'failureClass' in upgrade.progress
    ? upgrade.progress.failureClass
    : undefined;
}

function reasonOf(upgrade: Upgrade): string {
  return 'reason' in upgrade.progress ? (upgrade.progress.reason ?? '') : '';
}

function simplified(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}
