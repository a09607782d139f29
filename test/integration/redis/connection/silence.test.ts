import { describe, expect, it } from 'vitest';
import { makeRedisConnection } from '../../../../src/redis/connection/connection.ts';
import { isRedisSilence } from '../../../../src/redis/connection/redis-errors.ts';
import { openTcpProxy } from '../../../support/network/tcp-proxy.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();

describe('an unanswered command of Redis', () => {
  it.each(['swallow', 'refuse'] as const)(
    'is distinguished from other errors of a command when the connection is cut (%s)',
    async (how) => {
      const config = redis.config();
      const target = new URL('url' in config ? config.url : '');
      const proxy = await openTcpProxy(Number(target.port));
      target.port = String(proxy.port);
      target.hostname = '127.0.0.1';
      const { commands, close } = makeRedisConnection({ url: target.href, keyPrefix: 'x' }, 'handler');
      await expect.poll(() => commands.ping().catch(() => 'not yet')).toBe('PONG');
      // A mistake of ours is answered, and is none.
      const mistake: unknown = await commands
        .get('a')
        .then(
          () => commands.zrange('a', 'x', 'y'),
          (error: unknown) => error,
        )
        .catch((error: unknown) => error);
      expect(mistake).toBeInstanceOf(Error);
      expect(isRedisSilence(mistake)).toBe(false);
      proxy.cut(how);
      const silence: unknown = await commands.ping().catch((error: unknown) => error);
      expect([String(silence), isRedisSilence(silence)]).toEqual([String(silence), true]);
      await close();
      await proxy.close();
    },
  );
});
