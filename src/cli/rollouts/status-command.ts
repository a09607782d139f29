import { toPrintable } from '../../base/safe-text.ts';
import { sleepForReal } from '../../base/waiting.ts';
import type { PolicyStatuses } from '../../orchestrator/operations/list-policies.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { printJson } from '../shell/console-output.ts';
import { type DaemonTarget, makeRuleBook, type RuleBook, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../shell/exit-codes.ts';
import { stopSignal } from '../shell/stop-signal.ts';
import { chooseRollout, listRollouts } from './choose-rollout.ts';
import { renderPolicies } from './render-policies.ts';
import { renderStatus } from './render-status.ts';
import { watchStatus } from './watch-status.ts';

export interface StatusOptions extends DaemonTarget {
  readonly watch: boolean;
  readonly json: boolean;
}

/** What is shown at once. */
interface Shown {
  readonly rollouts: readonly RolloutStatus[];
  readonly standings: PolicyStatuses;
}

/** `upwave status [rollout]`: what is on its way, or the latest of each policy where nothing is. */
export async function statusCommand(
  named: string | undefined,
  options: StatusOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const rules = makeRuleBook(options);
  if (!options.watch) return showOnce(await readShown(named, options), rules, options, output);
  let exitCode: ExitCode = exitCodes.done;
  const show = (shown: Shown): void => {
    exitCode = showOnce(shown, rules, options, output);
  };
  const read = () => readShown(named, options);
  await watchStatus({ read, show, clock: Date, sleep: sleepForReal }, output, stopSignal());
  return exitCode;
}

function readShown(named: string | undefined, options: StatusOptions): Promise<Shown> {
  return withDaemon(options, async (client) => {
    const [all, standings] = await Promise.all([listRollouts(client, named), client.listPolicies()]);
    if (named === undefined) {
      const active = all.filter(({ endedAt }) => endedAt === null);
      return { rollouts: active.length > 0 ? active : latestOfEachPolicy(all), standings };
    }
    const isMeant = ({ id, policy }: { readonly id?: string; readonly policy: string }) =>
      id === named || policy === named;
    const orphans = standings.orphans.filter(isMeant);
    const isWithoutRollout = !all.some(isMeant) && (orphans.length > 0 || standings.policies.some(isMeant));
    const rollouts = isWithoutRollout ? [] : [chooseRollout(all, named)];
    const policies = standings.policies.filter(({ policy }) => policy === (rollouts[0]?.policy ?? named));
    return { rollouts, standings: { ...standings, policies, orphans } };
  });
}

function showOnce(
  { rollouts, standings }: Shown,
  rules: RuleBook,
  { json, watch }: StatusOptions,
  output: ConsoleOutput,
): ExitCode {
  const now = Date.now();
  const show = (status: RolloutStatus) => renderStatus(status, now, output, rules(status));
  if (json && watch) output.out.write(`${toPrintable(JSON.stringify({ rollouts, ...standings }))}\n`);
  else if (json) printJson(output, { rollouts, ...standings });
  else {
    const parts =
      rollouts.length === 0 && standings.orphans.length === 0 ? ['no rollout yet'] : rollouts.map(show);
    const looks = renderPolicies(standings, now).join('\n');
    output.out.write(`${[...parts, ...(looks === '' ? [] : [looks])].join('\n\n')}\n`);
  }
  const exitCode = exitCodeOf(rollouts);
  if (exitCode === exitCodes.heldOrNeedsAPerson || standings.orphans.length > 0)
    return exitCodes.heldOrNeedsAPerson;
  if (standings.notReady !== undefined) return exitCodes.unreachable;
  const isScanFailed = standings.policies.some(({ lastScan }) => lastScan?.outcome === 'failed');
  if (isScanFailed) return exitCodes.unreachable;
  return exitCode;
}

function latestOfEachPolicy(newestFirst: readonly RolloutStatus[]): readonly RolloutStatus[] {
  const seen = new Set<string>();
  return newestFirst.filter(({ policy }) => {
    if (seen.has(policy)) return false;
    seen.add(policy);
    return true;
  });
}
