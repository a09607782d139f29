import type { ReportConfig } from '../config/config.ts';
import type { PolicyStatuses } from '../contract/admin/policies.ts';
import { makeOperations } from '../orchestrator/operations/make-operations.ts';
import type { Operations } from '../orchestrator/operations/operations.ts';
import { makeReload, type ReloadStatus } from '../orchestrator/operations/reload-config.ts';
import { makeStartPolicy } from '../orchestrator/operations/start-policy.ts';
import type { ReportProblem } from '../orchestrator/report/keep-reports.ts';
import type { DaemonContext, DaemonContextParts } from './daemon-context.ts';
import type { Engine } from './engine.ts';
import { type AccessConfig, type NextLiveConfig, readNextConfig } from './live-config.ts';
import { failingReceivers } from './readiness-checks.ts';

export type DaemonOperations = ReturnType<typeof makeDaemonOperations>;

/** The operations of this daemon for operators. @param followers called when another config is in force */
export function makeDaemonOperations(
  { config, live, metrics, handlerPorts, rollouts, policies }: DaemonContext,
  { shared, reports }: Engine,
  { readConfig, accounts }: Pick<DaemonContextParts, 'readConfig' | 'accounts'>,
  followers: { readonly config: () => void; readonly access: (access: AccessConfig) => void },
): { readonly operations: Operations; readonly reloadStatus: () => ReloadStatus } {
  const parts = {
    ...shared,
    ...handlerPorts,
    rollouts,
    installation: config.installation,
    accountName: config.account,
  };
  const reloading = makeReload<NextLiveConfig>({
    ...parts,
    source: {
      read: () => readNextConfig(live.running(), readConfig, accounts),
      use: (next) => {
        live.replace(next);
        metrics.setPolicies(policies());
        if (next.settings.some((key) => key.startsWith('http.'))) followers.access(next.access);
        followers.config();
      },
    },
  });
  const made = makeOperations(parts);
  return {
    reloadStatus: reloading.status,
    operations: {
      ...made,
      reload: reloading.reload,
      previewReload: reloading.previewReload,
      ...makeStartPolicy({ ...parts, rolloutStatus: made.rolloutStatus }),
      listPolicies: async () => {
        const { problem } = reloading.status();
        const failing = failingReceivers(await handlerPorts.outbox.readFailures(), live.receivers());
        return {
          ...(await made.listPolicies()),
          ...(problem !== undefined && { configProblem: problem }),
          ...(config.report !== undefined && { reports: reportsOf(config.report, reports?.problem()) }),
          ...(failing.length > 0 && { notificationProblems: failing.map(({ words }) => words) }),
        };
      },
    },
  };
}

function reportsOf(
  { directory }: ReportConfig,
  problem: ReportProblem | null | undefined,
): NonNullable<PolicyStatuses['reports']> {
  return { directory, ...(problem && { problem: problem.reason }) };
}
