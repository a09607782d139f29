import Table from 'cli-table3';
import { toPrintable } from '../../base/safe-text.ts';
import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import {
  leftOutLine,
  leftOutText,
  nobodyPlannedText,
  showLeftOut,
} from '../../rollout/messages/exclusions.ts';
import { durationText, expectedTexts, expectedWarnings } from '../../rollout/messages/plans.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { unweighedText } from '../../rollout/messages/stop-causes.ts';
import { countLeftOut } from '../../rollout/model/left-out.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Overlap } from '../../rollout/planning/overlap.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import { compileMatch, type EmptyMatch, findEmptyMatch } from '../../rollout/planning/selector.ts';
import { fitLines } from '../rollouts/fit-lines.ts';
import { windowText } from '../rollouts/waiting-text.ts';
import { showMinute } from '../shell/show-instant.ts';
import type { PlanFigures, WaveFigures } from './plan-figures.ts';
import { limitLines } from './policy-lines.ts';

/**
 * A plan as text: waves, collectors left out with their reasons, time, requests and warnings.
 * @param columns the width of the terminal; absent where the output is no terminal
 */
export function renderPlan(
  policy: Policy,
  plan: Plan,
  figures: PlanFigures,
  now: EpochMs,
  columns?: number,
): string {
  const { planned } = figures;
  const head = `${policy.name} → ${plan.targetBuild}   ${counted(planned, 'collector')}   plan ${plan.hash}`;
  const body =
    planned === 0
      ? [nobodyPlannedText(plan, emptyPart(policy, plan))]
      : [
          ...unmatchedLines(policy, plan),
          ...largeCanaryLines(policy, figures),
          ...uncoveredLines(figures),
          ...chainLines(policy, figures),
          ...unweighedLines(figures),
          ...windowLines(policy, figures, now),
          ...limitLines(policy),
          ...expectedLines(figures),
          ...(policy.approval ? ['approval: nothing starts before the plan is approved'] : []),
          estimateLine(policy, figures, now),
        ];
  const lines = [...body, ...leftOutLines(plan), ...unknownLines(policy)];
  return [
    toPrintable(head),
    ...(planned === 0 ? [] : [waveTable(figures)]),
    ...lines.flatMap((line) => fitted(line, columns)),
  ].join('\n');
}

function emptyPart({ select }: Policy, { leftOut }: Plan): EmptyMatch {
  return findEmptyMatch(
    select,
    leftOut.map(({ collector }) => collector),
  );
}

/** Wraps a sentence that is too long for the terminal, below its first word or label. */
export function fitted(line: string, columns: number | undefined): readonly string[] {
  const [label = ''] = /^[a-z ]{1,16}:/.exec(line) ?? [];
  const fit = { width: columns, labelColumns: label.length + 1 };
  const lines = fitLines(label, [line.slice(label.length).trim()], fit);
  return label === '' ? lines.map((each) => each.trimStart()) : lines;
}

/** Every collector of the plan with its wave, its place and its stratum, and every one that is left out. */
export function renderMembers(plan: Plan): string {
  const planned = plan.waves.flatMap(({ name, members }) =>
    members.map(({ collector, order, stratum }) => {
      const label = plan.groups.strata[stratum]?.label ?? '';
      return `  ${name}  ${order}  ${collector.id} ${collector.name}  ${collector.build}  ${label}`;
    }),
  );
  const out = plan.leftOut.map(
    ({ collector, kind }) =>
      `  left out  ${collector.id} ${collector.name}  ${collector.build}: ${leftOutText[kind]}`,
  );
  return [...planned, ...out].map(toPrintable).join('\n');
}

/** Two policies that want the same collectors, in words. */
export function overlapText({ policies: [first, second], count, names }: Overlap): string {
  const more = count > names.length ? ', …' : '';
  return `${first} and ${second} both claim ${counted(count, 'collector')} (${toPrintable(names.join(', '))}${more}); the policy that plans first gets them`;
}

function waveTable({ waves, strata }: PlanFigures): string {
  const table = new Table({
    head: ['wave', 'collectors', 'strata', 'soak', 'failures allowed', 'approval', 'gates'],
    style: { head: [], border: [] },
  });
  for (const wave of waves) {
    table.push([
      toPrintable(wave.name),
      showCount(wave.size),
      `${wave.strata}/${strata.total}`,
      formatDuration(wave.soakMs),
      allowedText(wave),
      wave.approval ? 'needed' : '',
      toPrintable(wave.gates.join(', ')),
    ]);
  }
  return table.toString();
}

