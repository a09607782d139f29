import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import type { BlockerKind } from '../../rollout/decision/blocker.ts';
import { leftOutLine } from '../../rollout/messages/exclusions.ts';
import { failureLimitWords } from '../../rollout/messages/failures.ts';
import type { WaveRule } from '../../rollout/model/policy.ts';
import { failuresAllowed, formatAmount } from '../../rollout/model/policy.ts';
import type { RolloutState } from '../../rollout/model/rollout.ts';
import { stateWords } from '../../rollout/model/upgrade.ts';
import { commandFor, quoteArgument } from '../../rollout/status/command-for.ts';
import type { HeadlineKind } from '../../rollout/status/headline.ts';
import type { RolloutStatus, WaveStatus } from '../../rollout/status/status.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showInstant } from '../shell/show-instant.ts';
import { causeLines } from './cause-lines.ts';
import { etaWords } from './eta-words.ts';
import { leftBehindWords } from './left-behind-words.ts';
import { renderWaves } from './render-waves.ts';
import { outageWords, windowWords } from './waiting-words.ts';

const barWidth = 23;

// The header has room for these.
const backToShownMax = 3;

// A glance has room for a few; the plan names more of them.
const uncoveredShownMax = 3;

/**
 * A rollout in one glance: where, is it safe, why waiting, when done, what can I do (DESIGN §5).
 * @param rules the policy's waves, where they are known: the status itself tells only what they come to
 */
export function renderStatus(
  status: RolloutStatus,
  now: EpochMs,
  { paint }: Pick<ConsoleOutput, 'paint'>,
  rules: readonly WaveRule[] = [],
): string {
  return [
    headLine(status, paint),
    progressLine(status, now),
    ...gateLines(status, now, rules),
    ...causeLines(status),
    ...apiLines(status),
    ...windowLines(status, now),
    ...stateLines(status),
    ...approvalLines(status),
    ...heldLines(status),
    ...rollbackLines(status),
    ...standstillLines(status, now),
    ...waitLines(status, now),
    ...renderWaves(status, now, paint),
    ...uncoveredLines(status),
    ...leftOutLines(status),
    verbLine(status),
  ].join('\n');
}

/** The wave whose turn it is, by its index; undefined when all have passed. */
function currentWave({
  waves,
}: RolloutStatus): { readonly wave: WaveStatus; readonly index: number } | undefined {
  const index = waves.findIndex(({ state }) => state !== 'passed');
  const wave = waves[index];
  return wave === undefined ? undefined : { wave, index };
}

function line(label: string, words: string): string {
  return `${label.padEnd(9)} ${words}`;
}

function headLine(status: RolloutStatus, paint: ConsoleOutput['paint']): string {
  const current = currentWave(status);
  const where =
    current === undefined
      ? ''
      : ` wave ${current.index + 1}/${status.waves.length} ${toPrintable(current.wave.name)}`;
  return [
    paint('bold', toPrintable(status.id)),
    `${toPrintable(status.fromBuilds.join(', '))} → ${toPrintable(targetWords(status))}`,
    `${paintHeadline(status, paint)}${where}`,
    `by ${toPrintable(status.startedBy)}`,
    `plan ${toPrintable(status.planHash)}`,
  ].join('   ');
}

/** A rollback goes to as many builds as its collectors had. */
function targetWords({ targetBuild, backTo }: RolloutStatus): string {
  if (backTo.length < 2) return targetBuild;
  const shown = backTo.slice(0, backToShownMax).join(', ');
  return backTo.length > backToShownMax ? `${shown}, … (${backTo.length} builds)` : shown;
}

