import { toPrintable } from '../../base/safe-text.ts';
import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { BlockerKind } from '../../base/vocabulary.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { etaText } from '../../rollout/messages/eta-texts.ts';
import { counted, starterText } from '../../rollout/messages/sentences.ts';
import type { RolloutState } from '../../rollout/model/rollout.ts';
import { commandFor, commandName, quoteArgument } from '../../rollout/status/command-for.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showComing, showInstant } from '../shell/show-instant.ts';
import { causeLines } from './cause-lines.ts';
import { type Fit, fitLines, type Part, usualWidth } from './fit-lines.ts';
import { headlineColor, headlineText } from './headline-text.ts';
import { leftBehindText } from './left-behind-text.ts';
import { failedOf, renderWaves } from './render-waves.ts';
import { outageText, windowText } from './waiting-text.ts';

const barWidth = 26;

// `plan` and `--json` list all left-out collectors with their reasons, and all builds.
const planLinesMax = 1;
const fromBuildsShownMax = 2;

// A build that is bad for an operating system holds one stratum for each version of that system.
const heldShownMax = 1;

// The header has room for this many builds.
const backToShownMax = 3;

// `status` has room for a few; the plan names more.
const uncoveredShownMax = 3;

export interface StatusStyle extends Pick<ConsoleOutput, 'paint' | 'columns'> {
  /** False: the daemon and its records are gone when a person reads this, so no verb is offered. Default: true. */
  readonly canBeAsked?: boolean;
}

interface Canvas extends Pick<ConsoleOutput, 'paint'> {
  readonly width: number;
}

