import { userInfo } from 'node:os';
import type { Verb } from '../orchestrator/operations.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type DaemonTarget, pickRollout, withDaemon } from './daemon-target.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { renderStatus } from './render-status.ts';

export interface VerbOptions extends DaemonTarget {
  readonly reason?: string;
  readonly json: boolean;
}

/** `upwave pause | resume | abort [rollout]`: when it returns, the verb holds (P4). */
export async function verbCommand(
  verb: Verb,
  named: string | undefined,
  options: VerbOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const status = await withDaemon(options, async (client) => {
    const { id } = pickRollout(await client.listRollouts(), named);
    return client.apply({ rolloutId: id, verb, by: userName(), reason: options.reason ?? '' });
  });
  if (options.json) output.out.write(`${JSON.stringify(status, null, 2)}\n`);
  else output.out.write(`${renderStatus(status, Date.now(), output)}\n`);
  return exitCodes.done;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return 'operator';
  }
}
