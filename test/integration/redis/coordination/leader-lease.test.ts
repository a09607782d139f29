import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LeaderLease } from '../../../../src/orchestrator/ports/leader.ts';
import { makeRedisFaults } from '../../../../src/redis/connection/faults.ts';
import { makeRedisLeaderLease } from '../../../../src/redis/coordination/leader-lease.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { quietLease } from '../../../support/redis/redis-adapters.ts';
import { settableClocks } from '../../../support/settable-clocks.ts';
import { until } from '../../../support/until.ts';

const redis = useRedis();

type Parts = Partial<Parameters<typeof makeRedisLeaderLease>[0]>;

function aLease(keyPrefix: string, parts: Parts = {}): LeaderLease {
  const lease = makeRedisLeaderLease({
    ...quietLease,
    commands: redis.connect().commands,
    keyPrefix,
    ...parts,
  });
  onTestFinished(() => lease.release());
  return lease;
}

/** Fakes the timers of the lease, so that a slow machine does not change the result. */
function freezeTime(): void {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
}

// Ahead of the clock, from which an epoch begins.
const farEpoch = 9_000_000_041;

// Longer than any test takes.
const leaseMs = 600_000;

describe('the leader lease', () => {
  it('reports a failure at a reachable Redis, instead of silent retries for ever', async () => {
    const { commands, keyPrefix } = redis.place();
    await commands.hset(`${keyPrefix}:{leader}:lease`, 'of', 'another type');
    const notices: string[] = [];
    const faults = makeRedisFaults({
      onFault: (reason) => notices.push(reason),
      onOver: (what) => notices.push(what),
    });
    const lease = aLease(keyPrefix, { leaseMs: 300, faults });
    expect(await lease.hold()).toBeUndefined();
    await until('the fault to be reported', () => notices.length > 0);
    expect(notices[0]).toMatch(/^the leader lease: .*WRONGTYPE/);
    await commands.del(`${keyPrefix}:{leader}:lease`);
    await until('the lease to be held', async () => (await lease.hold()) !== undefined);
    expect(notices).toHaveLength(2);
    expect(faults.reason()).toBeNull();
  });

  it('goes to another daemon after `giveWay`, with a higher fence, and may be taken again after the pause', async () => {
    const { keyPrefix } = redis.config();
    const { clocks, pass } = settableClocks();
    const first = aLease(keyPrefix, { leaseMs: 300, clocks });
    const held = await until('the lease', () => first.hold());
    await first.giveWay(1_000);
    expect(await first.hold()).toBeUndefined();
    const second = aLease(keyPrefix, { leaseMs });
    expect(await until('the other one to have it', () => second.hold())).toBeGreaterThan(held);
    await second.release();
    expect(await first.hold()).toBeUndefined();
    pass(1_000);
    await until('it to be held again', () => first.hold());
  });

  it('of a killed daemon is taken when it expires, with a higher fence', async () => {
    const { commands, keyPrefix } = redis.place();
    await commands.set(`${keyPrefix}:{leader}:epoch`, farEpoch);
    await commands.set(`${keyPrefix}:{leader}:lease`, 'killed', 'PX', 300);
    const taken: string[] = [];
    const lease = aLease(keyPrefix, { leaseMs, onTaken: () => taken.push('taken') });
    expect(await lease.hold()).toBeUndefined();
    await until('the lease to be taken', () => taken.length > 0);
    expect(await lease.hold()).toBeGreaterThan(farEpoch);
    expect(taken).toHaveLength(1);
  });

  it('is renewed while it is held, beyond its length', async () => {
    const { commands, keyPrefix } = redis.place();
    const key = `${keyPrefix}:{leader}:lease`;
    freezeTime();
    const [first, second] = [aLease(keyPrefix, { leaseMs }), aLease(keyPrefix, { leaseMs })];
    const fence = await first.hold();
    expect(fence).toBeGreaterThan(0);
    // Renewed each third of its length, so that after four times it would long be over.
    for (let renewal = 1; renewal <= 4; renewal += 1) {
      // The clock of Redis cannot be faked.
      await commands.pexpire(key, leaseMs / 2);
      await vi.advanceTimersByTimeAsync(leaseMs / 3);
      await until('a renewal', async () => (await commands.pttl(key)) > leaseMs / 2);
      expect(await second.hold()).toBeUndefined();
      expect(await first.hold()).toBe(fence);
    }
  });

  it('has a higher fence than before, even when its epoch was lost (P11)', async () => {
    const { commands, keyPrefix } = redis.place();
    const before = aLease(keyPrefix);
    const fence = (await before.hold()) ?? 0;
    await before.release();
    await commands.del(`${keyPrefix}:{leader}:epoch`);
    const after = aLease(keyPrefix);
    // Not within the same second of Redis's clock.
    await expect.poll(async () => Number((await commands.time())[0])).toBeGreaterThan(fence);
    expect(await after.hold()).toBeGreaterThan(fence);
  });

  it('that expired is reported once and at once, although the leader is waiting', async () => {
    const away = redis.connect();
    let lapses = 0;
    freezeTime();
    const onLapsed = () => {
      lapses += 1;
    };
    const { keyPrefix } = redis.config();
    const lease = aLease(keyPrefix, { commands: away.commands, leaseMs, onLapsed });
    const fence = await lease.hold();
    expect(fence).toBeGreaterThan(0);
    await away.close();
    await vi.advanceTimersByTimeAsync(leaseMs - 1);
    expect(lapses).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(lapses).toBe(1);
    expect(await lease.hold()).toBeUndefined();
    expect(lapses).toBe(1);
  });

  it('is not used in its last sixth', async () => {
    const { clocks, pass } = settableClocks();
    const lease = aLease(redis.config().keyPrefix, { leaseMs: 60_000, clocks });
    const fence = await lease.hold();
    expect(fence).toBeGreaterThan(0);
    pass(49_999);
    expect(await lease.hold()).toBe(fence);
    pass(1);
    expect(await lease.hold()).toBeUndefined();
  });

  it.each([
    ['the machine was suspended for longer', 60_000],
    ['the clock was set forward', 3_600_000],
    ['the clock was set back, which hides how long the machine was suspended', -3_600_000],
  ])('is not used after %s', async (_what, byMs) => {
    const { clocks, pass, setWall } = settableClocks();
    const lease = aLease(redis.config().keyPrefix, { leaseMs: 60_000, clocks });
    expect(await lease.hold()).toBeGreaterThan(0);
    pass(1_000);
    setWall(byMs);
    expect(await lease.hold()).toBeUndefined();
  });

  it('is given to another daemon while this one may not lead, and is taken back later', async () => {
    const { keyPrefix } = redis.config();
    let mayLead = true;
    const first = aLease(keyPrefix, { leaseMs: 300, mayLead: () => mayLead });
    await until('the lease', () => first.hold());
    mayLead = false;
    expect(await first.hold()).toBeUndefined();
    const second = aLease(keyPrefix, { leaseMs: 300 });
    await until('the other one to have it', () => second.hold());
    mayLead = true;
    await second.release();
    await until('it to be held again', () => first.hold());
  });

  it('does not release a lease that another daemon took meanwhile', async () => {
    const { commands, keyPrefix } = redis.place();
    const lease = aLease(keyPrefix, { leaseMs: 60_000 });
    await lease.hold();
    await commands.set(`${keyPrefix}:{leader}:lease`, 'another');
    await lease.release();
    expect(await commands.get(`${keyPrefix}:{leader}:lease`)).toBe('another');
  });
});
