import { describe, expect, it } from 'vitest';
import { makeRedisConfigRegister } from '../../../../src/redis/coordination/config-register.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();
const settings = [{ key: 'notify', hash: 'cccc' }];
const readAccount = async () => 'https://api.example.com 5f3a';

describe('the register of living daemons', () => {
  function aDaemon(keyPrefix: string, hash: string, followsSchedule = true) {
    const own = [{ policy: 'production', hash }];
    return makeRedisConfigRegister({
      commands: redis.connect().commands,
      keyPrefix,
      followsSchedule,
      readAccount,
      readSettings: () => settings,
      own,
    });
  }

  it('numbers configs in the order in which they were first seen', async () => {
    const { keyPrefix } = redis.config();
    const old = aDaemon(keyPrefix, 'aaaa');
    const next = aDaemon(keyPrefix, 'bbbb', false);
    expect(await old.beat()).toEqual({
      own: [{ policy: 'production', hash: 'aaaa', generation: 1 }],
      account: 'https://api.example.com 5f3a',
      settings,
      beatAt: expect.any(Number),
      others: [],
    });
    expect((await next.beat()).own).toMatchObject([{ generation: 2 }]);
    // A restart with the old config is no new one.
    const again = aDaemon(keyPrefix, 'aaaa');
    expect((await again.beat()).own).toMatchObject([{ generation: 1 }]);
    const { others } = await old.beat();
    expect(others).toHaveLength(2);
    expect(others).toContainEqual(
      expect.objectContaining({
        followsSchedule: false,
        configs: [{ policy: 'production', hash: 'bbbb', generation: 2 }],
      }),
    );
  });

  it('treats a reloaded config as the newest, even where it was in use before', async () => {
    const { keyPrefix } = redis.config();
    const one = aDaemon(keyPrefix, 'aaaa');
    const other = aDaemon(keyPrefix, 'bbbb');
    await one.beat();
    await other.beat();
    other.replace([{ policy: 'production', hash: 'aaaa' }]);
    expect((await other.beat()).own).toEqual([{ policy: 'production', hash: 'aaaa', generation: 3 }]);
    // Once; and what has not changed keeps its place.
    expect((await other.beat()).own).toMatchObject([{ generation: 3 }]);
    other.replace([{ policy: 'production', hash: 'aaaa' }]);
    expect((await other.beat()).own).toMatchObject([{ generation: 3 }]);
  });

  it('shows what each daemon has outside of its policies', async () => {
    const { keyPrefix } = redis.config();
    const parts = { keyPrefix, followsSchedule: true, readAccount, own: [] };
    const aDaemonWith = (hash: string) =>
      makeRedisConfigRegister({
        ...parts,
        commands: redis.connect().commands,
        readSettings: () => [{ key: 'notify', hash }],
      });
    const [one, other] = [aDaemonWith('aaaa'), aDaemonWith('bbbb')];
    await one.beat();
    expect(await other.beat()).toMatchObject({
      settings: [{ key: 'notify', hash: 'bbbb' }],
      others: [{ settings: [{ key: 'notify', hash: 'aaaa' }] }],
    });
  });

  it('drops a daemon that leaves, and keeps one without policies', async () => {
    const { keyPrefix } = redis.config();
    const one = aDaemon(keyPrefix, 'aaaa');
    const empty = makeRedisConfigRegister({
      commands: redis.connect().commands,
      keyPrefix,
      followsSchedule: true,
      readAccount,
      readSettings: () => settings,
      own: [],
    });
    await one.beat();
    expect(await empty.beat()).toMatchObject({ own: [], others: [{ configs: [{ hash: 'aaaa' }] }] });
    expect((await one.beat()).others).toMatchObject([{ configs: [] }]);
    await empty.leave();
    expect((await one.beat()).others).toEqual([]);
    // A heartbeat after `leave` must not register the daemon again.
    expect(await empty.beat()).toMatchObject({ own: [], others: [] });
    expect((await one.beat()).others).toEqual([]);
  });

  it('drops a daemon that has sent no heartbeat for ten seconds, by the clock of Redis', async () => {
    const { commands, keyPrefix } = redis.place();
    const one = aDaemon(keyPrefix, 'aaaa');
    await one.beat();
    const [seconds] = await commands.time();
    const said = JSON.stringify({
      followsSchedule: true,
      account: '',
      configs: [{ policy: 'production', hash: 'bbbb' }],
    });
    const key = `${keyPrefix}:{leader}:daemons`;
    await commands.hset(key, 'lately', `${(Number(seconds) - 5) * 1_000} ${said}`);
    await commands.hset(key, 'long ago', `${(Number(seconds) - 12) * 1_000} ${said}`);
    await commands.hset(key, 'broken', `${seconds}000 {`);
    expect((await one.beat()).others).toHaveLength(1);
    expect(await commands.hkeys(key)).not.toContain('long ago');
    expect(await commands.hkeys(key)).not.toContain('broken');
  });
});
