import type { EpochMs } from '../base/time.ts';
import { toPrintable } from '../observability/printable.ts';
import type { RolloutStatus, WaveStatus } from '../rollout/status.ts';
import type { ConsoleOutput } from './console-output.ts';
import { showInstant } from './show-instant.ts';

const columns = ['size', 'ok', 'run', 'fail', 'lost', 'defer'];
const columnWidth = 6;
const strataWidth = 9;

/** The waves of a rollout as a table: a line of heads, and one for each wave (DESIGN §5). */
export function renderWaves(
  { waves, strata }: Pick<RolloutStatus, 'waves' | 'strata'>,
  now: EpochMs,
  paint: ConsoleOutput['paint'],
): readonly string[] {
  const heads = columns.map((name) => name.padStart(columnWidth)).join('');
  return [
    paint('dim', `${'wave'.padEnd(12)}${heads}${'strata'.padStart(strataWidth)}  state`),
    ...waves.map((wave) => waveLine(wave, strata.total, now)),
  ];
}

function waveLine(wave: WaveStatus, strata: number, now: EpochMs): string {
  const { counts } = wave;
  const running = counts.queued + counts.starting + counts.upgrading + counts.verifying + counts.retrying;
  const failed = counts.failed + counts.timedOut + counts.unconfirmed - wave.lost;
  const hasBegun = wave.state !== 'waiting' && wave.state !== 'awaitingApproval';
  const numbers = hasBegun
    ? [wave.size, counts.succeeded, running, failed, wave.lost, counts.deferred]
    : [wave.size, '-', '-', '-', '-', '-'];
  const cells = numbers.map((number) => String(number).padStart(columnWidth)).join('');
  const covered = `${wave.strata}/${strata}`.padStart(strataWidth);
  return ` ${toPrintable(wave.name).padEnd(11)}${cells}${covered}  ${waveWords(wave, now)}`;
}

function waveWords(wave: WaveStatus, now: EpochMs): string {
  const words = [stateWords(wave, now)];
  if (wave.setAside > 0) words.push(`${wave.setAside} set aside`);
  if (wave.joined > 0) words.push(`${wave.joined} came late`);
  return words.join(', ');
}

function stateWords(wave: WaveStatus, now: EpochMs): string {
  switch (wave.state) {
    case 'waiting':
    case 'awaitingApproval':
      return wave.waits === null ? 'waits' : `waits: ${toPrintable(wave.waits)}`;
    case 'soaking':
      return wave.soakEndsAt === null ? 'soaking' : `soaking, until ${showInstant(wave.soakEndsAt, now)}`;
    case 'passed':
      return wave.passedAt === null ? 'passed' : `passed ${showInstant(wave.passedAt, now)}`;
    default:
      return wave.state;
  }
}
