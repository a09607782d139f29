import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';

// Durations are roughly log-normal (field-facts.md, Upgrades), so the probability that a task ends in the next minute
// falls slowly with its age. Polls spaced by a share of the age notice each end with a proportional delay.
const firstTaskPollShare = 0.5;
const laterTaskPollShare = 0.15;

// The task itself will hardly show its end.
const missingTaskPollShare = 0.5;

// While list pages show changes, these polls detect what no page shows: a task that hangs.
const firstRarePollShare = 6;
const rarePollGrowth = 2;

// The service ends a task after 30 minutes (collector-api.md §3), and the default deadline is 35: a poll at 30 minutes
// and three seconds sees that end almost at once.
const timeoutShare = 6 / 7 + 1 / 700;

// A heartbeat comes every 15 s and an upgrade may take 10 minutes to show, so a thirtieth of that is a good first poll.
const firstVerifyShare = 1 / 12;
const laterVerifyShare = 1 / 20;

// The next heartbeat comes after 15 s (collector-api.md §8), plus some transit time. Where upgrades take less than five
// minutes, as in tests, everything is scaled down.
const heartbeatMaxMs: DurationMs = 18_000;
const heartbeatShare = heartbeatMaxMs / 300_000;

// The watch rests for a third of a heartbeat at most, and reads a dozen small pages in three seconds.
const listWaitShare = 1 / 2;

const deferredPollMaxMs = 30 * 60_000;

// A pause, a reload or a closing window puts an upgrade back once or twice. The longest wait is that of a scan that fails.
const putBacksFree = 2;
const putBackWait: { readonly min: DurationMs; readonly max: DurationMs } = { min: 60_000, max: 15 * 60_000 };

interface TaskTimes {
  readonly startedAt: EpochMs;
  readonly deadlineAt: EpochMs;
}

/** When to poll a task for the first time after its create. */
export function firstTaskPollAt(createdAt: EpochMs, policy: Policy): EpochMs {
  return after(createdAt, policy.upgrade.expectMs * firstTaskPollShare);
}

/** When to poll a task again; not later than its deadline. */
export function nextTaskPollAt(times: TaskTimes & { at: EpochMs }, policy: Policy): EpochMs {
  const ageMs = Math.max(times.at - times.startedAt, policy.upgrade.expectMs * firstTaskPollShare);
  return noLaterThanLimits(after(times.at, ageMs * laterTaskPollShare), times, policy);
}

/** When to poll a task again that the service does not know, or whose status is unknown. */
export function nextMissingTaskPollAt(times: TaskTimes & { at: EpochMs }, policy: Policy): EpochMs {
  const ageMs = Math.max(times.at - times.startedAt, policy.upgrade.expectMs * firstTaskPollShare);
  return noLaterThanLimits(after(times.at, ageMs * missingTaskPollShare), times, policy);
}

/** When to poll a task that list pages watch: rarely, and at its time-out and deadline. */
export function nextRareTaskPollAt(times: TaskTimes & { polledAt: EpochMs }, policy: Policy): EpochMs {
  const { startedAt, polledAt } = times;
  const ageMs = Math.max(
    policy.upgrade.expectMs * firstRarePollShare,
    (polledAt - startedAt) * rarePollGrowth,
  );
  return noLaterThanLimits(after(startedAt, ageMs), { ...times, at: polledAt }, policy);
}

/** Polls exactly at the service's own time-out and at our deadline. */
function noLaterThanLimits(nextAt: EpochMs, times: TaskTimes & { at: EpochMs }, policy: Policy): EpochMs {
  const timeoutAt = after(times.startedAt, policy.upgrade.deadlineMs * timeoutShare);
  const ends = [timeoutAt, times.deadlineAt].filter((endAt) => endAt > times.at);
  return Math.min(nextAt, ...ends);
}

/** When to poll a collector for the first time after the end of its task. */
export function firstVerifyPollAt(endedAt: EpochMs, policy: Policy): EpochMs {
  return after(endedAt, policy.upgrade.verifyWithinMs * firstVerifyShare);
}

/** When to poll it again; the last poll is due exactly when its time is up. */
export function nextVerifyPollAt(times: { verifyBy: EpochMs; at: EpochMs }, policy: Policy): EpochMs {
  const nextAt = after(times.at, policy.upgrade.verifyWithinMs * laterVerifyShare);
  return times.at >= times.verifyBy ? nextAt : Math.min(nextAt, times.verifyBy);
}

/** By when a live collector has shown a heartbeat newer than this instant. */
export function nextHeartbeatAt(since: EpochMs, policy: Policy): EpochMs {
  return after(since, heartbeatWaitMs(policy.upgrade.expectMs));
}

/** When a list has shown a collector that was just admitted. One request may replace the polls of a whole wave. */
export function nextListAt(admittedAt: EpochMs, { upgrade: { expectMs } }: Policy): EpochMs {
  return after(admittedAt, heartbeatWaitMs(expectMs) * listWaitShare);
}

/** How long the next heartbeat of a live collector takes to show. @param expectMs the usual duration of upgrades */
export function heartbeatWaitMs(expectMs: DurationMs): DurationMs {
  return Math.min(heartbeatMaxMs, expectMs * heartbeatShare);
}

/**
 * When to poll a collector for the first time after it was deferred. What deferred it before may do so again, so it waits
 * for as long as all times before.
 * @param times `since`: as if all its waits were consecutive
 */
export function firstDeferredPollAt(times: { since: EpochMs; at: EpochMs }, policy: Policy): EpochMs {
  const deferredMs = times.at - times.since;
  const leftMs = Math.max(0, policy.defer.upToMs - deferredMs);
  const waitMs = Math.max(policy.upgrade.expectMs * 0.5, Math.min(deferredMs, leftMs));
  return after(times.at, Math.min(waitMs, deferredPollMaxMs));
}

/** When to poll a deferred collector again, with growing intervals. */
export function nextDeferredPollAt(times: { since: EpochMs; at: EpochMs }, policy: Policy): EpochMs {
  const waitMs = Math.max(policy.upgrade.expectMs * 0.5, (times.at - times.since) * 0.2);
  return after(times.at, Math.min(waitMs, deferredPollMaxMs));
}

/** When to repeat a request without an answer: 5 s, 10 s … 1 m for a five-minute upgrade, otherwise in proportion. */
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

/** When to retry after a slow condition, such as a full disk: after the longest wait. */
export function longRetryAt(at: EpochMs, jitter: number, policy: Policy): EpochMs {
  return after(at, withJitter(policy.retry.backoff.maxMs, jitter, policy));
}

function withJitter(waitMs: DurationMs, jitter: number, policy: Policy): DurationMs {
  return Math.round(waitMs * (1 + policy.retry.backoff.jitter * jitter));
}

/** Rounds up, because instants are whole milliseconds in records and JSON. */
function after(at: EpochMs, waitMs: DurationMs): EpochMs {
  return at + Math.ceil(waitMs);
}

/** Postpones the poll of an upgrade that a page showed unchanged, unless the poll is already due. */
export function postponePoll(dueAt: EpochMs, at: EpochMs, until: EpochMs): EpochMs {
  return dueAt <= at ? dueAt : Math.max(dueAt, until);
}

/** How long an upgrade waits after it was put back this often; 0 for the first times. */
export function putBackWaitMs(putBacks: number): DurationMs {
  if (putBacks <= putBacksFree) return 0;
  return Math.min(putBackWait.max, putBackWait.min * 2 ** (putBacks - putBacksFree - 1));
}