function progressLine(status: RolloutStatus, now: EpochMs): string {
  const { counts, planned, waves, eta } = status;
  const setAside = waves.reduce((sum, wave) => sum + wave.setAside, 0);
  const parts = [
    `${bar(counts.succeeded, planned)}  ${counts.succeeded}/${planned} ok`,
    `in flight ${status.inFlight}/${status.concurrency}`,
    `failed ${counts.failed + counts.timedOut + counts.unconfirmed}`,
    `deferred ${counts.deferred}`,
  ];
  if (counts.retrying > 0) parts.push(`to retry ${counts.retrying}`);
  if (counts.withdrawn > 0) parts.push(`withdrawn ${counts.withdrawn}`);
  if (counts.rolledBack > 0) parts.push(`taken back ${counts.rolledBack}`);
  if (setAside > 0) parts.push(`set aside ${setAside}`);
  if (eta !== null) parts.push(etaWords(eta, now));
  return line('progress', parts.join('   '));
}

function gateLines(status: RolloutStatus, now: EpochMs, rules: readonly WaveRule[]): readonly string[] {
  const wave = currentWave(status)?.wave;
  if (wave === undefined) return [];
  const allowed = ` of ${allowedWords(wave, rules)}`;
  const words = [`failures ${failureLimitWords({ ...wave, lostWeight: status.lostWeight }, allowed)}`];
  if (wave.soakEndsAt !== null && wave.state === 'soaking' && goesOn.includes(status.state)) {
    words.push(`soak ${formatDuration(Math.max(0, wave.soakEndsAt - now))} to go`);
  }
  for (const gate of wave.gates) words.push(toPrintable(gate.words));
  return [line('gate', words.join('   '))];
}

/** States in which a soak still leads somewhere. */
const goesOn: readonly RolloutState[] = ['running', 'held', 'paused'];

/** A config that was changed since the plan was frozen may hold another rule: it is shown only where it agrees. */
function allowedWords(wave: WaveStatus, rules: readonly WaveRule[]): string {
  const planned = wave.size - wave.joined;
  const rule = rules.find(({ name }) => name === wave.name)?.maxFailures;
  const name = toPrintable(wave.name);
  if (rule?.kind !== 'percent' || failuresAllowed(rule, planned) !== wave.failuresAllowed) {
    return `${wave.failuresAllowed} allowed in ${name} (${planned})`;
  }
  return `${wave.failuresAllowed} allowed in ${name} (${formatAmount(rule)} of ${planned})`;
}

function apiLines({ api }: RolloutStatus): readonly string[] {
  if (api === null) return [];
  const { requestsPerSecond: used, requestsPerSecondMax: max, rateLimited } = api;
  return [line('api', `${used.toFixed(1)}/${Number(max.toFixed(2))} req/s   429s ${rateLimited}`)];
}

function windowLines({ window, endedAt }: RolloutStatus, now: EpochMs): readonly string[] {
  return window === null || endedAt !== null ? [] : [line('window', windowWords(window, now))];
}

/** States that want a word of why; the others say enough by themselves, or have lines of their own. */
const stateLabels: Partial<Record<RolloutState, string>> = {
  held: 'held',
  paused: 'paused',
  aborted: 'aborted',
  rollingBack: 'rollback',
  rolledBack: 'rollback',
  superseded: 'ended',
};

function stateLines({ state, reason }: RolloutStatus): readonly string[] {
  const label = stateLabels[state];
  return label === undefined || reason === '' ? [] : [line(label, toPrintable(reason))];
}

function approvalLines(status: RolloutStatus): readonly string[] {
  const { drift, state } = status;
  const lines: string[] = [];
  if (drift !== null && state === 'awaitingApproval') {
    lines.push(line('drift', toPrintable(`since plan ${drift.from}: ${drift.words}`)));
  }
  const what =
    state === 'awaitingApproval'
      ? 'the plan'
      : status.verbs.includes('approve')
        ? `wave ${toPrintable(currentWave(status)?.wave.name ?? '')}`
        : undefined;
  if (what === undefined) return lines;
  return [...lines, line('approval', `${what} waits for it: ${commandFor(status, 'approve')}`)];
}

