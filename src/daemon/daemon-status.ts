import type { Readiness } from '../admin-api/handlers/readiness.ts';
import type { SharedState } from '../observability/shared-state-gauges.ts';
import { outageLeftMs } from '../rollout/status/api-budget-status.ts';
import type { DaemonOperations } from './daemon-operations.ts';
import type { Engine } from './engine.ts';
import type { Ground } from './ground.ts';
import {
  accountReadiness,
  configReadiness,
  notificationReadiness,
  recordReadiness,
  redisReadiness,
  reportReadiness,
  serviceReadiness,
} from './readiness.ts';

/** Reads what all daemons share, for the metrics; null while another one leads. */
export async function readSharedState(
  { sink, clock, policies, handlerPorts }: Ground,
  { queue, fleetCounts }: Engine,
  { operations }: DaemonOperations,
): Promise<SharedState | null> {
  if (!sink.isLeading()) return null;
  const [statuses, queueJobs, api, entries] = await Promise.all([
    operations.listRollouts(),
    queue.countJobs(),
    handlerPorts.readApiBudgetStatus(),
    handlerPorts.scans.read(),
  ]);
  return {
    statuses,
    queueJobs,
    rateShare: api.requestsPerSecondNow / api.requestsPerSecondMax,
    outageMs: outageLeftMs(api, clock.now()),
    scans: entries.filter(({ policy }) => policies.includes(policy)),
    fleet: fleetCounts.read(),
  };
}

/** Whether this daemon can work, and what keeps it from that. */
export async function readReadiness(
  { config, redis, broken, handlerPorts }: Ground,
  { access, reports, shared: { accounts, configs } }: Engine,
  { reloadStatus }: DaemonOperations,
): Promise<Readiness> {
  const redisNow = redisReadiness(redis);
  if (redisNow.ok) await accounts.forgetEnded();
  return {
    redis: redisNow,
    service: await serviceReadiness(access, redisNow.ok ? handlerPorts.readApiBudgetStatus : null),
    account: accountReadiness(accounts),
    config: configReadiness(configs, reloadStatus()),
    records: recordReadiness(broken),
    ...(config.notify.length > 0 &&
      redisNow.ok && { notifications: await notificationReadiness(handlerPorts.outbox, config.notify) }),
    ...(config.report !== undefined && {
      reports: reportReadiness(config.report, reports?.problem() ?? null),
    }),
  };
}
