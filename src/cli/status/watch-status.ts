import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { CommandFailure } from '../shell/command.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { showInstant } from '../shell/show-instant.ts';

const watchEveryMs: DurationMs = 1_000;

export interface Watch<T> {
  readonly read: () => Promise<T>;
  readonly show: (seen: T) => void;
  /** Called at each failed attempt, with when the outage began and why. */
  readonly trouble: (words: string) => void;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

/**
 * Shows the status every second until it is stopped. It waits for a daemon that stops, or is not up yet.
 * @throws CommandFailure for an error that waiting cannot cure
 */
export async function watchStatus<T>(
  { read, show, trouble, clock, sleep }: Watch<T>,
  stop: AbortSignal,
): Promise<void> {
  let silentSince: EpochMs | undefined;
  while (!stop.aborted) {
    const answer = await read().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (!isOutOfReach(error)) throw error;
        return error;
      },
    );
    if ('value' in answer) {
      silentSince = undefined;
      show(answer.value);
    } else {
      silentSince ??= clock.now();
      trouble(`no answer since ${showInstant(silentSince, clock.now())}: ${answer.message}`);
    }
    await sleep(watchEveryMs, stop);
  }
}

function isOutOfReach(error: unknown): error is CommandFailure {
  return error instanceof CommandFailure && error.exitCode === exitCodes.unreachable;
}
