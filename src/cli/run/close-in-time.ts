import type { DurationMs } from '../../base/time.ts';
import { waitAtMost } from '../../base/waiting.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { exitCodes } from '../shell/exit-codes.ts';

// The grace periods of the closing parts are shorter. Whatever hangs longer is settled at the next start.
const closeWithinMs: DurationMs = 9_500;

// Time for the last output, and for work that ends by itself.
const leaveWithinMs: DurationMs = 1_000;

/**
 * Closes the daemon and then its resources, within the time that an operator waits. Work that hangs longer, and handles that
 * stay open, do not keep the process: it ends with the exit code that the command has reached.
 */
export async function closeInTime(daemon: Daemon, closeRest: () => Promise<void>): Promise<void> {
  await waitAtMost(closeWithinMs, daemon.close().then(closeRest)).finally(() => {
    setTimeout(() => process.exit(process.exitCode ?? exitCodes.unreachable), leaveWithinMs).unref();
  });
}
