import { toPrintable } from '../../base/safe-text.ts';
import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { etaText } from '../../rollout/messages/eta-texts.ts';
import { targetText } from '../../rollout/messages/plans.ts';
import { counted, starterText } from '../../rollout/messages/sentences.ts';
import {
  commandFor,
  commandName,
  holdCommandOf,
  quoteArgument,
  releaseCommandOf,
  releasedMax,
} from '../../rollout/status/command-for.ts';
import { failedOf } from '../../rollout/status/failed-aside.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showComing } from '../shell/show-instant.ts';
import { type CausesCut, causeLines, causesCuts, lastCauseLines } from './cause-lines.ts';
import { type DueStep, dueSteps, isHoldDue } from './due-steps.ts';
import { type Fit, fitLines, type Part, usualWidth } from './fit-lines.ts';
import { headlineColor, headlineText } from './headline-text.ts';
import { leftBehindText } from './left-behind-text.ts';
import { renderWaves } from './render-waves.ts';
import { whyLines } from './why-lines.ts';

const barWidth = 26;

const indent = ' '.repeat(8);

// `plan` and `--json` list all left-out collectors with their reasons, and all builds.
const planLinesMax = 1;
const fromBuildsShownMax = 2;

// `status` has room for a few; the plan names more.
const uncoveredShownMax = 3;

/** A terminal has 24 rows, and the prompt takes one of them. */
export const usualRows = 23;

export interface StatusStyle extends Pick<ConsoleOutput, 'paint' | 'columns'> {
  /** False: the daemon and its records are gone when a person reads this, so no verb is offered. Default: true. */
  readonly canBeAsked?: boolean;
  /** Lists are cut to keep to this many lines. Default: the rows of a small terminal. */
  readonly rows?: number;
  /** Reasons, the first cause and the waves around the open one are cut only to keep to this many lines. Default: `rows`. */
  readonly rowsMax?: number;
}

interface Canvas extends Pick<ConsoleOutput, 'paint'> {
  readonly width: number;
}

interface Detail {
  readonly causes: CausesCut;
  readonly asideMax: number;
  /** Where they have this many lines, waves are left out. */
  readonly wavesMin: number;
  /** Each wave may be cut to one line. */
  readonly shortWaves: boolean;
  /** Held strata where nothing waits have their release, too. Default: they are cut. */
  readonly wholeHeld?: boolean;
  /** Held builds and strata are cut to this many lines each. Default: they are whole. */
  readonly heldMax?: number;
  /** What is left out besides; default: nothing. */
  readonly without?: 'plan' | 'planAndOtherCauses';
}

// The headline, and the reason in a few lines.
const whyMin = 4;

// Room for four waves, and for the line that counts the others.
const wavesWanted = 5;

const [allCauses, ...fewerCauses] = causesCuts;
const oneCause = causesCuts.at(-1) ?? allCauses;
const noCause: CausesCut = { ...oneCause, causesMax: 0 };
const noLimit = Number.POSITIVE_INFINITY;

/** Lists are cut in this order to keep to `rows`. The first detail that fits is shown. */
const details: readonly Detail[] = [
  { causes: allCauses, asideMax: noLimit, wavesMin: noLimit, shortWaves: false, wholeHeld: true },
  { causes: allCauses, asideMax: 1, wavesMin: noLimit, shortWaves: false, wholeHeld: true },
  { causes: allCauses, asideMax: 1, wavesMin: noLimit, shortWaves: false },
  ...fewerCauses.map((causes) => ({ causes, asideMax: 1, wavesMin: noLimit, shortWaves: false })),
  // The lines that this frees are for causes again.
  ...fewerCauses.map((causes) => ({ causes, asideMax: 1, wavesMin: noLimit, shortWaves: true })),
  { causes: oneCause, asideMax: 1, wavesMin: wavesWanted, shortWaves: true },
  { causes: oneCause, asideMax: 0, wavesMin: wavesWanted, shortWaves: true },
];

/** Then in this order to keep to `rowsMax`. One cause stays, and the open wave before what is held is whole. */
const shortDetails: readonly Detail[] = [
  { causes: oneCause, asideMax: 0, wavesMin: 2, shortWaves: true },
  { causes: noCause, asideMax: 0, wavesMin: 2, shortWaves: true, without: 'plan' },
  ...[
    { wavesMin: 2, heldMax: 2 },
    { wavesMin: 1, heldMax: 2 },
    { wavesMin: 1, heldMax: 1 },
  ].map((cut) => ({
    ...{ causes: noCause, asideMax: 0, shortWaves: true, without: 'planAndOtherCauses' as const },
    ...cut,
  })),
];

