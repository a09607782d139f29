import { sleepForReal } from '../base/sleep.ts';
import { toPrintable } from '../observability/printable.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import { awaitsApproval, chooseRollout } from './choose-rollout.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type DaemonTarget, makeRuleBook, type RuleBook, withDaemon } from './daemon-target.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { printJson } from './print-json.ts';
import { renderStatus } from './render-status.ts';
import { stopSignal } from './until-signal.ts';
import { watchStatus } from './watch-status.ts';

export interface StatusOptions extends DaemonTarget {
  readonly watch: boolean;
  readonly json: boolean;
}

/** `upwave status [rollout]`: what is on its way, or the latest of each policy where nothing is. */
export async function statusCommand(
  named: string | undefined,
  options: StatusOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const rules = makeRuleBook(options);
  if (!options.watch) return showOnce(await readStatuses(named, options), rules, options, output);
  const show = (statuses: readonly RolloutStatus[]): void => {
    showOnce(statuses, rules, options, output);
  };
  const read = () => readStatuses(named, options);
  await watchStatus({ read, show, clock: Date, sleep: sleepForReal }, output, stopSignal());
  return exitCodes.done;
}

function readStatuses(named: string | undefined, options: StatusOptions): Promise<readonly RolloutStatus[]> {
  return withDaemon(options, async (client) => {
    const all = await client.listRollouts();
    if (named !== undefined) return [chooseRollout(all, named)];
    const active = all.filter(({ endedAt }) => endedAt === null);
    return active.length > 0 ? active : latestOfEachPolicy(all);
  });
}

function showOnce(
  statuses: readonly RolloutStatus[],
  rules: RuleBook,
  { json, watch }: StatusOptions,
  output: ConsoleOutput,
): ExitCode {
  const show = (status: RolloutStatus) => renderStatus(status, Date.now(), output, rules(status));
  if (json && watch) output.out.write(`${toPrintable(JSON.stringify({ rollouts: statuses }))}\n`);
  else if (json) printJson(output, { rollouts: statuses });
  else if (statuses.length === 0) output.out.write('no rollout yet\n');
  else output.out.write(`${statuses.map(show).join('\n\n')}\n`);
  const needsAPerson = statuses.some((status) => status.state === 'held' || awaitsApproval(status));
  if (needsAPerson) return exitCodes.heldOrNeedsAPerson;
  return statuses.some(hasEndedBadly) ? exitCodes.finishedWithFailures : exitCodes.done;
}

/** It did not come to what was asked for: failures, or collectors that a rollback left behind. */
function hasEndedBadly({ state, endedAt, leftBehind }: RolloutStatus): boolean {
  return endedAt !== null && (state === 'finishedWithFailures' || leftBehind.length > 0);
}

function latestOfEachPolicy(newestFirst: readonly RolloutStatus[]): readonly RolloutStatus[] {
  const seen = new Set<string>();
  return newestFirst.filter(({ policy }) => {
    if (seen.has(policy)) return false;
    seen.add(policy);
    return true;
  });
}
