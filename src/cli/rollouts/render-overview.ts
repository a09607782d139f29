import { sumOf } from '../../base/grouping.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { PolicyStatus, PolicyStatuses } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { compareUrgency } from '../../rollout/status/compare-urgency.ts';
import { failedOf } from '../../rollout/status/failed-aside.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showMinute } from '../shell/show-instant.ts';
import { doneText, stayText } from './done-text.ts';
import { fitLines, widest } from './fit-lines.ts';
import { headlineColor, headlineText } from './headline-text.ts';
import { wholeSeconds } from './render-status.ts';

/** A policy with its most important rollout: one that needs a person, else the newest running one. */
export interface PolicyRow {
  readonly policy: string;
  readonly status: RolloutStatus | undefined;
  readonly policyStatus: PolicyStatus | undefined;
}

/** One row for each policy, those that need a person first. @param newestFirst the current rollouts */
export function policyRows(
  newestFirst: readonly RolloutStatus[],
  { policies }: Pick<PolicyStatuses, 'policies'>,
): readonly PolicyRow[] {
  const names = new Set([
    ...newestFirst.map(({ policy }) => policy),
    ...policies.map(({ policy }) => policy),
  ]);
  return [...names]
    .map((policy): PolicyRow => {
      const own = newestFirst.filter((status) => status.policy === policy);
      const [status] = own.toSorted(compareUrgency);
      return { policy, status, policyStatus: policies.find((each) => each.policy === policy) };
    })
    .toSorted((a, b) => compareUrgency(a.status, b.status));
}

const nameMax = 20;
const headlineMax = 36;
const doneMin = 11;

/**
 * One line for each policy: name, headline, progress, failures and ETA. Why a policy has no rollout may take further lines,
 * because only these words name what an operator has to do.
 * @returns the lines of each row
 */
export function renderOverview(
  rows: readonly PolicyRow[],
  now: EpochMs,
  { paint, columns }: Pick<ConsoleOutput, 'paint' | 'columns'>,
): ReadonlyArray<readonly string[]> {
  const nameWidth = Math.min(nameMax, widest(rows.map(({ policy }) => toPrintable(policy))));
  const headlines = rows.map(({ status }) =>
    status === undefined ? 'no rollout yet' : headlineText(status),
  );
  const headlineWidth = Math.min(headlineMax, widest(headlines));
  return rows.map(({ policy, status, policyStatus }, index) => {
    const name = cut(toPrintable(policy), nameWidth).padEnd(nameWidth);
    const headline = cut(headlines[index] ?? '', headlineWidth).padEnd(headlineWidth);
    const labelColumns = nameWidth + headlineWidth + 4;
    if (status === undefined) {
      const [first = '', ...more] = fitLines('', [whyNoneText(policyStatus, now)], {
        width: columns,
        labelColumns,
      });
      const words = first.slice(labelColumns);
      return [`${paint('bold', name)}  ${paint('dim', headline)}  ${words}`.trimEnd(), ...more];
    }
    const failed = failedOf(status);
    const failedText = failed === 0 ? '' : `  ${failed} failed`;
    const held = sumOf(status.strata.held, ({ waiting }) => waiting);
    const heldText = held === 0 ? '' : `  ${held} held`;
    const done = doneText(status).padStart(doneMin);
    const room = (columns ?? Number.POSITIVE_INFINITY) - labelColumns;
    const takenColumns = done.length + failedText.length + heldText.length;
    const last = lastTexts(status, now).find(({ length }) => takenColumns + length <= room) ?? '';
    const line = `${paint('bold', name)}  ${paint(headlineColor(status), headline)}  ${done}`;
    const figures = `${line}${failed === 0 ? '' : paint('red', failedText)}${heldText}`;
    // Half a time would be read as another time.
    return [`${figures}${last}`.trimEnd()];
  });
}

/** How many stay, and when the rollout ends: the end alone where there is no room for both. */
function lastTexts(status: RolloutStatus, now: EpochMs): readonly string[] {
  const stay = stayText(status);
  const whens = whenTexts(status, now).map((when) => `  ${when}`);
  if (stay === '') return whens;
  return [...whens.map((when) => `  ${stay}${when}`), ...whens, `  ${stay}`];
}

/** Why the last scan of a policy without a rollout began none; when the next one is, where that is not known. */
function whyNoneText(policyStatus: PolicyStatus | undefined, now: EpochMs): string {
  const { lastScan = null, nextScanAt = null } = policyStatus ?? {};
  if (lastScan?.outcome === 'nothing') return lastScan.reason;
  return nextScanAt === null ? '' : `next scan ${showMinute(nextScanAt, now)}`;
}

/** When the rollout ends, the longest text first. */
function whenTexts({ endedAt, eta }: RolloutStatus, now: EpochMs): readonly string[] {
  if (endedAt !== null) return [showMinute(endedAt, now)];
  const remaining = (at: EpochMs) => formatDuration(Math.max(1_000, wholeSeconds(at - now)));
  const left = (at: EpochMs) => `${remaining(at)} left`;
  switch (eta?.kind) {
    case 'at':
      return [left(eta.at), remaining(eta.at)];
    case 'afterApproval': {
      const after = formatDuration(eta.durationMs);
      return [`${after} after approval`, after];
    }
    case 'atTheLatest': {
      const latest = showMinute(eta.at, now);
      const most = eta.othersAt === null ? [] : [`${left(eta.othersAt)} (at the latest ${latest})`];
      return [...most, `by ${latest}`];
    }
    default:
      return [];
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`;
}
