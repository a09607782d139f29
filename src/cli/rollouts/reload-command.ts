import { toPrintable } from '../../base/safe-text.ts';
import type { ReloadAnswerBody } from '../../contract/admin/reload.ts';
import { differenceWords } from '../../rollout/reload/policy-difference.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { operatorName } from '../shell/operator.ts';

/** `upwave reload`: when it returns, the rollouts on their way follow the brakes of the new config. */
export async function reloadCommand(
  options: DaemonTarget & { readonly json: boolean; readonly reason?: string },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const words = { by: operatorName(), reason: options.reason ?? '' };
  const answer = await withDaemon(options, (client) => client.reload(words));
  if (options.json) printJson(output, answer);
  else output.out.write(`${renderReload(answer)}\n`);
  return exitCodes.done;
}

/** What the daemon read, a line for each policy, for each rollout on its way, and for what waits. */
export function renderReload({ policies, needsRestart, rollouts, warnings }: ReloadAnswerBody): string {
  const lines = [
    ...policies.map(({ policy, kind, differences }) =>
      kind === 'changed'
        ? `changed    ${policy}: ${differenceWords(differences)}`
        : `${kind.padEnd(10)} ${policy}`,
    ),
    ...rollouts.flatMap(({ rollout, followed, waiting }) => [
      ...(followed.length === 0 ? [] : [`now        ${rollout}: ${differenceWords(followed)}`]),
      ...(waiting.length === 0
        ? []
        : [
            `later      ${rollout} keeps its plan; for the next rollout: ${waiting.map(({ key }) => key).join(', ')}`,
          ]),
    ]),
    ...(needsRestart.length === 0
      ? []
      : [`restart    the daemon keeps its old ${needsRestart.join(', ')} until it is restarted`]),
    ...warnings.map((words) => `warning    ${words}`),
  ];
  return (lines.length === 0 ? ['the daemon has the config of this file already'] : lines)
    .map(toPrintable)
    .join('\n');
}