/**
 * A rollout at a glance: state, reasons, blockers and legal verbs first, then progress, safety and ETA (DESIGN §5). Lists are cut
 * before reasons. Held strata where nothing waits are cut before lists.
 */
export function renderStatus(
  status: RolloutStatus,
  now: EpochMs,
  { paint, columns, canBeAsked = true, rows = usualRows, rowsMax = rows }: StatusStyle,
): string {
  const fit: Canvas = { paint, width: columns ?? usualWidth };
  const act = canBeAsked ? fitLines('do', verbParts(status), fit) : [];
  const head = headLines(status, now, fit);
  const whyIn = ({ wholeHeld = false, heldMax }: Pick<Detail, 'wholeHeld' | 'heldMax'>) => [
    ...head,
    ...whyLines(status, now, fit, { cutsIdle: !wholeHeld, ...(heldMax !== undefined && { heldMax }) }),
  ];
  const progress = fitLines('all', progressParts(status, fit), fit);
  const waves = renderWaves(status, now, fit);
  const shortWaves = renderWaves(status, now, fit, 1);
  const end = endLines(status, now, fit);
  const plan = fitLines('plan', planParts(status), fit, planLinesMax);
  const report = canBeAsked ? `: upwave report ${quoteArgument(status.id)}` : '';
  const linesIn = (detail: Detail, linesMax: number): readonly string[] | undefined => {
    const { causes: cut, asideMax, wavesMin, shortWaves: mayCut, without } = detail;
    const hintsHold = canBeAsked && !isHoldDue(status);
    const causes =
      without === 'planAndOtherCauses'
        ? lastCauseLines(status, fit)
        : causeLines(status, fit, { canBeAsked, hintsHold, cut });
    const aside = asideLines(status, fit, { asideMax, report });
    const last = without === undefined ? [...end, ...plan] : end;
    const first = [...whyIn(detail), ...act];
    const fixed = [first, progress, causes, aside, last].reduce((sum, { length }) => sum + length, 0);
    const room = Math.max(rows - fixed, Math.min(linesMax - fixed, wavesWanted));
    const forms = mayCut ? [waves, shortWaves] : [waves];
    const whole = forms.find((lines) => lines.flat().length <= room)?.flat();
    if (whole === undefined && room < wavesMin) return undefined;
    const shown = whole ?? cutWaves(status, shortWaves, room, report);
    return [...first, ...progress, ...shown, ...causes, ...aside, ...last];
  };
  const tries = [
    ...details.map((detail) => ({ detail, linesMax: rows })),
    ...shortDetails.map((detail) => ({ detail, linesMax: rowsMax })),
  ];
  for (const { detail, linesMax } of tries) {
    const lines = linesIn(detail, linesMax);
    if (lines !== undefined) return lines.join('\n');
  }
  const cause = lastCauseLines(status, fit);
  const rest = [...end, ...plan];
  return withoutWaves({ why: whyIn({ heldMax: 1 }), act, progress, cause, rest }, rowsMax).join('\n');
}

type Lines = readonly string[];

/** The reasons fill the lines, so they are cut. The verbs stay, and before the figures the cause where there is room for a few reasons. */
function withoutWaves(
  { why, act, progress, cause, rest }: Readonly<Record<'why' | 'act' | 'progress' | 'cause' | 'rest', Lines>>,
  rowsMax: number,
): Lines {
  const least = [...why, ...act, ...progress, ...cause];
  if (least.length <= rowsMax) return [...least, ...rest].slice(0, rowsMax);
  const room = rowsMax - act.length - 1;
  const hasCause = room - cause.length >= whyMin;
  const kept = cutLines(why, Math.max(1, hasCause ? room - cause.length : room));
  return [...kept, ...act, ...(hasCause ? cause : [])].slice(0, rowsMax);
}

function cutLines(lines: readonly string[], max: number): readonly string[] {
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max), `${indent}… ${lines.length - max} more`];
}

