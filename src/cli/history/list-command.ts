import { toPrintable } from '../../base/safe-text.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { targetText } from '../../rollout/messages/plans.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import { failedOf } from '../../rollout/status/failed-aside.ts';
import { doneText, stayText, withdrawnText } from '../rollouts/done-text.ts';
import { widest } from '../rollouts/fit-lines.ts';
import { headlineColor, headlineText } from '../rollouts/headline-text.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { showZoned } from '../shell/show-instant.ts';

export interface ListOptions extends DaemonTarget {
  readonly before?: string;
  readonly limit: number;
}

const pageMax = 100;
// A search for one policy reads at most this many pages: most rollouts may belong to other policies.
const pagesMax = 50;

/** `upwave list [policy]`: rollouts, past ones included, newest first. */
export async function listCommand(
  policy: string | undefined,
  options: ListOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const past = await readPast(policy, options);
  const { rollouts, next } = past;
  const exitCode = printAnswer(output, options, past, () => renderList(rollouts, Date.now(), output));
  if (next !== null && !options.json) {
    const name = policy === undefined ? '' : ` ${quoteArgument(policy)}`;
    output.err.write(`older ones: upwave list${name} --before ${quoteArgument(next)}\n`);
  }
  return exitCode;
}

function readPast(policy: string | undefined, { limit, before, ...target }: ListOptions) {
  return withDaemon(target, async (client) => {
    const rollouts: RolloutStatus[] = [];
    let next: string | null = before ?? null;
    for (let page = 0; page < pagesMax; page += 1) {
      const read = policy === undefined ? Math.min(pageMax, limit - rollouts.length) : pageMax;
      const answer = await client.pageRollouts({ limit: read, before: next ?? undefined });
      for (const status of answer.rollouts) {
        if (policy !== undefined && status.policy !== policy) continue;
        rollouts.push(status);
        if (rollouts.length === limit) {
          const isLast = answer.next === null && status.id === answer.rollouts.at(-1)?.id;
          return { rollouts, next: isLast ? null : status.id };
        }
      }
      next = answer.next;
      if (next === null) break;
    }
    return { rollouts, next };
  });
}

/** One line for each rollout: id, target, state, progress, when, and its rollback. */
export function renderList(
  rollouts: readonly RolloutStatus[],
  now: EpochMs,
  { paint }: Pick<ConsoleOutput, 'paint'>,
): string {
  if (rollouts.length === 0) return 'no rollout';
  const ids = rollouts.map(({ id }) => toPrintable(id));
  const targets = rollouts.map((rollout) => toPrintable(targetText(rollout)));
  const headlines = rollouts.map((rollout) => headlineText(rollout));
  const widths = [ids, targets, headlines].map(widest);
  return rollouts
    .map((status, index) => {
      const { createdAt, endedAt, rollbackOf, rollbackId } = status;
      const failed = failedOf(status);
      const withdrawn = withdrawnText(status);
      const stay = stayText(status);
      return [
        (ids[index] ?? '').padEnd(widths[0] ?? 0),
        `→ ${(targets[index] ?? '').padEnd(widths[1] ?? 0)}`,
        paint(headlineColor(status), (headlines[index] ?? '').padEnd(widths[2] ?? 0)),
        doneText(status),
        ...(failed === 0 ? [] : [paint('red', `${showCount(failed)} failed`)]),
        ...(withdrawn === '' ? [] : [withdrawn]),
        ...(stay === '' ? [] : [stay]),
        showZoned(createdAt, now, endedAt),
        ...(rollbackOf === null ? [] : [`the rollback of ${toPrintable(rollbackOf)}`]),
        ...(rollbackId === null ? [] : [`rolled back by ${toPrintable(rollbackId)}`]),
      ].join('  ');
    })
    .join('\n');
}
