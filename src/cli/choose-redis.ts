import type { Config } from '../config/config.ts';
import { redisConfigOf } from '../daemon/redis-connections.ts';
import type { RedisConfig } from '../redis/redis-config.ts';

/** Where Redis is when neither the config nor the command line says so (DESIGN §4). */
const defaultRedisUrl = 'redis://127.0.0.1:6379';
const defaultKeyPrefix = 'upwave';

/** The Redis to use: the command line's word goes first, then the config's, then this machine's. */
export function chooseRedis(config: Config, option: string | undefined): RedisConfig | 'embedded' {
  if (option === 'embedded') return 'embedded';
  const keyPrefix = config.redis?.keyPrefix ?? defaultKeyPrefix;
  if (option !== undefined) return { keyPrefix, url: option };
  return config.redis === undefined ? { keyPrefix, url: defaultRedisUrl } : redisConfigOf(config.redis);
}

/** Every secret of a config, so that no log line shows one (P12). */
export function secretsOf(config: Config, redis: RedisConfig | 'embedded'): readonly string[] {
  const { accessId, accessKey } = config.service;
  const basic = Buffer.from(`${accessId.reveal()}:${accessKey.reveal()}`).toString('base64');
  const secrets = [accessKey.reveal(), basic, config.http.token?.reveal() ?? ''];
  if (redis !== 'embedded') {
    if ('url' in redis) secrets.push(passwordIn(redis.url));
    else secrets.push(redis.password ?? '');
  }
  return secrets.filter((secret) => secret !== '');
}

function passwordIn(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';
}