/** The wave under way and those around it, in the order of the plan. */
function cutWaves(
  { waves }: Pick<RolloutStatus, 'waves'>,
  lines: ReadonlyArray<readonly string[]>,
  room: number,
  report: string,
): readonly string[] {
  const firstOpen = waves.findIndex(({ state }) => state !== 'passed');
  const current = firstOpen < 0 ? waves.length - 1 : firstOpen;
  const byDistance = [...lines.keys()].sort((a, b) => Math.abs(a - current) - Math.abs(b - current) || b - a);
  const kept = new Set<number>();
  let left = room - 1;
  for (const index of byDistance) {
    left -= lines[index]?.length ?? 0;
    if (left < 0) break;
    kept.add(index);
  }
  const more = lines.length - kept.size;
  return [
    ...lines.filter((_line, index) => kept.has(index)).flat(),
    `${indent}… ${more}${kept.size > 0 ? ' more' : ''} ${singularOrPlural(more, 'wave', 'waves')}${report}`,
  ];
}

// A reason, and the first names.
const asideLinesMax = 2;

/**
 * Collectors that a rollback leaves behind, and strata that no wave before the last one has.
 * @param cut.asideMax how many of these are shown; a few take two lines each
 */
function asideLines(
  status: RolloutStatus,
  fit: Fit,
  { asideMax, report }: { readonly asideMax: number; readonly report: string },
): readonly string[] {
  const items = [
    ...leftBehindText(status).map((words, index) => [index === 0 ? 'left' : '', words] as const),
    ...uncoveredParts(status).map((words) => ['strata', words] as const),
  ];
  const isCut = asideMax !== Number.POSITIVE_INFINITY;
  const more = items.length - asideMax;
  return [
    ...items
      .slice(0, asideMax)
      .flatMap(([label, words]) => fitLines(label, [words], fit, isCut ? asideLinesMax : undefined)),
    ...(asideMax > 0 && more > 0 ? [`${indent}… ${counted(more, 'more reason')}${report}`] : []),
  ];
}

/** `production-20261122-3  → 19.536-4     NEEDS YOU: approve wave rest     1m12s`, in two lines where it does not fit one. */
function headLines(status: RolloutStatus, now: EpochMs, { paint, width }: Canvas): readonly string[] {
  const name = toPrintable(status.id);
  const target = `  → ${toPrintable(targetText(status))}`;
  const headline = headlineText(status);
  const lasts = formatDuration(wholeSeconds((status.endedAt ?? now) - status.createdAt));
  const painted = paint(['bold', headlineColor(status)], headline);
  const used = name.length + target.length + headline.length + lasts.length;
  const gapMin = 2;
  if (used + 2 * gapMin > width) {
    const gap = ' '.repeat(Math.max(gapMin, width - headline.length - lasts.length));
    return [`${paint('bold', name)}${target}`, `${painted}${gap}${lasts}`];
  }
  const free = width - used;
  const before = Math.max(gapMin, Math.min(free - gapMin, headlineColumn - name.length - target.length));
  return [
    `${paint('bold', name)}${target}${' '.repeat(before)}${painted}${' '.repeat(free - before)}${lasts}`,
  ];
}

const headlineColumn = 41;

/** A duration rounded to seconds. */
export function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1_000)) * 1_000;
}

function progressParts(status: RolloutStatus, { width }: Canvas): readonly Part[] {
  const { counts, planned, waves, inFlight, concurrency } = status;
  const failed = failedOf(status);
  const setAside = waves.reduce((sum, wave) => sum + wave.setAside, 0);
  const others: ReadonlyArray<readonly [number, string]> = [
    [counts.pending, `${showCount(counts.pending)} to do`],
    [inFlight, `${showCount(inFlight)}/${showCount(concurrency)} in flight`],
    [counts.verifying, `${showCount(counts.verifying)} verifying`],
    [counts.retrying, `${showCount(counts.retrying)} to retry`],
    [counts.deferred, `${showCount(counts.deferred)} deferred`],
    [counts.withdrawn, `${showCount(counts.withdrawn)} withdrawn`],
    [counts.rolledBack, `${showCount(counts.rolledBack)} rolled back`],
    [setAside, `${showCount(setAside)} set aside`],
  ];
  const failedText = `${showCount(failed)} failed`;
  const bar = drawBar(counts.succeeded, planned, width < usualWidth ? 10 : barWidth);
  return [
    `${bar}  ${showCount(counts.succeeded)}/${showCount(planned)}`,
    failed > 0 ? { text: failedText, color: 'red' } : failedText,
    ...others.filter(([count]) => count > 0).map(([, words]) => words),
  ];
}

