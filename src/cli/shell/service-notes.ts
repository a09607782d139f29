import { toPrintable } from '../../base/safe-text.ts';
import type { DurationMs } from '../../base/time.ts';
import type { AccountConfig } from '../../config/config.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { isUnreached } from '../../rollout/upgrade/failure-classes.ts';
import { CommandFailure } from './command.ts';
import type { ConsoleOutput } from './console-output.ts';
import { exitCodes } from './exit-codes.ts';

/** Notes about the service while a command runs. They go to stderr, so that stdout has only the result. */
export function makeServiceReporter({ err }: Pick<ConsoleOutput, 'err'>) {
  return {
    /**
     * The service redirected the command to a host of `allowedHosts` (P12). That costs one more request each time, until the
     * config names the new address. Reported once for each address.
     */
    onMoved: (baseUrl: string): void => {
      err.write(`note: this account is served at ${toPrintable(baseUrl)}: set service.baseUrl to it\n`);
    },
    /** The network differs from that of other shells, which an operator may have forgotten. */
    onProxy: (proxy: string): void => {
      err.write(`note: requests go through the proxy ${toPrintable(proxy)}\n`);
    },
    /** Why a command prints nothing for a while. */
    onPauseWait: ({ waitMs, reason }: { readonly waitMs: DurationMs; readonly reason: string }): void => {
      err.write(`waiting ${Math.ceil(waitMs / 1_000)} s: ${reason}\n`);
    },
    /** What a list leaves out: an incomplete result must not look complete. */
    onUnusable: (rows: number): void => {
      const entries = counted(rows, 'entry', 'entries');
      err.write(`warning: the service listed ${entries} that cannot be read: left out\n`);
    },
  };
}

/** The service did not do what was asked. The line names the place, which the operator checks first. */
export function noAnswer(
  { service: { baseUrl } }: Pick<AccountConfig, 'service'>,
  why: Parameters<typeof isUnreached>[0],
  reason: string,
): CommandFailure {
  const words = isUnreached(why)
    ? `cannot reach the service at ${baseUrl}`
    : `the service at ${baseUrl} gave no usable answer`;
  return new CommandFailure(exitCodes.unreachable, `${words}: ${reason}`);
}
