import { toPrintable } from '../../base/safe-text.ts';
import type { ReloadAnswerBody, ReloadPreviewBody } from '../../contract/admin/reload.ts';
import { differenceWords } from '../../rollout/messages/configs.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { operatorName } from '../shell/operator.ts';

export interface ReloadOptions extends DaemonTarget {
  readonly json: boolean;
  readonly reason?: string;
  /** Only show what would change. */
  readonly dryRun: boolean;
}

/** `upwave reload`: when it returns, the running rollouts follow the brakes of the new config. */
export async function reloadCommand(options: ReloadOptions, output: ConsoleOutput): Promise<ExitCode> {
  if (options.dryRun) {
    const preview = await withDaemon(options, (client) => client.previewReload());
    if (options.json) printJson(output, preview);
    else output.out.write(`${renderReload(preview, 'preview')}\n`);
    return exitCodes.done;
  }
  const words = { by: operatorName(), reason: options.reason ?? '' };
  const answer = await withDaemon(options, (client) => client.reload(words));
  if (options.json) printJson(output, answer);
  else output.out.write(`${renderReload(answer)}\n`);
  return exitCodes.done;
}

/**
 * What the daemon read, or would read: a line for each policy, for each running rollout, and for what waits.
 * @param of `preview`: nothing has changed yet
 */
export function renderReload(
  { policies, needsRestart, rollouts, warnings }: ReloadAnswerBody | ReloadPreviewBody,
  of: 'done' | 'preview' = 'done',
): string {
  const lines = [
    ...policies.map(({ policy, kind, differences }) =>
      kind === 'changed'
        ? `changed    ${policy}: ${differenceWords(differences)}`
        : `${kind.padEnd(10)} ${policy}`,
    ),
    ...rollouts.flatMap(({ rollout, followed, waiting }) => [
      ...(followed.length === 0
        ? []
        : [
            of === 'done'
              ? `now        ${rollout}: ${differenceWords(followed)}`
              : `at once    ${rollout} would follow: ${differenceWords(followed)}`,
          ]),
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
  const same = 'the daemon has the config of this file already';
  return (lines.length === 0 ? [same] : lines).map(toPrintable).join('\n');
}
