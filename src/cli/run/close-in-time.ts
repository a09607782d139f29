import type { DurationMs } from '../../base/time.ts';
import { within } from '../../base/waiting.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { exitCodes } from '../shell/exit-codes.ts';

// The grace of the parts that close is below this; what hangs beyond it is settled at the next start.
const closeWithinMs: DurationMs = 9_500;

// For the last words, and for what ends by itself.
const leaveWithinMs: DurationMs = 1_000;

/**
 * Closes the daemon, and then what it was given, for as long as an operator waits. What hangs beyond that, and what is
 * left open, does not keep the process: it ends with the exit code that the command has come to by then.
 */
export async function closeInTime(daemon: Daemon, closeRest: () => Promise<void>): Promise<void> {
  await within(closeWithinMs, daemon.close().then(closeRest)).finally(() => {
    setTimeout(() => process.exit(process.exitCode ?? exitCodes.unreachable), leaveWithinMs).unref();
  });
}