function heldLines(status: RolloutStatus): readonly string[] {
  const { buildHold, strata, endedAt, state } = status;
  const lines: string[] = [];
  if (buildHold !== null) {
    const { build, reason, by } = buildHold;
    const words = `build ${toPrintable(build)} is held: ${toPrintable(reason)} (by ${toPrintable(by)})`;
    const then = state === 'held' ? `, then ${commandFor(status, 'resume')}` : '';
    lines.push(line('held', `${words}; upwave release ${quoteArgument(build)}${then}`));
  }
  for (const { label, reason, waiting } of strata.held) {
    const words = toPrintable(`stratum ${label}: ${reason}`);
    const wait = waiting > 0 ? `; ${waiting} wait` : '';
    // There is nothing to go on with in one that is over.
    const release = endedAt === null ? `; upwave release ${quoteArgument(label)}` : '';
    lines.push(line('held', `${words}${wait}${release}`));
  }
  return lines;
}

function rollbackLines(status: RolloutStatus): readonly string[] {
  const { rollbackOf, rollbackId } = status;
  const lines: string[] = [];
  if (rollbackOf !== null) lines.push(line('rollback', `of ${toPrintable(rollbackOf)}`));
  if (rollbackId !== null) {
    lines.push(line('rollback', `is ${toPrintable(rollbackId)}: upwave status ${quoteArgument(rollbackId)}`));
  }
  return [...lines, ...leftBehindWords(status).map((words) => line('left', words))];
}

function standstillLines({ api }: RolloutStatus, now: EpochMs): readonly string[] {
  const standstill = api?.standstill ?? null;
  return standstill === null ? [] : [line('waits', outageWords(standstill, now))];
}

/** Blockers that other lines tell. */
const hasOwnLines: ReadonlySet<BlockerKind> = new Set(['planApproval', 'held', 'paused', 'buildHeld']);

function waitLines(status: RolloutStatus, now: EpochMs): readonly string[] {
  return status.blockers
    .filter(({ kind }) => !hasOwnLines.has(kind))
    .map(({ reason, until }) => {
      const end = until === null ? '' : `, until ${showInstant(until, now)}`;
      return line('waits', `${toPrintable(reason)}${end}`);
    });
}

function uncoveredLines({ strata: { total, uncovered }, waves, endedAt }: RolloutStatus): readonly string[] {
  const last = waves.at(-1);
  const isYetToCome = last?.state === 'waiting' || last?.state === 'awaitingApproval';
  if (uncovered.count === 0 || waves.length < 2 || !isYetToCome || endedAt !== null) return [];
  const shown = uncovered.labels.slice(0, uncoveredShownMax);
  const more = uncovered.count > shown.length ? '; …' : '';
  const labels = toPrintable(shown.join('; '));
  const words = `${uncovered.count} of ${total} strata are in no wave before ${toPrintable(last.name)}`;
  return [line('uncovered', `${words}: ${labels}${more}`)];
}

function leftOutLines({ leftOut }: RolloutStatus): readonly string[] {
  return leftOut.length === 0 ? [] : [line('left out', toPrintable(leftOutLine(leftOut)))];
}

function verbLine(status: RolloutStatus): string {
  const commands = status.verbs.map((verb) => commandFor(status, verb).replace(/^upwave /, ''));
  const nothing = status.endedAt === null ? 'nothing: it ends by itself' : 'nothing: it is over';
  return line('do', commands.length === 0 ? nothing : `upwave ${commands.join(' | ')}`);
}

function bar(done: number, of: number): string {
  const filled = of === 0 ? barWidth : Math.floor((done / of) * barWidth);
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled);
}

const badKinds: ReadonlySet<HeadlineKind> = new Set([
  'newerVersion',
  'otherAccount',
  'held',
  'waitsForService',
  'waitsForInventory',
  'finishedWithFailures',
  'aborted',
]);
const goodKinds: ReadonlySet<HeadlineKind> = new Set(['running', 'succeeded']);

function paintHeadline({ headline: { kind } }: RolloutStatus, paint: ConsoleOutput['paint']): string {
  const color = badKinds.has(kind) ? 'red' : goodKinds.has(kind) ? 'green' : 'yellow';
  return paint(color, stateWords(kind).toUpperCase());
}
