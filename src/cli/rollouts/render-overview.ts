import { sumOf } from '../../base/grouping.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { PolicyNeed, PolicyStatus, PolicyStatuses } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { approvalTexts } from '../../rollout/messages/eta-texts.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import { compareUrgency } from '../../rollout/status/compare-urgency.ts';
import { failedOf } from '../../rollout/status/failed-aside.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showMinute } from '../shell/show-instant.ts';
import { doneText, stayText } from './done-text.ts';
import { type Fit, fitLines, widest } from './fit-lines.ts';
import { headlineColor, headlineText, needHeadline } from './headline-text.ts';
import { wholeSeconds } from './render-status.ts';

/** A policy with its most important rollout: one that needs a person, else the newest running one. */
export interface PolicyRow {
  readonly policy: string;
  readonly status: RolloutStatus | undefined;
  readonly policyStatus: PolicyStatus | undefined;
  /** What the policy waits for while no rollout of it runs; absent: no operator. */
  readonly needs?: PolicyNeed;
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
      const policyStatus = policies.find((each) => each.policy === policy);
      const needs = status === undefined || status.endedAt !== null ? policyStatus?.needs : undefined;
      return { policy, status, policyStatus, ...(needs !== undefined && { needs }) };
    })
    .toSorted((a, b) => compareUrgency(rankedOf(a), rankedOf(b)));
}

function rankedOf({ policy, needs, status }: PolicyRow) {
  return needs === undefined ? status : { policy, needs };
}

const nameMax = 20;
const headlineMax = 36;
const doneMin = 11;

/** The columns before the figures of each row. */
interface Layout {
  readonly nameWidth: number;
  readonly headlines: readonly string[];
  readonly headlineWidth: number;
  readonly doneMin: number;
}

/**
 * One line for each policy: name, headline, progress, failures and ETA. Where a line has no room for its ETA, headlines lack the
 * name of the wave. Why a policy has no rollout may take further lines, because only these words name what an operator has to do.
 * @returns the lines of each row
 */
export function renderOverview(
  rows: readonly PolicyRow[],
  now: EpochMs,
  { paint, columns = Number.POSITIVE_INFINITY }: Pick<ConsoleOutput, 'paint' | 'columns'>,
): ReadonlyArray<readonly string[]> {
  const layout = chooseLayout(rows, now, columns);
  const { nameWidth, headlines, headlineWidth } = layout;
  return rows.map(({ policy, status, policyStatus, needs }, index) => {
    const name = cut(toPrintable(policy), nameWidth).padEnd(nameWidth);
    const headline = cut(headlines[index] ?? '', headlineWidth).padEnd(headlineWidth);
    const labelColumns = labelColumnsOf(layout);
    if (needs !== undefined) {
      const [first = '', ...more] = needLines(policy, needs, { paint, width: columns, labelColumns });
      return [`${paint('bold', name)}  ${paint('yellow', headline)}  ${first.slice(labelColumns)}`, ...more];
    }
    if (status === undefined) {
      const [first = '', ...more] = fitLines('', [whyNoneText(policyStatus, now)], {
        width: columns,
        labelColumns,
      });
      const words = first.slice(labelColumns);
      return [`${paint('bold', name)}  ${paint('dim', headline)}  ${words}`.trimEnd(), ...more];
    }
    const { done, failed, held } = figuresOf(status, layout);
    const room = roomAfter(status, layout, columns);
    // Half a time would be read as another time.
    const last = lastTexts(status, now).find(({ length }) => length <= room) ?? '';
    const line = `${paint('bold', name)}  ${paint(headlineColor(status), headline)}  ${done}`;
    return [`${line}${failed === '' ? '' : paint('red', failed)}${held}${last}`.trimEnd()];
  });
}

// The list keeps most of the screen.
const reasonLinesMax = 4;

