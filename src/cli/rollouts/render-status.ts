import { toPrintable } from '../../base/safe-text.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { BlockerKind } from '../../base/vocabulary.ts';
import { starterWords } from '../../rollout/messages/sentences.ts';
import type { RolloutState } from '../../rollout/model/rollout.ts';
import { commandFor, commandNames, quoteArgument } from '../../rollout/status/command-for.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';
import type { RolloutVerb } from '../../rollout/verbs/verbs.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showInstant } from '../shell/show-instant.ts';
import { causeLines } from './cause-lines.ts';
import { etaWords } from './eta-words.ts';
import { type Fit, fitLines, type Part, usualWidth } from './fit-lines.ts';
import { headlineColor, headlineWords } from './headline-words.ts';
import { leftBehindWords } from './left-behind-words.ts';
import { failedOf, renderWaves } from './render-waves.ts';
import { outageWords, windowWords } from './waiting-words.ts';

const barWidth = 26;

// Who is left out, and why, stands whole in `plan` and in `--json`; so do all the builds.
const planLinesMax = 1;
const fromBuildsShownMax = 2;

// A build that is bad for an operating system holds a stratum for each of its versions.
const heldShownMax = 1;

// The header has room for these.
const backToShownMax = 3;

// A glance has room for a few; the plan names more of them.
const uncoveredShownMax = 3;

export interface StatusStyle extends Pick<ConsoleOutput, 'paint' | 'columns'> {
  /** False: the daemon and its records are gone when a person reads this, so no verb is offered. True, where left out. */
  readonly canBeAsked?: boolean;
}

/** A rollout in one glance: where, is it safe, why waiting, when done, what can I do (DESIGN §5). */
export function renderStatus(
  status: RolloutStatus,
  now: EpochMs,
  { paint, columns, canBeAsked = true }: StatusStyle,
): string {
  const fit: Fit = { paint, width: columns ?? usualWidth };
  const line = (label: string, ...parts: readonly Part[]) => fitLines(label, parts, fit);
  return [
    ...headLines(status, now, fit),
    ...line('all', ...progressParts(status, fit)),
    ...renderWaves(status, now, fit),
    ...causeLines(status, fit, { canBeAsked }),
    ...[
      ...stateParts(status),
      ...driftParts(status),
      ...heldParts(status),
      ...rollbackParts(status),
      ...waitParts(status, now),
      ...windowParts(status, now),
      ...uncoveredParts(status),
    ].flatMap(([label, text]) => line(label, text)),
    ...endLines(status, now, fit),
    ...fitLines('plan', planParts(status), fit, planLinesMax),
    ...(canBeAsked ? line('do', ...verbParts(status)) : []),
  ].join('\n');
}

/** `production-20261122-3  → 19.536-4     NEEDS YOU: approve wave rest     1m12s`, in two lines where one has no room. */
function headLines(status: RolloutStatus, now: EpochMs, { paint, width }: Fit): readonly string[] {
  const name = toPrintable(status.id);
  const target = `  → ${toPrintable(targetWords(status))}`;
  const headline = headlineWords(status);
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

/** Milliseconds without a part of a second, for a person. */
export function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1_000)) * 1_000;
}

/** A rollback goes to as many builds as its collectors had. */
function targetWords({ targetBuild, backTo }: RolloutStatus): string {
  if (backTo.length < 2) return targetBuild;
  const shown = backTo.slice(0, backToShownMax).join(', ');
  return backTo.length > backToShownMax ? `${shown}, … (${backTo.length} builds)` : shown;
}

