import { describe, expect, it } from 'vitest';
import { makeRedisKeyMemory } from '../../../../src/redis/api-budget/key-memory.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();
const accessId = 'suABCDEFG12345';
const accessKey = 'theAccessKeyThatNobodySees';
const dayS = 86_400;

function aMemory(keyPrefix: string, key = accessKey, now = () => 0) {
  return makeRedisKeyMemory({ commands: redis.connect().commands, keyPrefix, accessId, accessKey: key, now });
}

describe('the memory of an access key', () => {
  it('knows after a restart that the key has worked, and nothing about an unused one', async () => {
    const { keyPrefix } = redis.config();
    expect(await aMemory(keyPrefix).hasWorked()).toBe(false);
    await aMemory(keyPrefix).worked();
    expect(await aMemory(keyPrefix).hasWorked()).toBe(true);
    expect(await aMemory(keyPrefix, 'theNextKeyWithASlipInIt').hasWorked()).toBe(false);
    expect(await aMemory(redis.config().keyPrefix).hasWorked()).toBe(false);
  });

  it('lasts for 30 days from the last day on which it worked', async () => {
    const { commands, keyPrefix } = redis.place();
    let now = 0;
    const memory = aMemory(keyPrefix, accessKey, () => now);
    await memory.worked();
    const [key = ''] = await commands.keys(`${keyPrefix}:*`);
    expect(await commands.ttl(key)).toBeGreaterThan(30 * dayS - 60);
    await commands.expire(key, 100);
    now = dayS * 1_000 - 1;
    await memory.worked();
    expect(await commands.ttl(key)).toBeLessThanOrEqual(100);
    now += 1;
    await memory.worked();
    expect(await commands.ttl(key)).toBeGreaterThan(30 * dayS - 60);
  });

  it('loses no answer of the service when Redis refuses writes', async () => {
    const refusing = new Proxy(redis.connect().commands, {
      get: (target, name) =>
        name === 'set' ? () => Promise.reject(new Error('OOM')) : Reflect.get(target, name),
    });
    const { keyPrefix } = redis.config();
    const memory = makeRedisKeyMemory({ commands: refusing, keyPrefix, accessId, accessKey, now: () => 0 });
    await expect(memory.worked()).resolves.toBeUndefined();
  });
});
