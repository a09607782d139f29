import { describe, expect, it } from 'vitest';
import { useRedis } from '../../support/redis/redis.ts';
import { allScripts } from '../../support/redis/redis-scripts.ts';

const redis = useRedis();
const scripts = await allScripts();

describe('the Lua scripts', () => {
  it.each([...scripts])(
    'compile in Redis, under the SHA-1 by which they are run: %s',
    async (_name, script) => {
      const { commands } = redis.connect();
      expect(await commands.script('LOAD', script.lua)).toBe(script.sha1);
    },
  );
});
