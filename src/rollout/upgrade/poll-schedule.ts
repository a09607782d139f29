import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';

// Durations are about log-normal (field-facts.md, Upgrades), so the chance that a task ends in the next minute falls
// slowly with its age: polls spaced by a share of the age see each end with a delay in proportion to its duration.
const firstTaskPollShare = 0.5;
const laterTaskPollShare = 0.15;

// While pages show what changes, these polls are for what no page shows: a task that hangs.
const firstRarePollShare = 6;
const rarePollGrowth = 2;

// The service ends a task after 30 minutes (collector-api.md §3), and the default deadline is 35: a poll at 30 minutes
// and three seconds sees that end almost at once.
const timeoutShare = 6 / 7 + 1 / 700;

// A heartbeat comes every 15 s and an upgrade may take 10 minutes to show, so a thirtieth of that is a good first poll.
const firstVerifyShare = 1 / 12;
const laterVerifyShare = 1 / 20;

// The next heartbeat is there after 15 s (collector-api.md §8), and a little for its way. Where an upgrade takes less
// than five minutes, all there goes faster.
const heartbeatMaxMs: DurationMs = 18_000;
const heartbeatShare = heartbeatMaxMs / 300_000;

const deferredPollMaxMs = 30 * 60_000;

interface TaskTimes {
  readonly startedAt: EpochMs;
  readonly deadlineAt: EpochMs;
}

/** When to poll a task for the first time after its create. */
export function firstTaskPollAt(createdAt: EpochMs, policy: Policy): EpochMs {
  return after(createdAt, policy.upgrade.expectMs * firstTaskPollShare);
}

/** When to poll a task again; never later than its deadline, so that its end is not overlooked. */
export function nextTaskPollAt(times: TaskTimes & { at: EpochMs }, policy: Policy): EpochMs {
  const ageMs = Math.max(times.at - times.startedAt, policy.upgrade.expectMs * firstTaskPollShare);
  return noLaterThanItsEnds(after(times.at, ageMs * laterTaskPollShare), times, policy);
}

/** When to poll a task that is watched by pages, whatever they show: rarely, and where its time runs out. */
export function nextRareTaskPollAt(times: TaskTimes & { polledAt: EpochMs }, policy: Policy): EpochMs {
  const { startedAt, polledAt } = times;
  const ageMs = Math.max(
    policy.upgrade.expectMs * firstRarePollShare,
    (polledAt - startedAt) * rarePollGrowth,
  );
  return noLaterThanItsEnds(after(startedAt, ageMs), { ...times, at: polledAt }, policy);
}

/** The service's own time-out and our deadline are both polled for when they come. */
function noLaterThanItsEnds(nextAt: EpochMs, times: TaskTimes & { at: EpochMs }, policy: Policy): EpochMs {
  const timeoutAt = after(times.startedAt, policy.upgrade.deadlineMs * timeoutShare);
  const ends = [timeoutAt, times.deadlineAt].filter((endAt) => endAt > times.at);
  return Math.min(nextAt, ...ends);
}

/** When to poll an upgraded collector that has to come back, for the first time after its task's end. */
export function firstVerifyPollAt(endedAt: EpochMs, policy: Policy): EpochMs {
  return after(endedAt, policy.upgrade.verifyWithinMs * firstVerifyShare);
}

/** When to poll it again; a last poll is due exactly when its time is up. */
export function nextVerifyPollAt(times: { verifyBy: EpochMs; at: EpochMs }, policy: Policy): EpochMs {
  const nextAt = after(times.at, policy.upgrade.verifyWithinMs * laterVerifyShare);
  return times.at >= times.verifyBy ? nextAt : Math.min(nextAt, times.verifyBy);
}

/** When a collector that lives has shown a heartbeat newer than this instant. */
export function nextHeartbeatAt(since: EpochMs, policy: Policy): EpochMs {
  return after(since, Math.min(heartbeatMaxMs, policy.upgrade.expectMs * heartbeatShare));
}

/** When to poll a deferred collector again: soon at first, then less and less often. */
export function nextDeferredPollAt(times: { since: EpochMs; at: EpochMs }, policy: Policy): EpochMs {
  const waitMs = Math.max(policy.upgrade.expectMs * 0.5, (times.at - times.since) * 0.2);
  return after(times.at, Math.min(waitMs, deferredPollMaxMs));
}

/** When to repeat a call that brought no answer: 5 s, 10 s … 1 m where an upgrade takes 5 m, and in proportion. */
export function nextAgainAt(at: EpochMs, failedPolls: number, policy: Policy): EpochMs {
  const expectMs = policy.upgrade.expectMs;
  return after(at, Math.min((expectMs / 60) * 2 ** Math.min(failedPolls, 20), expectMs / 5));
}

/**
 * When a retry is due.
 * @param attempts tasks created so far, at least 1
 * @param jitter from -1 to 1: spreads retries, so that they do not return together
 */
export function retryAt(at: EpochMs, attempts: number, jitter: number, policy: Policy): EpochMs {
  const { initialMs, factor, maxMs } = policy.retry.backoff;
  return after(
    at,
    withJitter(Math.min(initialMs * factor ** Math.max(0, attempts - 1), maxMs), jitter, policy),
  );
}

/** When to retry what passes slowly, such as a full disk: the longest wait at once. */
export function longRetryAt(at: EpochMs, jitter: number, policy: Policy): EpochMs {
  return after(at, withJitter(policy.retry.backoff.maxMs, jitter, policy));
}

function withJitter(waitMs: DurationMs, jitter: number, policy: Policy): DurationMs {
  return Math.round(waitMs * (1 + policy.retry.backoff.jitter * jitter));
}

/** Instants are whole milliseconds, in records and in JSON. */
function after(at: EpochMs, waitMs: DurationMs): EpochMs {
  return at + Math.ceil(waitMs);
}

/** When a poll is due whose upgrade a page showed unchanged; one that is due by now goes ahead. */
export function putOff(dueAt: EpochMs, at: EpochMs, until: EpochMs): EpochMs {
  return dueAt <= at ? dueAt : Math.max(dueAt, until);
}
