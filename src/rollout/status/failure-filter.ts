import { mostFrequent } from '../../base/grouping.ts';
import { type UpgradeFailureClass, upgradeFailureClasses } from '../../base/vocabulary.ts';
import { upgradeText } from '../messages/upgrade-reasons.ts';
import type { Upgrade, UpgradeState } from '../model/upgrade.ts';
import { failureClassOf } from '../model/upgrade-figures.ts';
import type { FailedSummary } from '../verbs/refusal.ts';
import { containsInOrder } from './find-upgrades.ts';

/** A failed upgrade as the API shows it. */
export interface ShownFailure {
  readonly state: UpgradeState;
  /** null: it has not failed. */
  readonly failureClass: UpgradeFailureClass | null;
  readonly reason: string | null;
}

/** Makes the filter for the argument of `retry --cause`, as `makeShownFilter` does. */
export function makeFailureFilter(text: string): (upgrade: Upgrade) => boolean {
  const matches = makeShownFilter(text);
  return (upgrade) =>
    matches({
      state: upgrade.progress.state,
      failureClass: failureClassOf(upgrade) ?? null,
      reason: upgradeText(upgrade),
    });
}

/**
 * Makes the filter for the argument of `retry --cause`: the name of a failure class, or else a state or a part of the
 * reason as `status` and `explain` show it, where `…` matches anything. Case, spaces and dashes are ignored: `time-out` is
 * `timedOut`.
 */
export function makeShownFilter(text: string): (failure: ShownFailure) => boolean {
  const wanted = normalize(text);
  const named = upgradeFailureClasses.find((each) => normalize(each) === wanted);
  if (named !== undefined) return ({ failureClass }) => failureClass === named;
  const isTimeOut = wanted === 'timeout';
  const parts = wanted.split('…').filter((part) => part !== '');
  return ({ state, failureClass, reason }) => {
    if (failureClass === null) return false;
    if (isTimeOut && failureClass === 'timedOut') return true;
    return (
      normalize(state) === wanted || (parts.length > 0 && containsInOrder(normalize(reason ?? ''), parts))
    );
  };
}

const reasonsShownMax = 5;

/** Summarizes the failures, for an operator whose filter matched none. */
export function summarizeFailed(upgrades: readonly Upgrade[]): FailedSummary {
  const failed = upgrades.flatMap((upgrade) => {
    const failureClass = failureClassOf(upgrade);
    return failureClass === undefined ? [] : [{ failureClass, reason: upgradeText(upgrade) }];
  });
  const reasons = mostFrequent(failed.map(({ reason }) => reason));
  return {
    classes: mostFrequent(failed.map(({ failureClass }) => failureClass)).map(([failureClass, count]) => ({
      failureClass,
      count,
    })),
    reasons: reasons.slice(0, reasonsShownMax).map(([reason, count]) => ({ reason, count })),
    moreReasons: Math.max(0, reasons.length - reasonsShownMax),
  };
}

function normalize(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}
