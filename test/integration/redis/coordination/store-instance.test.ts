import { beforeEach, describe, expect, it } from 'vitest';
import { instanceKey, makeRedisStoreInstance } from '../../../../src/redis/coordination/store-instance.ts';
import { startedAt } from '../../../support/builders.ts';
import { echoingCommands } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisRegister, aRedisStore } from '../../../support/redis/redis-adapters.ts';

const redis = useRedis();
const word = { by: 'ann', reason: 'never touch', at: startedAt };
const group = { label: 'fields.rack=r7', attributes: [{ key: 'fields.rack', value: 'r7' }], ...word };
const holds = {
  builds: [{ build: '19.1-1', ...word }],
  collectors: [{ collectorId: 7, ...word }],
  groups: [group],
};
const lost = {
  holds,
  takenIds: ['production-20260302-4', 'staging-20260301-1'],
};

describe.each([
  ['once', false],
  ['twice', true],
])('the instance id of Redis, each script sent %s', (_name, isEchoed) => {
  let place: ReturnType<typeof redis.place>;
  beforeEach(() => {
    place = redis.place();
  });
  const make = () => {
    const commands = isEchoed ? echoingCommands(place.commands) : place.commands;
    return makeRedisStoreInstance({ ...place, commands });
  };

  it('is the same for all daemons until Redis loses its data', async () => {
    const first = await make().identify();
    expect(await make().identify()).toBe(first);
    expect(await place.commands.del(instanceKey(place.keyPrefix))).toBe(1);
    expect(await make().identify()).not.toBe(first);
  });

  it('restores holds and numbers, and never undoes later requests (P5)', async () => {
    const register = aRedisRegister(place);
    const store = aRedisStore(place);
    const instance = await make().identify();
    await register.holdBuild({ build: '19.1-1', ...word, by: 'bob' });
    await make().putBack({ instance, ...lost });
    expect(await register.holds()).toEqual({
      builds: [{ build: '19.1-1', ...word, by: 'bob' }],
      collectors: holds.collectors,
      groups: [group],
    });
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(5);
    expect(await store.nextRolloutNumber('staging', '20260302')).toBe(1);
    await register.releaseCollector(7);
    // Another daemon, which knew one more, comes late.
    const more = {
      ...lost,
      holds: { ...holds, collectors: [...holds.collectors, { collectorId: 8, ...word }] },
    };
    await make().putBack({ instance, ...more, takenIds: ['production-20260302-2'] });
    expect((await register.holds()).collectors.map(({ collectorId }) => collectorId)).toEqual([8]);
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(5);
  });
});
