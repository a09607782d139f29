import { formatDuration } from '../base/duration.ts';
import { formatAmount } from '../rollout/amount.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { openConfig } from './open-config.ts';

/** `upwave config check`: every problem at once, each with its line; or what the file says, in short. */
export function configCheckCommand(
  options: { readonly config: string; readonly json: boolean },
  output: ConsoleOutput,
): ExitCode {
  const config = openConfig(options.config);
  if (options.json) {
    // Secrets print themselves as ***.
    output.out.write(`${JSON.stringify(config, null, 2)}\n`);
    return exitCodes.done;
  }
  output.out.write(`${options.config} is right: service ${config.service.baseUrl}\n`);
  for (const policy of config.rollouts) {
    const waves = policy.waves.map(
      ({ name, size, soakMs, maxFailures }) =>
        `${name} ${formatAmount(size)} (soak ${formatDuration(soakMs)}, failures ${formatAmount(maxFailures)})`,
    );
    output.out.write(
      `  ${policy.name}: to ${policy.target.version}, ${policy.concurrency} at once, ${policy.schedule} ${policy.timeZone}; ${waves.join(' → ')}\n`,
    );
  }
  return exitCodes.done;
}
