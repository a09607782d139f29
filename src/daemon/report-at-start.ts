import type { Clock } from '../base/time.ts';
import {
  describeOrphan,
  type FindOrphansParts,
  findOrphans,
} from '../orchestrator/operations/list-policies.ts';
import type { Accounts } from '../orchestrator/ports/accounts.ts';
import type { ReadApiBudgetStatus } from '../orchestrator/ports/api-budget.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import type { RolloutStore } from '../orchestrator/ports/rollout-store.ts';
import type { Configs } from '../orchestrator/scan/configs.ts';
import { assessRedis } from '../redis/connection/assess-redis.ts';
import type { RedisCommands } from '../redis/connection/connection.ts';
import { outageLeftMs } from '../rollout/status/api-budget-status.ts';

export interface ReportAtStartParts extends FindOrphansParts {
  readonly store: FindOrphansParts['store'] & Pick<RolloutStore, 'loadRollout'>;
  readonly accounts: Pick<Accounts, 'standingOf'>;
  readonly configs: Pick<Configs, 'beat'>;
  readonly commands: RedisCommands;
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
  readonly clock: Clock;
  readonly sink: EventSink;
  /** Hears of what could not be found out. */
  readonly onError: (error: unknown) => void;
}

/**
 * Tells what a daemon finds when it starts, and a person has to know: risks in Redis's settings, a pause that was begun
 * before it, rollouts that stand still, or belong to another account. Never throws: what can't be found out must stop no work.
 */
export async function reportAtStart(parts: ReportAtStartParts): Promise<void> {
  for (const tell of [tellConfigs, tellRisks, tellPause, tellOrphans, compareAccounts]) {
    try {
      await tell(parts);
    } catch (error) {
      parts.onError(error);
    }
  }
}

/** Before anything is scanned: who has the newest config is known then, also to the others. */
async function tellConfigs({ configs }: ReportAtStartParts): Promise<void> {
  await configs.beat();
}

async function tellRisks({ commands, sink }: ReportAtStartParts): Promise<void> {
  for (const reason of await assessRedis(commands)) sink.note({ event: 'redis.risk', reason });
}

/** That the service is down, the API budget tells by itself. */
async function tellPause({ readApiBudgetStatus, clock, sink }: ReportAtStartParts): Promise<void> {
  const api = await readApiBudgetStatus();
  if (api.standstill === null || api.standstill.kind === 'serviceDown') return;
  const pauseMs = outageLeftMs(api, clock.now());
  sink.note({ event: 'service.paused', reason: api.standstill.reason, pauseMs });
}

async function tellOrphans(parts: ReportAtStartParts): Promise<void> {
  for (const orphan of await findOrphans(parts)) {
    const { policy, id: rollout } = orphan;
    parts.sink.note({ event: 'policy.orphaned', policy, rollout, reason: describeOrphan(orphan) });
  }
}

/** Starts to find out to which account each active rollout belongs. The result is logged when the service has answered. */
async function compareAccounts({ store, accounts, policies }: ReportAtStartParts): Promise<void> {
  for (const rolloutId of await store.activeRolloutIds(policies)) {
    const rollout = await store.loadRollout(rolloutId);
    if (rollout !== undefined) await accounts.standingOf(rollout);
  }
}
