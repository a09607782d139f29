import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import type { BuildOutcome } from '../../contract/admin/builds.ts';
import { failedShareText, noBuildHistory, worstStratumText } from '../../rollout/messages/sentences.ts';
import { worstParts } from '../../rollout/planning/stratum-risk.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { renderTable } from '../shell/render-table.ts';
import { showZoned } from '../shell/show-instant.ts';
import { unknownAccount } from './with-management.ts';

interface BuildHistoryOptions extends DaemonTarget {
  /** Only the rows of this account. */
  readonly account?: string;
}

/** `upwave builds --history`: what builds did in ended rollouts, the newest build first. */
export async function buildHistoryCommand(
  options: BuildHistoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const builds = await withDaemon(options, (client) => readHistory(client, options.account));
  return printAnswer(output, options, { builds }, () => renderBuildHistory(builds, Date.now()));
}

/** @throws UsageFailure when the daemon has no account with this name */
async function readHistory(
  client: Pick<AdminClient, 'listBuildHistory' | 'listPolicies'>,
  account: string | undefined,
): Promise<readonly BuildOutcome[]> {
  const builds = await client.listBuildHistory();
  if (account === undefined) return builds;
  // Each account has a policy, but not each has a rollout that ended.
  const { policies } = await client.listPolicies();
  const known = new Set(policies.flatMap(({ accountName }) => accountName ?? []));
  if (!known.has(account)) throw unknownAccount(account, [...known]);
  return builds.filter(({ accountName }) => accountName === account);
}

/** A line for each build, and one for each further part of it that failed. */
export function renderBuildHistory(builds: readonly BuildOutcome[], now: EpochMs): string {
  if (builds.length === 0) return noBuildHistory;
  const hasAccounts = builds.some(({ accountName }) => accountName !== undefined);
  const head = [
    ...(hasAccounts ? ['account'] : []),
    'build',
    'tried',
    'failed',
    'rollouts',
    'last',
    'failed most',
  ];
  const rows = builds.flatMap((outcome) => {
    const { accountName, build, tried, failed, rollouts, lastEndedAt } = outcome;
    const share = failed === 0 ? '' : ` (${failedShareText(outcome)})`;
    const figures = [showCount(tried), `${showCount(failed)}${share}`, showCount(rollouts)];
    const cells = [build, ...figures, showZoned(lastEndedAt, now)];
    const worst = worstParts(outcome).map(worstStratumText);
    const strata = worst.length === 0 ? [''] : worst;
    const named = hasAccounts ? [accountName ?? '', ...cells] : cells;
    return strata.map((stratum, index) => [...(index === 0 ? named : named.map(() => '')), stratum]);
  });
  return renderTable(head, rows);
}
