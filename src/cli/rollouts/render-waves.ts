import { toPrintable } from '../../base/safe-text.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { soakedText } from '../../rollout/messages/blockers.ts';
import { judgedText, waveStageText } from '../../rollout/messages/sentences.ts';
import { holdsSlot, upgradeStates } from '../../rollout/model/upgrade.ts';
import { failedAside, failedOf } from '../../rollout/status/failed-aside.ts';
import { awaitsApproval } from '../../rollout/status/headline.ts';
import { showMinute } from '../shell/show-instant.ts';
import { type Fit, fitLines, type Part, widest } from './fit-lines.ts';

const stageWidth = 'soaking  '.length;
const nameMin = 6;
const nameMax = 16;
const slotStates = upgradeStates.filter(holdsSlot);

/**
 * For each wave its lines, usually one: stage, numbers that add up to its size (P9), failure budget, and when the stage ends.
 * @param linesMax each wave is cut after this many lines
 */
export function renderWaves(
  status: RolloutStatus,
  now: EpochMs,
  fit: Fit,
  linesMax?: number,
): ReadonlyArray<readonly string[]> {
  const nameWidth = widest(status.waves.map(({ name }) => toPrintable(name)));
  const width = Math.min(nameMax, Math.max(nameMin, nameWidth));
  const okWidth = widest(status.waves.map(({ counts }) => showCount(counts.succeeded)));
  const failedWidth = widest(status.waves.map((wave) => showCount(failedOf(wave))));
  return status.waves.map((wave) => {
    const parts = waveParts(status, wave, now, { okWidth, failedWidth });
    const label = toPrintable(wave.name).slice(0, nameMax);
    return fitLines(label, parts, { ...fit, labelColumns: width + 2 }, linesMax);
  });
}

function waveParts(
  status: RolloutStatus,
  wave: WaveStatus,
  now: EpochMs,
  { okWidth, failedWidth }: { readonly okWidth: number; readonly failedWidth: number },
): readonly Part[] {
  const { counts, state } = wave;
  if (wave.size + wave.joined === 0 && state === 'passed') return ['passed', 'no collectors'];
  if (state === 'waiting' || state === 'awaitingApproval') return waitingParts(status, wave);
  const failed = failedOf(wave);
  const failedText = `${showCount(failed).padStart(failedWidth)} failed`;
  return [
    `${waveStageText(state, status.endedAt).padEnd(stageWidth)}${showCount(counts.succeeded).padStart(okWidth)} ok`,
    failed > 0 ? { text: failedText, color: 'red' } : failedText,
    budgetPart(status, wave),
    ...endParts(wave, now),
    ...gateParts(wave),
    ...otherParts(wave),
  ];
}

/** A wave that has not started. Some of its members may be withdrawn already. */
function waitingParts(status: RolloutStatus, wave: WaveStatus): readonly Part[] {
  const { size, waits, counts } = wave;
  // It never opens, and withdrawn members are not done.
  if (status.endedAt !== null) return [waveStageText(wave.state, status.endedAt), ...otherParts(wave)];
  const done = size - counts.pending;
  const numbers = size === 0 ? 'no collectors' : `${showCount(done)}/${showCount(size)}`;
  const isAsked = wave.state === 'awaitingApproval' && waits !== null && awaitsApproval(status);
  const stage: Part = isAsked ? { text: 'WAITS FOR YOU', color: 'yellow' } : 'waiting';
  const then = isAsked && status.eta?.kind === 'afterApproval' ? status.eta.durationMs : undefined;
  const why =
    then !== undefined
      ? [`then about ${formatDuration(then)}`]
      : waits === null || isAsked
        ? []
        : [`for ${waits}`];
  return [stage, numbers, ...why, ...(wave.joined > 0 ? [`${showCount(wave.joined)} came late`] : [])];
}

function budgetPart(status: RolloutStatus, wave: WaveStatus): Part {
  const { failures, failuresAllowed, lost, acknowledged } = wave;
  const aside = failedAside(status, wave);
  const notes = [
    ...(acknowledged > 0 ? [`${showCount(acknowledged)} acknowledged`] : []),
    ...(acknowledged === 0 && lost > 0 ? [`${showCount(lost)} lost, each counts ${status.lostWeight}`] : []),
    ...(aside > 0 ? [`${showCount(aside)} in held strata`] : []),
  ];
  const why = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  const text = `budget ${showCount(failures)}/${showCount(failuresAllowed)}${why}`;
  return failures > failuresAllowed ? { text, color: 'red' } : text;
}

function endParts({ state, passedAt, soakEndsAt }: WaveStatus, now: EpochMs): readonly Part[] {
  if (state === 'passed') return passedAt === null ? [] : [showMinute(passedAt, now)];
  if (state !== 'soaking' || soakEndsAt === null) return [];
  return [soakEndsAt > now ? `until ${showMinute(soakEndsAt, now)}` : soakedText];
}

function gateParts({ state, gates }: WaveStatus): readonly Part[] {
  if (state === 'passed') return [];
  return gates.map(({ verdict, words }) =>
    verdict === 'fail' || verdict === 'hold' ? { text: words, color: 'red' as const } : words,
  );
}

/** Upgrades that have neither succeeded nor failed yet, or were withdrawn. */
function otherParts(wave: WaveStatus): readonly Part[] {
  const { state, counts, setAside, joined } = wave;
  const others: ReadonlyArray<readonly [number, string]> = [
    [slotStates.reduce((sum, state) => sum + counts[state], 0), 'in flight'],
    [counts.verifying, 'verifying'],
    [counts.retrying, 'to retry'],
    [counts.deferred, 'deferred'],
    [counts.pending, 'to do'],
    [counts.withdrawn, 'withdrawn'],
    [counts.rolledBack, 'rolled back'],
  ];
  const words = others.filter(([count]) => count > 0).map(([count, what]) => `${showCount(count)} ${what}`);
  const members = [
    ...(setAside === 0 ? [] : [state === 'passed' ? judgedText(wave) : `${showCount(setAside)} set aside`]),
    ...(joined > 0 ? [`${showCount(joined)} came late`] : []),
  ];
  return [...words, ...members];
}
