import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstTaskPollAt,
  firstVerifyPollAt,
  longRetryAt,
  nextAgainAt,
  nextDeferredPollAt,
  nextHeartbeatAt,
  nextRareTaskPollAt,
  nextTaskPollAt,
  nextVerifyPollAt,
  retryAt,
} from '../../../../src/rollout/upgrade/poll-schedule.ts';
import { aPolicy, startedAt } from '../../../support/builders.ts';

describe('the instants at which an upgrade is polled', () => {
  it('are whole milliseconds, whatever the durations of the policy', () => {
    const ms = fc.integer({ min: 1, max: 100_000_000 });
    fc.assert(
      fc.property(
        ms,
        ms,
        ms,
        ms,
        fc.double({ min: -1, max: 1, noNaN: true }),
        (expectMs, deadlineMs, verifyWithinMs, ageMs, jitter) => {
          const policy = aPolicy({ upgrade: { expectMs, deadlineMs, verifyWithinMs } });
          const at = startedAt + ageMs;
          const times = { startedAt, deadlineAt: startedAt + deadlineMs };
          const due = [
            firstTaskPollAt(at, policy),
            nextTaskPollAt({ ...times, at }, policy),
            nextRareTaskPollAt({ ...times, polledAt: at }, policy),
            firstVerifyPollAt(at, policy),
            nextVerifyPollAt({ verifyBy: at + verifyWithinMs, at }, policy),
            nextHeartbeatAt(at, policy),
            nextDeferredPollAt({ since: startedAt, at }, policy),
            nextAgainAt(at, 3, policy),
            retryAt(at, 2, jitter, policy),
            longRetryAt(at, jitter, policy),
          ];
          expect(due.filter((each) => !Number.isInteger(each) || each < startedAt)).toEqual([]);
        },
      ),
    );
  });
});
