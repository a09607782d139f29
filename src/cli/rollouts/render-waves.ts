import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutStatus, WaveStatus } from '../../rollout/status/status.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showInstant } from '../shell/show-instant.ts';

/** A column of the table; together they come to a wave's size (P9). */
interface Column {
  readonly head: string;
  readonly of: (wave: WaveStatus) => number;
  /** Left out while it is 0 in every wave. */
  readonly isRare?: true;
}

const columns: readonly Column[] = [
  { head: 'ok', of: ({ counts }) => counts.succeeded },
  { head: 'to do', of: ({ counts }) => counts.pending },
  // Those that hold a slot: together they are what the line of progress calls in flight.
  { head: 'run', of: ({ counts }) => counts.queued + counts.starting + counts.upgrading },
  { head: 'verify', of: ({ counts }) => counts.verifying, isRare: true },
  { head: 'retry', of: ({ counts }) => counts.retrying, isRare: true },
  {
    head: 'fail',
    of: ({ counts, lost }) => counts.failed + counts.timedOut + counts.unconfirmed - lost,
  },
  { head: 'lost', of: ({ lost }) => lost },
  { head: 'defer', of: ({ counts }) => counts.deferred },
  { head: 'withdrawn', of: ({ counts }) => counts.withdrawn, isRare: true },
  { head: 'taken back', of: ({ counts }) => counts.rolledBack, isRare: true },
];
const columnWidth = 6;
const strataWidth = 9;

/** The waves of a rollout as a table: a line of heads, and one for each wave (DESIGN §5). */
export function renderWaves(
  { waves, strata }: Pick<RolloutStatus, 'waves' | 'strata'>,
  now: EpochMs,
  paint: ConsoleOutput['paint'],
): readonly string[] {
  const shown = columns.filter(({ isRare, of }) => isRare !== true || waves.some((wave) => of(wave) > 0));
  const heads = ['size', ...shown.map(({ head }) => head)].map((head) => cell(head, head)).join('');
  return [
    paint('dim', `${'wave'.padEnd(12)}${heads}${'strata'.padStart(strataWidth)}  state`),
    ...waves.map((wave) => waveLine(wave, shown, strata.total, now)),
  ];
}

function waveLine(wave: WaveStatus, shown: readonly Column[], strata: number, now: EpochMs): string {
  // One that has not begun may have withdrawn members all the same.
  const hasBegun = wave.state !== 'waiting' && wave.state !== 'awaitingApproval';
  const numbers = shown.map(({ head, of }) => {
    const number = of(wave);
    return cell(hasBegun || number > 0 ? String(number) : '-', head);
  });
  const covered = `${wave.strata}/${strata}`.padStart(strataWidth);
  return ` ${toPrintable(wave.name).padEnd(11)}${cell(String(wave.size), 'size')}${numbers.join('')}${covered}  ${waveWords(wave, now)}`;
}

function cell(text: string, head: string): string {
  return text.padStart(Math.max(columnWidth, head.length + 2));
}

function waveWords(wave: WaveStatus, now: EpochMs): string {
  const words = [stageWords(wave, now)];
  if (wave.setAside > 0) words.push(`${wave.setAside} set aside`);
  if (wave.joined > 0) words.push(`${wave.joined} came late`);
  return words.join(', ');
}

function stageWords(wave: WaveStatus, now: EpochMs): string {
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