/** What an operator does for a policy without a rollout, and why. */
export function needLines(policy: string, { reason }: PolicyNeed, fit: Fit): readonly string[] {
  const command = { text: `do upwave start ${quoteArgument(policy)}`, color: 'yellow' } as const;
  return [...fitLines('', [command], fit), ...fitLines('', [reason], fit, reasonLinesMax)];
}

/** The layout with the longest texts for the ETAs; of equal ones, the whole. */
function chooseLayout(rows: readonly PolicyRow[], now: EpochMs, columns: number): Layout {
  const whole = layoutOf(rows, 'whole');
  const short = layoutOf(rows, 'short');
  const countShortened = (layout: Layout) =>
    sumOf(rows, ({ status, needs }) => {
      if (status === undefined || needs !== undefined) return 0;
      const room = roomAfter(status, layout, columns);
      const texts = whenTexts(status, now);
      const fitting = texts.findIndex(({ length }) => length <= room);
      return fitting < 0 ? texts.length : fitting;
    });
  return countShortened(short) < countShortened(whole) ? short : whole;
}

function layoutOf(rows: readonly PolicyRow[], form: 'whole' | 'short'): Layout {
  const headlines = rows.map(({ status, needs }) => {
    if (needs !== undefined) return needHeadline(needs);
    return status === undefined ? 'no rollout yet' : headlineText(status, form);
  });
  const done = rows.flatMap(({ status, needs }) =>
    status === undefined || needs !== undefined ? [] : [doneText(status)],
  );
  return {
    nameWidth: Math.min(nameMax, widest(rows.map(({ policy }) => toPrintable(policy)))),
    headlines,
    headlineWidth: Math.min(headlineMax, widest(headlines)),
    doneMin: form === 'whole' ? doneMin : widest(done),
  };
}

function labelColumnsOf({ nameWidth, headlineWidth }: Layout): number {
  return nameWidth + headlineWidth + 4;
}

function figuresOf(status: RolloutStatus, layout: Layout) {
  const failed = failedOf(status);
  const held = sumOf(status.strata.held, ({ waiting }) => waiting);
  return {
    done: doneText(status).padStart(layout.doneMin),
    failed: failed === 0 ? '' : `  ${showCount(failed)} failed`,
    held: held === 0 ? '' : `  ${showCount(held)} held`,
  };
}

/** Columns that are free after the figures. */
function roomAfter(status: RolloutStatus, layout: Layout, columns: number): number {
  const { done, failed, held } = figuresOf(status, layout);
  return columns - labelColumnsOf(layout) - done.length - failed.length - held.length;
}

/** How many stay, and when the rollout ends: the end alone where there is no room for both. */
function lastTexts(status: RolloutStatus, now: EpochMs): readonly string[] {
  const stay = stayText(status);
  const whens = whenTexts(status, now);
  if (stay === '') return whens;
  return [...whens.map((when) => `  ${stay}${when}`), ...whens, `  ${stay}`];
}

/** Why the last scan of a policy without a rollout began none; when the next one is, where that is not known. */
function whyNoneText(policyStatus: PolicyStatus | undefined, now: EpochMs): string {
  const { lastScan = null, nextScanAt = null } = policyStatus ?? {};
  if (lastScan?.outcome === 'nothing') return lastScan.reason;
  return nextScanAt === null ? '' : `next scan ${showMinute(nextScanAt, now)}`;
}

/** When the rollout ends, the longest text first. A duration is never without its words, which give it its meaning. */
function whenTexts({ endedAt, eta }: RolloutStatus, now: EpochMs): readonly string[] {
  const texts = endedAt === null ? etaTexts(eta, now) : [showMinute(endedAt, now)];
  return texts.map((text) => `  ${text}`);
}

function etaTexts(eta: RolloutStatus['eta'], now: EpochMs): readonly string[] {
  const left = (at: EpochMs) => `${formatDuration(Math.max(1_000, wholeSeconds(at - now)))} left`;
  switch (eta?.kind) {
    case 'at':
      return [left(eta.at)];
    case 'afterApproval':
      return approvalTexts(eta, (at) => showMinute(at, now));
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
