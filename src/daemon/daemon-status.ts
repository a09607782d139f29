import type { Readiness } from '../admin-api/handlers/readiness.ts';
import type { DurationMs } from '../base/time.ts';
import { waitAtMost } from '../base/waiting.ts';
import type { SharedState } from '../observability/shared-state-gauges.ts';
import { isRedisOutage } from '../redis/connection/redis-errors.ts';
import { healthText } from '../rollout/messages/daemon-health.ts';
import { outageLeftMs } from '../rollout/status/api-budget-status.ts';
import type { DaemonContext } from './daemon-context.ts';
import type { DaemonOperations } from './daemon-operations.ts';
import type { Engine } from './engine.ts';
import {
  accountReadiness,
  clockReadiness,
  configReadiness,
  notificationReadiness,
  recordReadiness,
  redisReadiness,
  reportReadiness,
  serviceReadiness,
} from './readiness-checks.ts';

/** Reads the state that all daemons share, for the metrics; null while another daemon leads. */
export async function readSharedState(
  { sink, clock, policies, handlerPorts }: DaemonContext,
  { queue, fleetCounts }: Engine,
  { operations }: DaemonOperations,
): Promise<SharedState | null> {
  if (!sink.isLeading()) return null;
  const [statuses, queueJobs, api, entries, builds] = await Promise.all([
    operations.listRollouts(),
    queue.countJobs(),
    handlerPorts.readApiBudgetStatus(),
    handlerPorts.scans.read(),
    operations.listBuildHistory(),
  ]);
  const present = policies();
  return {
    statuses,
    queueJobs,
    rateShare: api.requestsPerSecondNow / api.requestsPerSecondMax,
    outageMs: outageLeftMs(api, clock.now()),
    scans: entries.filter(({ policy }) => present.includes(policy)),
    fleet: fleetCounts.read(),
    builds,
  };
}

/**
 * Joins the checks of several accounts. The daemon is ready when it can work for one of them: each account continues
 * while the service of another is down.
 */
export function joinReadiness(
  accounts: ReadonlyArray<{ readonly account: string; readonly checks: Readiness }>,
): Readiness {
  const [first] = accounts;
  if (accounts.length === 1 && first !== undefined) return first.checks;
  const names = [...new Set(accounts.flatMap(({ checks }) => Object.keys(checks)))];
  return Object.fromEntries(
    names.map((name) => {
      const found = accounts.flatMap(({ account, checks: { [name]: check } }) =>
        check === undefined ? [] : [{ ...check, account }],
      );
      const reasons = new Set(found.map(({ reason }) => reason));
      const worst = found.find(({ ok }) => !ok) ?? found.find(({ kind }) => kind !== undefined) ?? found[0];
      const ok = name === 'service' ? found.some((check) => check.ok) : found.every((check) => check.ok);
      const reason =
        reasons.size === 1
          ? [...reasons].join('')
          : found.map((check) => `${check.account}: ${check.reason}`).join('; ');
      const { account: _account, ...worstCheck } = { account: '', ...worst };
      const each = found.map(({ account, ...check }) => [account, check] as const);
      return [
        name,
        { ...worstCheck, ok, reason, ...(reasons.size > 1 && { accounts: Object.fromEntries(each) }) },
      ];
    }),
  );
}

/** Checks whether this daemon can work, and what prevents it. */
export async function readReadiness(
  { config, live, redis, clockWatch, broken, handlerPorts }: DaemonContext,
  { access, reports, shared: { accounts, configs } }: Engine,
  { reloadStatus }: DaemonOperations,
): Promise<Readiness> {
  const connected = redisReadiness(redis);
  const receivers = live.receivers();
  const readStored = async () => {
    await accounts.forgetEnded();
    const service = await serviceReadiness(access, handlerPorts.readApiBudgetStatus);
    if (receivers.length === 0) return { service };
    return { service, notifications: await notificationReadiness(handlerPorts.outbox, receivers) };
  };
  const stored = connected.ok ? await askRedis(readStored()) : undefined;
  const since = redis.noteSilence(connected.ok && stored === undefined);
  const { service = await serviceReadiness(access, null), ...notifications } = stored ?? {};
  return {
    redis:
      since === undefined
        ? connected
        : { ok: false, kind: 'silent', since, reason: healthText.redisSilent(redis.place) },
    clock: clockReadiness(clockWatch),
    service,
    account: accountReadiness(accounts),
    config: configReadiness(configs, reloadStatus()),
    records: recordReadiness(broken),
    ...notifications,
    ...(config.report !== undefined && {
      reports: reportReadiness(config.report, reports?.problem() ?? null),
    }),
  };
}

// Less than a prober waits for all checks.
const redisAnswersWithinMs: DurationMs = 1_500;

/** @returns undefined when Redis gives no answer in time */
async function askRedis<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await waitAtMost(redisAnswersWithinMs, reading);
  } catch (error) {
    if (isRedisOutage(error)) return undefined;
    throw error;
  }
}
