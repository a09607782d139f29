import { afterEach, describe, expect, it } from 'vitest';
import {
  type ApiBudgetLedger,
  makeApiBudgetLedger,
  type Reservation,
} from '../../../../src/redis/api-budget/ledger.ts';
import { makeReadApiBudgetStatus } from '../../../../src/redis/api-budget/read-status.ts';
import { SlidingWindow } from '../../../../src/reference-service/server/sliding-window.ts';
import { passBudgetTime } from '../../../support/budget-time.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();
const accessId = 'suABCDEFG12345';
const limitPerSecond = 4;
const minute = 60_000;
const ledgers: ApiBudgetLedger[] = [];

afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()));
});

/**
 * A daemon that always has something to send, and a service with the limit of the real one, on a clock that runs as fast as
 * the machine can. Another client of the same user sends evenly, and does not care what it is answered.
 */
function aSharedLimit() {
  const { commands, keyPrefix } = redis.place();
  const shared = { commands, keyPrefix, accessId, requestsPerSecond: limitPerSecond };
  const ledger = makeApiBudgetLedger(shared);
  ledgers.push(ledger);
  const readStatus = makeReadApiBudgetStatus({ ...shared, clock: { now: () => Date.now() } });
  const accepted = new SlidingWindow(1_000);
  let passedMs = 0;
  let other = { everyMs: Number.POSITIVE_INFINITY, nextAt: Number.POSITIVE_INFINITY };
  const counts = { accepted: 0, refused: 0 };
  const now = () => performance.now() + passedMs;

  const isAccepted = (at: number): boolean => {
    if (accepted.count(at) >= limitPerSecond) return false;
    accepted.add(at);
    return true;
  };
  const pass = async (forMs: number): Promise<void> => {
    const wholeMs = Math.max(0, Math.ceil(forMs));
    if (wholeMs > 0) await passBudgetTime(commands, { keyPrefix, accessId }, wholeMs);
    passedMs += wholeMs;
    for (; other.nextAt <= now(); other.nextAt += other.everyMs) isAccepted(other.nextAt);
  };
  const send = async (slot: Extract<Reservation, { kind: 'granted' }>['slots'][number]): Promise<void> => {
    // By its own instant: how long this process takes is none of the service's business.
    const at = slot.at + passedMs;
    await pass(slot.at - performance.now());
    const answered = isAccepted(at);
    counts[answered ? 'accepted' : 'refused'] += 1;
    if (answered) await ledger.succeeded();
    else await ledger.pause({ kind: 'rate', forMs: 0 });
    ledger.giveBack(slot.permit);
  };

  return {
    otherSends: (requestsPerSecond: number) => {
      const everyMs = 1_000 / requestsPerSecond;
      other = { everyMs, nextAt: now() + everyMs };
    },
    otherIsGone: () => {
      other = { everyMs: Number.POSITIVE_INFINITY, nextAt: Number.POSITIVE_INFINITY };
    },
    /** @returns what came of the requests of this time */
    work: async (forMs: number) => {
      const before = { ...counts };
      const until = now() + forMs;
      while (now() < until) {
        const reservation = await ledger.reserve(1, 0);
        if (reservation.kind !== 'granted') await pass(reservation.retryInMs);
        else for (const slot of reservation.slots) await send(slot);
      }
      return {
        requestsPerSecond: (counts.accepted - before.accepted) / (forMs / 1_000),
        refused: counts.refused - before.refused,
      };
    },
    allowed: async () => (await readStatus()).requestsPerSecondNow,
  };
}

describe('a limit that another client of the same user shares', () => {
  it('is used to what the other leaves, with few 429s, and whole again within minutes after the other is gone', async () => {
    const { otherSends, otherIsGone, work, allowed } = aSharedLimit();
    otherSends(2);
    await work(2 * minute);
    const shared = await work(4 * minute);
    // Measured over an hour: 32 refusals, and 94 % of what the other leaves.
    expect(shared.refused).toBeLessThan(6);
    expect(shared.requestsPerSecond).toBeGreaterThan(1.7);
    expect(await allowed()).toBeLessThan(2.2);
    otherIsGone();
    let minutes = 0;
    for (; minutes < 20 && (await allowed()) < limitPerSecond; minutes += 1) await work(minute);
    expect(minutes).toBeLessThan(10);
  });
});
