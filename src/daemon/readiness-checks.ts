import type { ReadinessCheck } from '../admin-api/handlers/readiness.ts';
import type { EpochMs } from '../base/time.ts';
import type { ReportConfig } from '../config/config.ts';
import type { Outage } from '../contract/admin/rollout-status.ts';
import type { Configs } from '../orchestrator/configs/configs.ts';
import type { ReloadStatus } from '../orchestrator/operations/reload-config.ts';
import type { Accounts } from '../orchestrator/ports/accounts.ts';
import type { ReadApiBudgetStatus } from '../orchestrator/ports/api-budget.ts';
import type { Outbox, ReceiverFailure } from '../orchestrator/ports/notifications.ts';
import type { ReportProblem } from '../orchestrator/report/keep-reports.ts';
import type { ClockWatch } from '../redis/connection/clock-watch.ts';
import type { BrokenRecords } from '../redis/schema/unreadable-records.ts';
import { configText, settingsText } from '../rollout/messages/config-texts.ts';
import { healthText } from '../rollout/messages/daemon-health.ts';
import type { Receiver } from '../rollout/model/receiver.ts';
import type { FleetAccess } from './fleet-access.ts';
import { forbiddenText, type RedisConnections } from './redis-connections.ts';

/**
 * Checks whether the service answers, and whether all daemons wait for it. It also uses what earlier daemons found.
 * @param readStatus null while Redis is unreachable
 */
export async function serviceReadiness(
  access: Pick<FleetAccess, 'readiness'>,
  readStatus: ReadApiBudgetStatus | null,
): Promise<ReadinessCheck> {
  const ours = access.readiness();
  if (readStatus === null) return ours;
  let outage: Outage | null;
  try {
    ({ outage } = await readStatus());
  } catch {
    // The check of Redis shows what is wrong.
    return ours;
  }
  if (outage === null) return ours;
  const { kind, reason, detail, since, until } = outage;
  if (kind !== 'serviceDown') {
    const words = healthText.serviceAwaited(ours.reason, { until, reason });
    return { ok: ours.ok, reason: words };
  }
  const sinceWhen = since === null ? {} : { since };
  return {
    ok: false,
    kind: 'down',
    ...sinceWhen,
    reason: healthText.serviceDown(detail ?? reason, { since, until }),
  };
}

/**
 * Checks whether receivers take their messages. Failures leave the daemon ready, because upgrades do not wait for
 * notifications.
 */
export async function notificationReadiness(
  outbox: Pick<Outbox, 'readFailures'>,
  receivers: readonly Pick<Receiver, 'name'>[],
): Promise<ReadinessCheck> {
  const failing = failingReceivers(await outbox.readFailures(), receivers);
  const [first] = failing;
  if (first === undefined) return { ok: true, reason: healthText.receiversWell };
  const since = Math.min(...failing.map((each) => each.since));
  return { ok: true, kind: 'failing', since, reason: failing.map(({ words }) => words).join('; ') };
}

/** Receivers whose messages fail, each with a sentence for people. */
export function failingReceivers(
  failures: ReadonlyMap<string, ReceiverFailure>,
  receivers: readonly Pick<Receiver, 'name'>[],
): ReadonlyArray<{ readonly since: EpochMs; readonly words: string }> {
  return receivers.flatMap(({ name }) => {
    const failure = failures.get(name);
    if (failure === undefined) return [];
    return [{ since: failure.since, words: healthText.receiverFails(name, failure) }];
  });
}

/** Checks whether reports can be written. Failures leave the daemon ready, because upgrades do not wait for reports. */
export function reportReadiness(
  { directory }: Pick<ReportConfig, 'directory'>,
  problem: ReportProblem | null,
): ReadinessCheck {
  if (problem === null) return { ok: true, reason: healthText.reportsWell(directory) };
  return { ok: true, kind: 'failing', since: problem.since, reason: healthText.reportsFail(problem) };
}

/** Checks whether Redis is reachable, accepts writes and allows upwave's commands. */
export function redisReadiness(
  redis: Pick<RedisConnections, 'place' | 'writes' | 'rights' | 'faults' | 'since' | 'unreachable'> & {
    readonly worker: Pick<RedisConnections['worker'], 'isReady'>;
  },
): ReadinessCheck {
  const { place } = redis;
  const notReady = (kind: keyof typeof redis.since, reason: string): ReadinessCheck => {
    const since = redis.since[kind];
    return { ok: false, kind, ...(since !== undefined && { since }), reason };
  };
  const refusal = redis.writes.refusal();
  if (refusal !== null) return notReady('unwritable', healthText.redisUnwritable(place, refusal));
  if (!redis.worker.isReady()) {
    const lost = redis.unreachable();
    const reason = healthText.redisAway(place, lost?.reason);
    return { ok: false, kind: 'away', ...(lost !== undefined && { since: lost.since }), reason };
  }
  const refused = redis.rights.refused();
  if (refused.length > 0) return notReady('forbidden', forbiddenText(place, refused));
  const fault = redis.faults.reason();
  if (fault !== null) return notReady('fault', healthText.redisFault(place, fault));
  return { ok: true, kind: 'connected', reason: healthText.redisWell };
}

/** Checks whether this host's clock agrees with Redis's. Otherwise the daemon does not work. */
export function clockReadiness(
  clockWatch: Pick<ClockWatch, 'isRight' | 'wrong' | 'hasJumped'>,
): ReadinessCheck {
  const wrong = clockWatch.wrong();
  if (wrong !== undefined) {
    const { since, aheadMs } = wrong;
    return { ok: false, kind: 'wrong', since, reason: healthText.clockWrong(aheadMs) };
  }
  if (clockWatch.hasJumped()) return { ok: false, kind: 'wrong', reason: healthText.clockJumped };
  return { ok: true, reason: clockWatch.isRight() ? healthText.clockWell : healthText.clockUnknown };
}

/**
 * Checks whether the config file is valid, and all daemons have the same config. Failures leave the daemon ready: it
 * uses the last valid config, and configs differ for a while during each deploy.
 */
export function configReadiness(
  configs: Pick<Configs, 'statuses' | 'settings'>,
  { at, problem }: ReloadStatus,
): ReadinessCheck {
  if (problem !== undefined) {
    const reason = healthText.configRefused(problem);
    return { ok: true, kind: 'refused', since: at, reason };
  }
  const words = [...configs.statuses()].flatMap(([policy, status]) => configText(policy, status) ?? []);
  const settings = configs.settings();
  const all = [...words, ...(settings === undefined ? [] : [settingsText(settings)])];
  return { ok: true, reason: all.length === 0 ? healthText.configAgreed : all.join('; ') };
}

/**
 * Checks whether a newer upwave has written rollouts. Failures leave the daemon ready: during an upgrade of upwave two
 * versions run at once.
 */
export function recordReadiness(records: Pick<BrokenRecords, 'newer'>): ReadinessCheck {
  const newer = records.newer();
  if (newer.length === 0) return { ok: true, reason: healthText.recordsWell };
  return { ok: true, kind: 'newer', reason: healthText.recordsNewer(newer) };
}

/**
 * Checks whether rollouts of another account wait in this Redis. They leave the daemon ready: it works on its own
 * rollouts, and must be reachable to abort the others.
 */
export function accountReadiness(accounts: Pick<Accounts, 'foreign'>): ReadinessCheck {
  const foreign = accounts.foreign();
  return {
    ok: true,
    reason: foreign.length === 0 ? healthText.accountOwn : healthText.accountForeign(foreign),
  };
}
