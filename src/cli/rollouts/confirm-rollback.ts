import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { RollbackPreview } from '../../contract/admin/verbs.ts';
import { rollbackFacts, startNowText } from '../../rollout/messages/rollback-previews.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { countLeft } from '../../rollout/model/left-behind.ts';
import type { UpgradeState } from '../../rollout/model/upgrade.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import type { AskedVerb } from '../../rollout/verbs/judge-verb.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type AnswerInput, confirm } from '../shell/operator.ts';
import { fitLines } from './fit-lines.ts';
import { windowText } from './waiting-text.ts';

export interface RollbackOptions {
  /** How many collectors the operator saw in an earlier preview. */
  readonly collectors?: number;
  readonly yes?: boolean;
  readonly now?: boolean;
  readonly reason?: string;
  readonly json: boolean;
}

/** Shows what a rollback does, and asks for confirmation. @throws CommandFailure without consent */
export async function confirmRollback(
  client: Pick<AdminClient, 'previewRollback'>,
  { id, kind, state, rollbackOf }: Pick<RolloutStatus, 'id' | 'kind' | 'state' | 'rollbackOf'>,
  { collectors: seen, yes: isAgreed = false, now = false, reason, json }: RollbackOptions,
  { input, output }: { readonly input: AnswerInput; readonly output: ConsoleOutput },
): Promise<AskedVerb> {
  // The preview starts nothing, and the daemon's refusal gives the reason.
  const isBegun = kind === 'rollback' || state === 'rollingBack';
  if (state === 'rolledBack' || (isBegun && !now)) return { verb: 'rollback', now };
  const preview = await client.previewRollback(id);
  const yes = isAgreed || seen !== undefined;
  if (json && !yes && input.isTTY !== true) printJson(output, preview);
  else
    (json || yes ? output.err : output.out).write(
      `${previewLines(preview, { now, original: rollbackOf ?? id }, Date.now(), output.columns).join('\n')}\n`,
    );
  const { collectors, rollout } = preview;
  const command = `upwave rollback ${quoteArgument(id)}${now ? ' --now' : ''} --collectors ${collectors}`;
  const question = toPrintable(`Take ${counted(collectors, 'collector')} of ${rollout} back?`);
  await confirm(question, command, { yes, reason, input, output: output.err });
  return {
    verb: 'rollback',
    now,
    shown: { collectors: seen ?? collectors, leftBehind: countLeft(preview.leftBehind) },
  };
}

function previewLines(
  preview: RollbackPreview,
  { now, original }: { readonly now: boolean; readonly original: string },
  at: EpochMs,
  columns: number | undefined,
): readonly string[] {
  const { rollout, collectors, window, leftBehind } = preview;
  const isCut = leftBehind.some(({ count, names }) => count > names.length);
  const line = (label: string, text: string) => fitLines(label, [text], { width: columns, labelColumns: 10 });
  return [
    toPrintable(`the rollback of ${rollout} takes ${counted(collectors, 'collector')} back`),
    ...rollbackFacts(preview, now).flatMap(([about, words]) => line(about, words)),
    ...(isCut ? line('list', `once it has ended, all that stay: ${stayingCommand(original)}`) : []),
    ...(now || window === null ? [] : line('window', `${windowText(window, at)}${windowHint(window)}`)),
    ...(now ? line('--now', startNowText(preview)) : []),
  ];
}

function windowHint({ isOpen }: NonNullable<RollbackPreview['window']>): string {
  return isOpen ? '' : '; --now ignores windows and freezes';
}

// Those that went back are `rolledBack` by then. Those that failed never showed the build.
const stayingStates: readonly UpgradeState[] = ['succeeded', 'unconfirmed', 'timedOut'];
// More than any plan has.
const listedMax = 100_000;

function stayingCommand(original: string): string {
  return `upwave upgrades ${quoteArgument(original)} --state ${stayingStates.join()} --limit ${listedMax}`;
}
