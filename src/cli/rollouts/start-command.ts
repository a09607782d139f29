import { toPrintable } from '../../base/safe-text.ts';
import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import type { StartPreview } from '../../contract/admin/policies.ts';
import { leftOutLine } from '../../rollout/messages/exclusions.ts';
import {
  durationText,
  earlierText,
  expectedTexts,
  expectedWarnings,
  planText,
  retriedText,
  startLimitsText,
} from '../../rollout/messages/plans.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { confirm, operatorName } from '../shell/operator.ts';
import { showZoned } from '../shell/show-instant.ts';
import { fitLines } from './fit-lines.ts';
import { renderStatus } from './render-status.ts';

export interface StartOptions extends DaemonTarget {
  readonly reason?: string;
  /** The hash of the plan to start. */
  readonly plan?: string;
  /** Start the plan that is shown, without asking. */
  readonly yes: boolean;
}

/** `upwave start <policy>`: shows the plan, asks, and starts exactly that plan (P15). */
export async function startCommand(
  policy: string,
  options: StartOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const words = { policy, by: operatorName(), reason: options.reason ?? '' };
  const status = await withDaemon(options, async (client) => {
    if (options.plan !== undefined) return client.startPolicy({ ...words, planHash: options.plan });
    const preview = await client.previewStart(policy);
    output.err.write(`${renderPreview(preview, Date.now(), output.columns)}\n`);
    const { planHash } = preview;
    const question = startQuestion(preview);
    const command = `upwave start ${quoteArgument(policy)} --plan ${planHash}`;
    const { yes, reason } = options;
    await confirm(question, command, { yes, reason, output: output.err });
    return client.startPolicy({ ...words, planHash });
  });
  return printAnswer(output, options, status, () => renderStatus(status, Date.now(), output));
}

function startQuestion({ planned }: StartPreview): string {
  return `Start ${singularOrPlural(planned, 'this upgrade', `these ${showCount(planned)} upgrades`)}?`;
}

/** The rollout that would start, and the question whether it should. */
export function startLines(preview: StartPreview, now: EpochMs, columns: number): readonly string[] {
  return [...renderPreview(preview, now, columns).split('\n'), startQuestion(preview)];
}

/**
 * The rollout that would start: its target, its waves, the collectors left out, and its blockers.
 * @param columns the width of the terminal; absent where the output is no terminal
 */
export function renderPreview(preview: StartPreview, now: EpochMs, columns?: number): string {
  const { policy, leftOut, earlier, failedBefore, expectedFailures, approval, window } = preview;
  const until = window.until === null ? '' : `, opens ${showZoned(window.until, now)}`;
  const line = (label: string, text: string, labelColumns = 10) =>
    fitLines(label, [text], { width: columns, labelColumns });
  return [
    ...line(`${policy}:`, planText(preview), toPrintable(policy).length + 2),
    ...line('limits', startLimitsText(preview)),
    ...line('takes', `${durationText(preview.estimate)}${approval ? ', without the wait for approval' : ''}`),
    ...(earlier === null ? [] : line('earlier', `${showZoned(earlier.at, now)}, ${earlierText(earlier)}`)),
    ...(failedBefore === 0 ? [] : line('retried', retriedText(preview))),
    ...(expectedFailures === null
      ? []
      : [...expectedTexts(expectedFailures, preview.planned), ...expectedWarnings(expectedFailures)].flatMap(
          (text) => line('expected', text),
        )),
    ...(leftOut.length === 0 ? [] : line('left out', leftOutLine(leftOut))),
    ...(window.isOpen ? [] : line('window', `closed: ${window.reason}${until}`)),
    ...(approval ? line('approval', 'the plan then waits for `upwave approve`') : []),
  ].join('\n');
}