/** A rollout at a glance: progress, safety, blockers, ETA and legal verbs (DESIGN §5). */
export function renderStatus(
  status: RolloutStatus,
  now: EpochMs,
  { paint, columns, canBeAsked = true }: StatusStyle,
): string {
  const fit: Canvas = { paint, width: columns ?? usualWidth };
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

/** A rollback has as many target builds as its collectors had. */
function targetText({ targetBuild, backTo }: RolloutStatus): string {
  if (backTo.length < 2) return targetBuild;
  const builds = backTo.slice(0, backToShownMax).join(', ');
  return backTo.length > backToShownMax ? `${builds}, … (${backTo.length} builds)` : builds;
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
    [setAside, `${showCount(setAside)} of these set aside`],
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

type Line = readonly [label: string, text: Part];

/** States that need a reason. The others are clear by themselves, or have lines of their own. */
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
  return label === undefined || reason === '' ? [] : [[label, reason]];
}

function driftParts({ drift, state }: RolloutStatus): readonly Line[] {
  if (drift === null || state !== 'awaitingApproval') return [];
  return [['drift', `since plan ${drift.from}: ${drift.words}`]];
}

function heldParts(status: RolloutStatus): readonly Line[] {
  const { buildHold, strata, endedAt, state } = status;
  const lines: Line[] = [];
  if (buildHold !== null) {
    const { build, reason, by } = buildHold;
    // The line above has the reason of the rollout's hold, `upwave holds` that of the build's hold.
    const why = state === 'held' ? '' : `: ${reason}`;
    const words = `build ${build} is held${why} (by ${by})`;
    const then = state === 'held' ? `, then ${commandFor(status, 'resume')}` : '';
    lines.push(['held', `${words}; upwave release ${quoteArgument(build)}${then}`]);
  }
  if (strata.held.length > heldShownMax) return [...lines, heldTogether(status)];
  for (const { label, reason, by, waiting } of strata.held) {
    const who = by === 'daemon' ? '' : ` (by ${by})`;
    const words = `stratum ${label}: ${reason}${who}`;
    const wait = waiting > 0 ? `; ${counted(waiting, 'waits', 'wait')}` : '';
    // An ended rollout has nothing to release.
    const release = endedAt === null ? `; upwave release ${quoteArgument(label)}` : '';
    lines.push(['held', `${words}${wait}${release}`]);
  }
  return lines;
}

/** Many strata in one line: the first with its reason, and the command that lists the others. */
function heldTogether({ strata: { held }, endedAt }: RolloutStatus): Line {
  const [first] = held;
  const waiting = held.reduce((sum, each) => sum + each.waiting, 0);
  // Nothing waits in an ended rollout.
  const wait = endedAt !== null ? '' : `, ${counted(waiting, 'collector waits', 'collectors wait')}`;
  const such = first === undefined ? '' : `${first.label} (${first.reason})`;
  const words = `${held.length} strata${wait}: ${such} and ${held.length - 1} more`;
  return ['held', `${words}; list them: upwave holds`];
}

function rollbackParts(status: RolloutStatus): readonly Line[] {
  const { rollbackOf, rollbackId } = status;
  return [
    ...(rollbackOf === null ? [] : [['back', `the rollback of ${rollbackOf}`] as const]),
    ...(rollbackId === null
      ? []
      : [['back', `by ${rollbackId}: upwave status ${quoteArgument(rollbackId)}`] as const]),
    ...leftBehindText(status).map((words) => ['left', words] as const),
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
  const outage: readonly Line[] = current === null ? [] : [['waits', outageText(current, now)]];
  const others = blockers
    .filter(({ kind }) => !hasOwnLines.has(kind))
    .map(({ reason, until }): Line => {
      const end = until === null ? '' : `, until ${showInstant(until, now)}`;
      return ['waits', `${reason}${end}`];
    });
  return [...outage, ...others];
}

function windowParts({ window, endedAt }: RolloutStatus, now: EpochMs): readonly Line[] {
  return window === null || endedAt !== null ? [] : [['window', windowText(window, now)]];
}

function uncoveredParts({ strata: { total, uncovered }, waves, endedAt }: RolloutStatus): readonly Line[] {
  const last = waves.at(-1);
  const isYetToCome = last?.state === 'waiting' || last?.state === 'awaitingApproval';
  if (uncovered.count === 0 || waves.length < 2 || !isYetToCome || endedAt !== null) return [];
  const labels = uncovered.labels.slice(0, uncoveredShownMax);
  const more = uncovered.count > labels.length ? '; …' : '';
  const words = `${uncovered.count} of ${total} strata ${singularOrPlural(uncovered.count, 'is', 'are')} in no wave before ${last.name}`;
  return [['strata', `${words}: ${labels.join('; ')}${more}`]];
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
    ...(leftOut.length === 0 ? [] : [`${leftOutCount} left out`]),
    ...(fromBuilds.length === 0 ? [] : [`from ${fromBuilds.slice(0, fromBuildsShownMax).join(', ')}${more}`]),
  ];
}

/** Verbs, the most likely first. */
const firstVerbs: readonly RolloutVerb[] = ['approve', 'resume'];
const firstWithoutPolicy: readonly RolloutVerb[] = ['abort'];

/** The most likely command in full, then the other legal verbs. Each of those shows what it would do, and asks. */
function verbParts(status: RolloutStatus): readonly Part[] {
  const { verbs, endedAt, recordUnreadable } = status;
  const preferred = status.headline.kind === 'policyMissing' ? firstWithoutPolicy : firstVerbs;
  const first = preferred.find((verb) => verbs.includes(verb)) ?? verbs[0];
  if (first === undefined) {
    if (endedAt !== null) return ['nothing: it is over'];
    const isNewer = recordUnreadable === 'newer';
    return [
      isNewer ? 'nothing here: a daemon of the newer version continues it' : 'nothing: it ends automatically',
    ];
  }
  const others = verbs.filter((verb) => verb !== first).map(commandName);
  const command = commandFor(status, first);
  const asked: Part = status.headline.needsPerson ? { text: command, color: 'yellow' } : command;
  return [asked, ...(others.length === 0 ? [] : [`| ${others.join(' | ')}`])];
}
