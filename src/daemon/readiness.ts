import type { ReadinessCheck } from '../admin-api/handlers/readiness.ts';
import type { EpochMs } from '../base/time.ts';
import type { ReportConfig } from '../config/config.ts';
import type { ReloadStatus } from '../orchestrator/operations/reload.ts';
import type { Accounts } from '../orchestrator/ports/accounts.ts';
import type { ReadApiBudgetStatus } from '../orchestrator/ports/api-budget.ts';
import type { Outbox, ReceiverFailure } from '../orchestrator/ports/notifications.ts';
import type { ReportProblem } from '../orchestrator/report/keep-reports.ts';
import type { Configs } from '../orchestrator/scan/configs.ts';
import type { BrokenRecords } from '../redis/schema/unreadable-records.ts';
import { configWords } from '../rollout/messages/configs.ts';
import type { Receiver } from '../rollout/model/receiver.ts';
import type { Outage } from '../rollout/status/api-budget-status.ts';
import type { FleetAccess } from './fleet-access.ts';
import { forbiddenWords, type RedisConnections } from './redis-connections.ts';

/**
 * Whether the service answers, and whether all wait for it: also what daemons before this one found.
 * @param readStatus null while Redis can't be asked
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
    // Its own check says what is wrong with Redis.
    return ours;
  }
  if (outage === null) return ours;
  const { kind, reason, detail, since, until } = outage;
  if (kind !== 'serviceDown') {
    const end = until === null ? 'one request tries for all' : `all wait until ${isoOf(until)}`;
    return { ok: ours.ok, reason: `${ours.reason}; ${end}: ${reason}` };
  }
  const began = since === null ? '' : ` since ${isoOf(since)}`;
  const next = until === null ? 'now' : `next at ${isoOf(until)}`;
  const sinceWhen = since === null ? {} : { since };
  return {
    ok: false,
    kind: 'down',
    ...sinceWhen,
    reason: `down${began}: one request at a time tries it, ${next}. ${detail ?? reason}`,
  };
}

/** Whether receivers take their messages. Ready all the same: upgrades do not wait for anybody to hear of them. */
export async function notificationReadiness(
  outbox: Pick<Outbox, 'readFailures'>,
  receivers: readonly Pick<Receiver, 'name'>[],
): Promise<ReadinessCheck> {
  const failing = failingReceivers(await outbox.readFailures(), receivers);
  const [first] = failing;
  if (first === undefined) return { ok: true, reason: 'all receivers take their messages' };
  const since = Math.min(...failing.map((each) => each.since));
  return { ok: true, kind: 'failing', since, reason: failing.map(({ words }) => words).join('; ') };
}

/** Receivers that take no messages, each with a sentence for people. */
export function failingReceivers(
  failures: ReadonlyMap<string, ReceiverFailure>,
  receivers: readonly Pick<Receiver, 'name'>[],
): ReadonlyArray<{ readonly since: EpochMs; readonly words: string }> {
  return receivers.flatMap(({ name }) => {
    const failure = failures.get(name);
    if (failure === undefined) return [];
    const { since, reason, retryAt } = failure;
    const words = `receiver ${name} takes no messages since ${isoOf(since)}: ${reason}; next attempt at ${isoOf(retryAt)}`;
    return [{ since, words }];
  });
}

/** Whether reports can be written. Ready all the same: upgrades do not wait for reports. */
export function reportReadiness(
  { directory }: Pick<ReportConfig, 'directory'>,
  problem: ReportProblem | null,
): ReadinessCheck {
  if (problem === null) return { ok: true, reason: `reports are written to ${directory}` };
  const { reason, since } = problem;
  return {
    ok: true,
    kind: 'failing',
    since,
    reason: `no report has been written since ${isoOf(since)}: ${reason}`,
  };
}

function isoOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`;
}

/** Whether the loops can work with Redis: it is there, takes writes and does what we ask. */
export function redisReadiness(redis: RedisConnections): ReadinessCheck {
  const refusal = redis.writes.refusal();
  if (refusal !== null)
    return { ok: false, kind: 'unwritable', reason: `${redis.place} refuses writes: ${refusal}` };
  if (!redis.worker.isReady()) {
    const why = redis.unreachable();
    const reason = `no connection to ${redis.place}${why === null ? '' : `: ${why}`}`;
    return { ok: false, kind: 'away', ...sinceOf(redis), reason };
  }
  const refused = redis.rights.refused();
  if (refused.length > 0)
    return { ok: false, kind: 'forbidden', reason: forbiddenWords(redis.place, refused) };
  const fault = redis.faults.reason();
  if (fault !== null)
    return { ok: false, kind: 'fault', reason: `${redis.place} answers with an error: ${fault}` };
  return { ok: true, kind: 'connected', reason: 'connected' };
}

function sinceOf({ unreachableSince }: RedisConnections): { readonly since?: EpochMs } {
  const since = unreachableSince();
  return since === null ? {} : { since };
}

/**
 * Whether the config file is without a mistake, and living daemons agree about the policies. Ready all the same: this daemon
 * works by the config that it read last without a mistake, and each deploy passes through different ones for a while.
 */
export function configReadiness(
  configs: Pick<Configs, 'statuses'>,
  { at, problem }: ReloadStatus,
): ReadinessCheck {
  if (problem !== undefined) {
    const reason = `the config file has mistakes, so this daemon works by the config that it read before: ${problem}`;
    return { ok: true, kind: 'refused', since: at, reason };
  }
  const words = [...configs.statuses()].flatMap(([policy, status]) => configWords(policy, status) ?? []);
  const reason = words.length === 0 ? 'all daemons have the same config of each policy' : words.join('; ');
  return { ok: true, reason };
}

/**
 * Whether a newer upwave has written rollouts of this Redis. Ready all the same: while upwave itself is upgraded, two
 * versions run side by side.
 */
export function recordReadiness(records: Pick<BrokenRecords, 'newer'>): ReadinessCheck {
  const newer = records.newer();
  if (newer.length === 0) return { ok: true, reason: 'this upwave can read every active rollout' };
  return { ok: true, kind: 'newer', reason: `left to daemons of a newer version: ${newer.join('; ')}` };
}

/**
 * Whether rollouts of another account wait in this Redis. Ready all the same: the daemon works on what is its own, and has
 * to be reached by whoever aborts what is not.
 */
export function accountReadiness(accounts: Pick<Accounts, 'foreign'>): ReadinessCheck {
  const foreign = accounts.foreign();
  if (foreign.length === 0) return { ok: true, reason: 'every rollout on its way is of this account' };
  const reasons = foreign.map(({ rolloutId, reason }) => `${rolloutId} is left alone: ${reason}`);
  return { ok: true, reason: `needs a person: ${reasons.join('; ')}` };
}
