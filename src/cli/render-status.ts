import { formatDuration } from '../base/duration.ts';
import type { EpochMs } from '../base/time.ts';
import { toPrintable } from '../observability/printable.ts';
import type { RolloutStatus, WaveStatus } from '../rollout/status.ts';
import type { ConsoleOutput } from './console-output.ts';

const barWidth = 23;

/** A rollout in one glance: where, is it safe, why waiting, when done, what can I do (DESIGN §5). */
export function renderStatus(
  status: RolloutStatus,
  now: EpochMs,
  { paint }: Pick<ConsoleOutput, 'paint'>,
): string {
  const { counts } = status;
  const current = status.waves.findIndex(({ state }) => state !== 'passed');
  const wave = status.waves[current];
  const where =
    wave === undefined ? '' : ` wave ${current + 1}/${status.waves.length} ${toPrintable(wave.name)}`;
  const failed = counts.failed + counts.timedOut + counts.unconfirmed;
  const builds = `${toPrintable(status.fromBuilds.join(', '))} → ${toPrintable(status.targetBuild)}`;
  const lines = [
    `${paint('bold', status.id)}   ${builds}   ${paintState(status, paint)}${where}   by ${status.startedBy}   plan ${status.planHash}`,
    [
      `progress  ${bar(counts.succeeded, status.planned)}  ${counts.succeeded}/${status.planned} ok`,
      `in flight ${status.inFlight}/${status.concurrency}`,
      `failed ${failed}`,
      `deferred ${counts.deferred}`,
      etaWords(status),
    ]
      .filter((part) => part !== '')
      .join('   '),
  ];
  if (wave !== undefined) lines.push(`gate      ${gateWords(wave, now)}`);
  if (status.state === 'held' || status.state === 'paused' || status.state === 'aborted') {
    lines.push(`${status.state.padEnd(9)} ${toPrintable(status.reason)}`);
  }
  for (const { reason, until } of status.holds) {
    if (reason.startsWith(`${status.state}:`)) continue;
    lines.push(`waits     ${toPrintable(reason)}${until === null ? '' : `, until ${clockTime(until)}`}`);
  }
  lines.push(
    paint('dim', ['wave'.padEnd(12), ...columns.map((name) => name.padStart(6)), '  state'].join('')),
  );
  for (const each of status.waves) lines.push(waveLine(each));
  const leftOut = Object.entries(status.leftOut);
  if (leftOut.length > 0) {
    lines.push(`left out  ${leftOut.map(([reason, count]) => `${reason}: ${count}`).join(' · ')}`);
  }
  lines.push(`you can   ${verbsFor(status).join(', ') || 'nothing: it is over'}`);
  return lines.join('\n');
}

/** The verbs that are legal now. */
function verbsFor({ state, endedAt }: RolloutStatus): readonly string[] {
  if (endedAt !== null) return [];
  if (state === 'running') return ['pause', 'abort'];
  if (state === 'held' || state === 'paused') return ['resume', 'abort'];
  return state === 'aborted' ? [] : ['abort'];
}

/** How many have ended, and how many that is of. */
export function endedOf({ counts }: Pick<WaveStatus, 'counts'>): number {
  return (
    counts.succeeded +
    counts.failed +
    counts.timedOut +
    counts.unconfirmed +
    counts.withdrawn +
    counts.rolledBack
  );
}

const columns = ['size', 'ok', 'run', 'fail', 'lost', 'defer'];

function waveLine(wave: WaveStatus): string {
  const { counts } = wave;
  const running = counts.queued + counts.starting + counts.upgrading + counts.verifying + counts.retrying;
  const failed = counts.failed + counts.timedOut + counts.unconfirmed - wave.lost;
  const numbers =
    wave.state === 'waiting'
      ? [wave.size, '-', '-', '-', '-', '-']
      : [wave.size, counts.succeeded, running, failed, wave.lost, counts.deferred];
  const cells = numbers.map((number) => String(number).padStart(6)).join('');
  return ` ${toPrintable(wave.name).padEnd(11)}${cells}  ${waveWords(wave)}`;
}

function waveWords(wave: WaveStatus): string {
  switch (wave.state) {
    case 'waiting':
      return wave.waits === null ? 'waits' : `waits: ${wave.waits}`;
    case 'soaking':
      return wave.soakEndsAt === null ? 'soaking' : `soaking, until ${clockTime(wave.soakEndsAt)}`;
    case 'passed':
      return wave.passedAt === null ? 'passed' : `passed ${clockTime(wave.passedAt)}`;
    default:
      return wave.state;
  }
}

function gateWords(wave: WaveStatus, now: EpochMs): string {
  const words = [
    `failures ${wave.failures} of ${wave.failuresAllowed} allowed in ${toPrintable(wave.name)} (${wave.size})`,
  ];
  if (wave.soakEndsAt !== null && wave.state === 'soaking') {
    words.push(`soak ${formatDuration(Math.max(0, wave.soakEndsAt - now)) || '0ms'} to go`);
  }
  return words.join('   ');
}

function etaWords({ eta }: RolloutStatus): string {
  if (eta === null) return '';
  return `eta ${clockTime(eta.at)} (±${formatDuration(eta.plusMinusMs)})`;
}

function bar(done: number, of: number): string {
  const filled = of === 0 ? barWidth : Math.floor((done / of) * barWidth);
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled);
}

function clockTime(at: EpochMs): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function paintState({ state }: RolloutStatus, paint: ConsoleOutput['paint']): string {
  const color =
    state === 'held' || state === 'finishedWithFailures' ? 'red' : state === 'paused' ? 'yellow' : 'green';
  return paint(color, state.toUpperCase());
}
