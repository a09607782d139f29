import { toPrintable } from '../../base/safe-text.ts';
import type { ReloadAnswer, ReloadPreview } from '../../contract/admin/reload.ts';
import { type ReloadStage, reloadLines } from '../../rollout/messages/config-texts.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { operatorName } from '../shell/operator.ts';

export interface ReloadOptions extends DaemonTarget {
  readonly reason?: string;
  /** Only show what would change. */
  readonly dryRun: boolean;
}

/** `upwave reload`: when it returns, the running rollouts follow the limits of the new config. */
export async function reloadCommand(options: ReloadOptions, output: ConsoleOutput): Promise<ExitCode> {
  if (options.dryRun) {
    const preview = await withDaemon(options, (client) => client.previewReload());
    return printAnswer(output, options, preview, () => renderReload(preview, 'preview'));
  }
  const words = { by: operatorName(), reason: options.reason ?? '' };
  const answer = await withDaemon(options, (client) => client.reload(words));
  return printAnswer(output, options, answer, () => renderReload(answer));
}

/** The changes that the daemon made, or would make: one line for each policy, rollout and pending key. */
export function renderReload(changes: ReloadAnswer | ReloadPreview, stage: ReloadStage = 'done'): string {
  return reloadLines(changes, stage)
    .map(({ what, words }) => toPrintable(`${what.padEnd(11)} ${words}`.trimStart()))
    .join('\n');
}
