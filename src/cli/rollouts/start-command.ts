import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { StartPreview } from '../../orchestrator/operations/start-policy.ts';
import { leftOutLine } from '../../rollout/messages/exclusions.ts';
import { planWords } from '../../rollout/messages/plans.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { makeConsent, operatorName } from '../shell/operator.ts';
import { showInstant } from '../shell/show-instant.ts';
import { stopSignal } from '../shell/stop-signal.ts';
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
    if (!(await isConfirmed(preview, options, output))) return null;
    return client.startPolicy({ ...words, planHash: preview.planHash });
  });
  if (status === null) return exitCodes.finishedWithFailures;
  return printAnswer(output, options, status, () => renderStatus(status, Date.now(), output));
}

function isConfirmed(
  { policy, planHash, planned }: StartPreview,
  { yes }: StartOptions,
  output: ConsoleOutput,
): Promise<boolean> {
  const command = `upwave start ${quoteArgument(policy)} --plan ${planHash}`;
  const refusal = `nothing has started: there is no terminal to ask at. To start this plan: ${command}`;
  const ask = makeConsent({ yes, input: process.stdin, output: output.err, refusal });
  return ask(`Start ${planned === 1 ? 'this upgrade' : `these ${planned} upgrades`}?`, stopSignal());
}

/**
 * The rollout that would start: its target, its waves, the collectors left out, and its blockers.
 * @param columns the width of the terminal; absent where the output is no terminal
 */
export function renderPreview(preview: StartPreview, now: EpochMs, columns?: number): string {
  const { policy, leftOut, approval, window } = preview;
  const until = window.until === null ? '' : `, opens ${showInstant(window.until, now)}`;
  const fit = { paint: (_color: unknown, text: string) => text, width: columns ?? Number.POSITIVE_INFINITY };
  const line = (label: string, text: string, labelColumns = 10) =>
    fitLines(toPrintable(label), [toPrintable(text)], { ...fit, labelColumns });
  return [
    ...line(`${policy}:`, planWords(preview), toPrintable(policy).length + 2),
    ...(leftOut.length === 0 ? [] : line('left out', leftOutLine(leftOut))),
    ...(window.isOpen ? [] : line('window', `closed: ${window.reason}${until}`)),
    ...(approval ? line('approval', 'the plan then waits for `upwave approve`') : []),
  ].join('\n');
}