function drawBar(done: number, total: number, width: number): string {
  const filled = total === 0 ? width : Math.floor((done / total) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

function uncoveredParts({ strata: { total, uncovered }, waves, endedAt }: RolloutStatus): readonly string[] {
  const last = waves.at(-1);
  const isYetToCome = last?.state === 'waiting' || last?.state === 'awaitingApproval';
  if (uncovered.count === 0 || waves.length < 2 || !isYetToCome || endedAt !== null) return [];
  const labels = uncovered.labels.slice(0, uncoveredShownMax);
  const more = uncovered.count > labels.length ? '; …' : '';
  const words = `${uncovered.count} of ${total} strata ${singularOrPlural(uncovered.count, 'is', 'are')} in no wave before ${last.name}`;
  return [`${words}: ${labels.join('; ')}${more}`];
}

/** The ETA, and the requests to the service. */
function endLines({ eta, api }: RolloutStatus, now: EpochMs, fit: Fit): readonly string[] {
  if (eta === null && api === null) return [];
  const parts: Part[] = eta === null ? [] : [etaText(eta, (at) => showComing(at, now))];
  if (api !== null) {
    const { requestsPerSecond, requestsPerSecondNow, requestsPerSecondMax, rateLimited } = api;
    const [allowed, most] = [shownRate(requestsPerSecondNow), shownRate(requestsPerSecondMax)];
    parts.push(
      `${requestsPerSecond.toFixed(1)}/${allowed} requests/s`,
      ...(allowed === most ? [] : [`lowered from ${most} by 429s`]),
      ...(rateLimited === 0 ? [] : [{ text: `429s ${rateLimited}`, color: 'red' } as const]),
    );
  }
  return fitLines('end', parts, fit);
}

function shownRate(requestsPerSecond: number): string {
  return String(Number(requestsPerSecond.toFixed(2)));
}

/** The plan: its hash for verbs, its author, the collectors left out, and the builds. */
function planParts({ planHash, startedBy, fromBuilds, leftOut }: RolloutStatus): readonly Part[] {
  const more = fromBuilds.length > fromBuildsShownMax ? ', …' : '';
  const leftOutCount = leftOut.reduce((sum, { count }) => sum + count, 0);
  return [
    `${planHash} by ${starterText(startedBy)}`,
    ...(leftOut.length === 0 ? [] : [`${showCount(leftOutCount)} left out`]),
    ...(fromBuilds.length === 0 ? [] : [`from ${fromBuilds.slice(0, fromBuildsShownMax).join(', ')}${more}`]),
  ];
}

/** Asked for again, a rollback starts outside its window. */
function startsNow({ kind, window }: RolloutStatus): boolean {
  return kind === 'rollback' && window?.isOpen === false;
}

/** The most likely command in full, then the other legal verbs. Each of those shows what it would do, and asks. */
function verbParts(status: RolloutStatus): readonly Part[] {
  const { verbs, endedAt, recordUnreadable } = status;
  const steps = dueSteps(status);
  if (steps.length === 0) {
    if (endedAt !== null) return ['nothing: it is over'];
    const isNewer = recordUnreadable === 'newer';
    return [
      isNewer ? 'nothing here: a daemon of the newer version continues it' : 'nothing: it ends automatically',
    ];
  }
  const asked = steps.flatMap((step) => {
    const text = commandOf(step, status);
    return text === undefined ? [] : [{ text, step }];
  });
  const texts = asked.map(({ text }, index) => {
    const next = asked[index + 1]?.step;
    if (next === undefined) return text;
    return next.kind === 'releaseFirst' ? `${text} (ends without them), or` : `${text}, then`;
  });
  const others = verbs
    .filter((verb) => !steps.some((step) => step.kind === 'verb' && step.verb === verb))
    .map((verb) => (verb === 'rollback' && startsNow(status) ? 'rollback --now' : commandName(verb)));
  return [
    ...texts.map((text): Part => (status.headline.needsPerson ? { text, color: 'yellow' } : text)),
    ...(others.length === 0 ? [] : [`| ${others.join(' | ')}`]),
  ];
}

function commandOf(step: DueStep, status: RolloutStatus): string | undefined {
  switch (step.kind) {
    case 'hold':
      return holdCommandOf(status);
    case 'release':
      return releaseCommandOf(step.released.subjects);
    case 'releaseFirst': {
      const { subjects } = step.released;
      const command = releaseCommandOf(subjects);
      return subjects.length > releasedMax ? `release some of them first: ${command}` : `${command} first`;
    }
    case 'verb':
      return commandFor(status, step.verb);
    default:
      return step satisfies never;
  }
}