function allowedText({ failuresAllowed, maxFailures }: WaveFigures): string {
  const isCount = maxFailures === String(failuresAllowed);
  return isCount ? maxFailures : `${failuresAllowed} (${maxFailures})`;
}

function unmatchedLines(policy: Policy, plan: Plan): readonly string[] {
  const [rule] = policy.waves;
  const [member] = plan.waves[0]?.members ?? [];
  if (rule === undefined || member === undefined || compileMatch(rule.match)(member.collector)) return [];
  return [
    `match: that of wave ${rule.name} matches nothing here, so the wave takes one collector of each stratum`,
  ];
}

// A fleet this small has a large first wave in any case.
const smallPlan = 20;
const largeShare = 1 / 4;

/** A first wave that is large because the fleet has many strata: few collectors are left to be protected by it. */
function largeCanaryLines(policy: Policy, { planned, waves }: PlanFigures): readonly string[] {
  const [first] = waves;
  const isPerStratum = policy.waves[0]?.size.kind === 'perStratum';
  if (first === undefined || !isPerStratum || planned < smallPlan || first.size <= planned * largeShare)
    return [];
  const keys = policy.spreadBy.join(', ');
  return [
    `canary: the first wave has ${showCount(first.size)} of ${showCount(planned)} collectors, because the fleet has so many strata; fewer keys in spreadBy (${keys}) make it smaller`,
  ];
}

// The largest ones: more would hide the lines after them.
const uncoveredShownMax = 5;

function uncoveredLines({ strata: { total, uncovered }, waves }: PlanFigures): readonly string[] {
  // A single wave has no wave before it, so the line would always be the same.
  if (uncovered.count === 0 || waves.length < 2) return [];
  const shown = uncovered.labels.slice(0, uncoveredShownMax);
  const more = uncovered.count > shown.length ? '; …' : '';
  return [
    `uncovered: ${uncovered.count} of ${total} strata ${singularOrPlural(uncovered.count, 'is', 'are')} in no wave before the last: ${shown.join('; ')}${more}`,
  ];
}

function expectedLines({ expectedFailures, planned }: PlanFigures): readonly string[] {
  if (expectedFailures === null) return [];
  return [...expectedTexts(expectedFailures, planned), ...expectedWarnings(expectedFailures)].map(
    (text) => `expected: ${text}`,
  );
}

function chainLines({ maxInFlightPer }: Policy, { waves }: PlanFigures): readonly string[] {
  const longest = waves.reduce((most, wave) => (wave.chain > most.chain ? wave : most), {
    name: '',
    chain: 1,
  });
  if (longest.chain <= 1) return [];
  const caps = maxInFlightPer.map(({ key, cap }) => `${key}: ${cap}`).join(', ');
  return [
    `caps: in wave ${longest.name} up to ${longest.chain} collectors have to wait for each other (${caps})`,
  ];
}

function unweighedLines({ unweighedFields }: PlanFigures): readonly string[] {
  const words = unweighedText(unweighedFields);
  return words === '' ? [] : [`fields: ${words}`];
}

function windowLines({ upgrade }: Policy, { window }: PlanFigures, now: EpochMs): readonly string[] {
  if (window === null) return [];
  const lines = [`window: ${windowText(window, now)}`];
  if (!window.isLongEnough) {
    const expected = formatDuration(upgrade.expectMs);
    lines.push(
      `window: none is open as long as an upgrade is expected to take (${expected}), so nothing would start; widen windows, or lower upgrade.expect`,
    );
  }
  return lines;
}

function estimateLine(policy: Policy, { estimate, waves }: PlanFigures, now: EpochMs): string {
  const { endsAt, plusMinusMs, requests } = estimate;
  const lasts = durationText({
    durationMs: endsAt === null ? null : endsAt - now,
    ...{ plusMinusMs, requests },
  });
  if (endsAt === null) return `needs ${lasts}`;
  const isApproved = policy.approval || waves.some(({ approval }) => approval);
  // Without an approval nobody knows the end.
  const end = isApproved ? 'without the wait for approval' : `would end about ${showMinute(endsAt, now)}`;
  return `takes ${lasts}, ${end}`;
}

function leftOutLines(plan: Plan): readonly string[] {
  const reasons = showLeftOut(countLeftOut(plan.leftOut.map(({ kind }) => kind)));
  return reasons.length === 0 ? [] : [`left out: ${leftOutLine(reasons)}`];
}

function unknownLines({ target: { minimumAgeMs } }: Policy): readonly string[] {
  if (minimumAgeMs === 0) return [];
  const age = formatDuration(minimumAgeMs);
  return [`only the daemon knows the age of the build (at least ${age} is required)`];
}