function progressParts(status: RolloutStatus, { width }: Fit): readonly Part[] {
  const { counts, planned, waves, inFlight, concurrency } = status;
  const failed = failedOf(status);
  const setAside = waves.reduce((sum, wave) => sum + wave.setAside, 0);
  const others: ReadonlyArray<readonly [number, string]> = [
    [counts.pending, `${counts.pending} to do`],
    [inFlight, `${inFlight}/${concurrency} in flight`],
    [counts.verifying, `${counts.verifying} verifying`],
    [counts.retrying, `${counts.retrying} to retry`],
    [counts.deferred, `${counts.deferred} deferred`],
    [counts.withdrawn, `${counts.withdrawn} withdrawn`],
    [counts.rolledBack, `${counts.rolledBack} taken back`],
    [setAside, `${setAside} of these set aside`],
  ];
  const failedWords = `${failed} failed`;
  const bar = drawBar(counts.succeeded, planned, width < usualWidth ? 10 : barWidth);
  return [
    `${bar}  ${counts.succeeded}/${planned}`,
    failed > 0 ? { text: failedWords, color: 'red' } : failedWords,
    ...others.filter(([count]) => count > 0).map(([, words]) => words),
  ];
}

function drawBar(done: number, of: number, width: number): string {
  const filled = of === 0 ? width : Math.floor((done / of) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

type Line = readonly [label: string, text: Part];

/** States that want a word of why; the others say enough by themselves, or have lines of their own. */
const stateLabels: Partial<Record<RolloutState, string>> = {
  held: 'held',
  paused: 'paused',
  aborted: 'aborted',
  rollingBack: 'back',
  rolledBack: 'back',
  superseded: 'ended',
};

function stateParts({ state, reason }: RolloutStatus): readonly Line[] {
  const label = stateLabels[state];
  return label === undefined || reason === '' ? [] : [[label, toPrintable(reason)]];
}

function driftParts({ drift, state }: RolloutStatus): readonly Line[] {
  if (drift === null || state !== 'awaitingApproval') return [];
  return [['drift', toPrintable(`since plan ${drift.from}: ${drift.words}`)]];
}

function heldParts(status: RolloutStatus): readonly Line[] {
  const { buildHold, strata, endedAt, state } = status;
  const lines: Line[] = [];
  if (buildHold !== null) {
    const { build, reason, by } = buildHold;
    // The line above it says why the rollout is held; `upwave holds` why the build is.
    const why = state === 'held' ? '' : `: ${toPrintable(reason)}`;
    const words = `build ${toPrintable(build)} is held${why} (by ${toPrintable(by)})`;
    const then = state === 'held' ? `, then ${commandFor(status, 'resume')}` : '';
    lines.push(['held', `${words}; upwave release ${quoteArgument(build)}${then}`]);
  }
  if (strata.held.length > heldShownMax) return [...lines, heldTogether(status)];
  for (const { label, reason, by, waiting } of strata.held) {
    const who = by === 'daemon' ? '' : ` (by ${by})`;
    const words = toPrintable(`stratum ${label}: ${reason}${who}`);
    const wait = waiting > 0 ? `; ${waiting} wait` : '';
    // There is nothing to go on with in one that is over.
    const release = endedAt === null ? `; upwave release ${quoteArgument(label)}` : '';
    lines.push(['held', `${words}${wait}${release}`]);
  }
  return lines;
}

/** Many strata in one line: the first with its reason, the others by the command that lists them. */
function heldTogether({ strata: { held }, endedAt }: RolloutStatus): Line {
  const [first] = held;
  const waiting = held.reduce((sum, each) => sum + each.waiting, 0);
  // Nothing waits in a rollout that is over.
  const wait = endedAt !== null ? '' : waiting === 1 ? ', 1 collector waits' : `, ${waiting} collectors wait`;
  const such = first === undefined ? '' : `${first.label} (${first.reason})`;
  const words = `${held.length} strata${wait}: ${such} and ${held.length - 1} more`;
  return ['held', `${toPrintable(words)}; list them: upwave holds`];
}

function rollbackParts(status: RolloutStatus): readonly Line[] {
  const { rollbackOf, rollbackId } = status;
  return [
    ...(rollbackOf === null ? [] : [['back', `the rollback of ${toPrintable(rollbackOf)}`] as const]),
    ...(rollbackId === null
      ? []
      : [['back', `by ${toPrintable(rollbackId)}: upwave status ${quoteArgument(rollbackId)}`] as const]),
    ...leftBehindWords(status).map((words) => ['left', words] as const),
  ];
}

/** Blockers that other lines show. */
const hasOwnLines: ReadonlySet<BlockerKind> = new Set([
  'planApproval',
  'waveApproval',
  'held',
  'paused',
  'buildHeld',
  'stratumHeld',
]);

function waitParts({ api, blockers }: RolloutStatus, now: EpochMs): readonly Line[] {
  const current = api?.outage ?? null;
  const outage: readonly Line[] = current === null ? [] : [['waits', outageWords(current, now)]];
  const others = blockers
    .filter(({ kind }) => !hasOwnLines.has(kind))
    .map(({ reason, until }): Line => {
      const end = until === null ? '' : `, until ${showInstant(until, now)}`;
      return ['waits', `${toPrintable(reason)}${end}`];
    });
  return [...outage, ...others];
}

function windowParts({ window, endedAt }: RolloutStatus, now: EpochMs): readonly Line[] {
  return window === null || endedAt !== null ? [] : [['window', windowWords(window, now)]];
}

function uncoveredParts({ strata: { total, uncovered }, waves, endedAt }: RolloutStatus): readonly Line[] {
  const last = waves.at(-1);
  const isYetToCome = last?.state === 'waiting' || last?.state === 'awaitingApproval';
  if (uncovered.count === 0 || waves.length < 2 || !isYetToCome || endedAt !== null) return [];
  const shown = uncovered.labels.slice(0, uncoveredShownMax);
  const more = uncovered.count > shown.length ? '; …' : '';
  const words = `${uncovered.count} of ${total} strata are in no wave before ${toPrintable(last.name)}`;
  return [['strata', `${words}: ${toPrintable(shown.join('; '))}${more}`]];
}

/** When it is expected to end, and what the service is asked. */
function endLines({ eta, api }: RolloutStatus, now: EpochMs, fit: Fit): readonly string[] {
  if (eta === null && api === null) return [];
  const parts: Part[] = eta === null ? [] : [etaWords(eta, now)];
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

/** What it is made of: for a verb that names it, and for who asks where a collector is. */
function planParts({ planHash, startedBy, fromBuilds, leftOut }: RolloutStatus): readonly Part[] {
  const more = fromBuilds.length > fromBuildsShownMax ? ', …' : '';
  const leftOutCount = leftOut.reduce((sum, { count }) => sum + count, 0);
  return [
    `${toPrintable(planHash)} by ${toPrintable(starterWords(startedBy))}`,
    ...(leftOut.length === 0 ? [] : [`${leftOutCount} left out`]),
    ...(fromBuilds.length === 0
      ? []
      : [`from ${toPrintable(fromBuilds.slice(0, fromBuildsShownMax).join(', '))}${more}`]),
  ];
}

/** Verbs by how likely they are what is wanted. */
const firstVerbs: readonly RolloutVerb[] = ['approve', 'resume'];

/** The likeliest command as a whole, then what else can be done: each of those shows what it would do, and asks. */
function verbParts(status: RolloutStatus): readonly Part[] {
  const { verbs, endedAt } = status;
  const first = firstVerbs.find((verb) => verbs.includes(verb)) ?? verbs[0];
  if (first === undefined) return [endedAt === null ? 'nothing: it ends by itself' : 'nothing: it is over'];
  const others = verbs.filter((verb) => verb !== first).map((verb) => commandNames[verb]);
  const command = commandFor(status, first);
  const asked: Part = status.headline.needsPerson ? { text: command, color: 'yellow' } : command;
  return [asked, ...(others.length === 0 ? [] : [`| ${others.join(' | ')}`])];
}
