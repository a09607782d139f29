import { mostFrequent } from '../../base/grouping.ts';
import { type UpgradeFailureClass, upgradeFailureClasses } from '../../base/vocabulary.ts';
import { upgradeText } from '../messages/upgrade-reasons.ts';
import { reasonOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { failureClassOf } from '../model/upgrade-figures.ts';
import type { FailedSummary } from '../verbs/refusal.ts';

/** The cause of an upgrade's state as the API shows it. */
export interface ShownCause {
  readonly state: UpgradeState;
  /** null: it has not failed. */
  readonly failureClass: UpgradeFailureClass | null;
  readonly reasonKind: string | null;
  readonly reason: string | null;
}

export function shownCauseOf(upgrade: Upgrade): ShownCause {
  return {
    state: upgrade.progress.state,
    failureClass: failureClassOf(upgrade) ?? null,
    reasonKind: reasonOf(upgrade)?.kind ?? null,
    reason: upgradeText(upgrade),
  };
}

/** Makes the filter for the argument of `retry --cause`: only what has failed. */
export function makeFailureFilter(text: string): (shown: ShownCause) => boolean {
  const matches = makeCauseFilter(text);
  return (shown) => shown.failureClass !== null && matches(shown);
}

/**
 * Makes the filter for the argument of `--cause`. A failure class as it is spelled, such as `retry`, means this class only. Else
 * it is a class, a state, a kind of reason, or a part of the reason as `status` and `explain` show it, where `…` matches
 * anything. Case, spaces and dashes are ignored then.
 */
export function makeCauseFilter(text: string): (shown: ShownCause) => boolean {
  const named = upgradeFailureClasses.find((each) => each === text.trim());
  const wanted = normalize(text);
  if (named !== undefined) return ({ failureClass }) => failureClass === named;
  const isTimeOut = wanted === 'timeout';
  const parts = wanted.split('…').filter((part) => part !== '');
  return ({ state, failureClass, reasonKind, reason }) =>
    (isTimeOut && failureClass === 'timedOut') ||
    [state, failureClass ?? '', reasonKind ?? ''].some((name) => normalize(name) === wanted) ||
    (parts.length > 0 && containsInOrder(normalize(reason ?? ''), parts));
}

/** Whether a text has all parts, one after the other. */
function containsInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
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
  return text.toLowerCase().replaceAll(/[-_\s]/g, '');
}
