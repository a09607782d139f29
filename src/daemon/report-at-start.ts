import type { Clock } from '../base/time.ts';
import type { Configs } from '../orchestrator/configs/configs.ts';
import { type FindOrphansParts, findOrphans } from '../orchestrator/configs/find-orphans.ts';
import type { Accounts } from '../orchestrator/ports/accounts.ts';
import type { ReadApiBudgetStatus } from '../orchestrator/ports/api-budget.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import type { RolloutStore } from '../orchestrator/ports/rollout-store.ts';
import { assessRedis } from '../redis/connection/assess-redis.ts';
import type { RedisCommands } from '../redis/connection/connection.ts';
import { orphanText } from '../rollout/messages/config-texts.ts';
import { outageLeftMs } from '../rollout/status/api-budget-status.ts';

export interface ReportAtStartParts extends FindOrphansParts {
  readonly store: FindOrphansParts['store'] & Pick<RolloutStore, 'loadRollout'>;
  /** Names of all policies of the config. */
  readonly policies: () => readonly string[];
  readonly accounts: Pick<Accounts, 'statusOf'>;
  readonly configs: Pick<Configs, 'beat' | 'living'>;
  readonly commands: RedisCommands;
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
  readonly clock: Clock;
  readonly sink: EventSink;
  /** Called with each error; the other reports continue. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reports what a person has to know at the start of a daemon: risks in Redis's settings, an earlier pause, rollouts
 * that wait or belong to another account. Never throws, because a failed report must not stop the daemon.
 */
export async function reportAtStart(parts: ReportAtStartParts): Promise<void> {
  for (const step of [reportConfigs, reportRisks, reportPause, reportOrphans, compareAccounts]) {
    try {
      await step(parts);
    } catch (error) {
      parts.onError(error);
    }
  }
}

/** Before the first scan, so that all daemons know which has the newest config. */
async function reportConfigs({ configs }: ReportAtStartParts): Promise<void> {
  await configs.beat();
}

async function reportRisks({ commands, sink }: ReportAtStartParts): Promise<void> {
  for (const reason of await assessRedis(commands)) sink.note({ event: 'redis.risk', reason });
}

/** An outage is reported by the API budget. */
async function reportPause({ readApiBudgetStatus, clock, sink }: ReportAtStartParts): Promise<void> {
  const api = await readApiBudgetStatus();
  if (api.outage === null || api.outage.kind === 'serviceDown') return;
  const pauseMs = outageLeftMs(api, clock.now());
  sink.note({ event: 'service.paused', reason: api.outage.reason, pauseMs });
}

async function reportOrphans(parts: ReportAtStartParts): Promise<void> {
  for (const orphan of await findOrphans(parts)) {
    const { policy, id: rollout } = orphan;
    parts.sink.note({ event: 'policy.orphaned', policy, rollout, reason: orphanText(orphan) });
  }
}

/**
 * Starts to find out to which account each active rollout belongs. The result is logged when the service has answered.
 */
async function compareAccounts({ store, accounts, policies }: ReportAtStartParts): Promise<void> {
  for (const rolloutId of await store.activeRolloutIds(policies())) {
    const rollout = await store.loadRollout(rolloutId);
    if (rollout !== undefined) await accounts.statusOf(rollout);
  }
}
