import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { CommandFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { showInstant } from '../shell/show-instant.ts';

const watchEveryMs: DurationMs = 1_000;

export interface Watch<T> {
  readonly read: () => Promise<T>;
  readonly show: (seen: T) => void;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

/**
 * Shows something again every second until it is told to stop. A daemon that goes is waited for, and what was seen last
 * stays on the screen with since when there is no answer; one that never answered is no use to wait for.
 * @throws CommandFailure
 */
export async function watchStatus<T>(
  { read, show, clock, sleep }: Watch<T>,
  output: ConsoleOutput,
  stop: AbortSignal,
): Promise<void> {
  let seen: { readonly value: T } | undefined;
  let silentSince: EpochMs | undefined;
  while (!stop.aborted) {
    const answer = await read().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (seen === undefined || !isOutOfReach(error)) throw error;
        return error;
      },
    );
    const isNews = 'value' in answer || silentSince === undefined;
    if ('value' in answer) {
      seen = answer;
      silentSince = undefined;
    } else silentSince ??= clock.now();
    if (output.isLive) output.out.write('\u001b[H\u001b[2J');
    if (seen !== undefined && (output.isLive || 'value' in answer)) show(seen.value);
    // Where nobody watches, once is enough.
    if (!('value' in answer) && silentSince !== undefined && (output.isLive || isNews)) {
      const since = showInstant(silentSince, clock.now());
      output.err.write(`no answer since ${since}: ${answer.message}\n`);
    }
    await sleep(watchEveryMs, stop);
  }
}

function isOutOfReach(error: unknown): error is CommandFailure {
  return error instanceof CommandFailure && error.exitCode === exitCodes.unreachable;
}
