import { makeRetryWindow, type RetryWindow } from '../../base/retry-window.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { type DurationMs, formatDuration, parseDuration } from '../../base/time.ts';
import { UsageFailure } from './command.ts';
import type { ConsoleOutput } from './console-output.ts';

/** A restart or failover of the service takes some seconds. After a longer wait, a person wants to know the cause. */
const retryForMsDefault: DurationMs = 30_000;
const retryForMsMax: DurationMs = 3_600_000;

/**
 * Retries the reads of one command that the service does not answer, for a limited time. A note on stderr reports it once.
 * @throws CommandFailure when UPWAVE_RETRY_FOR is not a duration
 */
export function openReadWindow({ err }: Pick<ConsoleOutput, 'err'>): RetryWindow {
  const withinMs = retryForMs(process.env['UPWAVE_RETRY_FOR']);
  return makeRetryWindow({
    withinMs,
    now: () => Date.now(),
    onOpen: (reason) => {
      const why = toPrintable(reason).replace(/\.$/, '');
      err.write(
        `No usable answer from the service (${why}). Retrying for up to ${formatDuration(withinMs)}.\n`,
      );
    },
  });
}

function retryForMs(text: string | undefined): DurationMs {
  if (text === undefined || text === '') return retryForMsDefault;
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs <= retryForMsMax) return durationMs;
  throw new UsageFailure(`UPWAVE_RETRY_FOR must be a duration up to 1h, such as 30s; 0s disables retries`);
}
