import type { Config } from '../config/config.ts';
import { redisConfigOf } from '../daemon/redis-connections.ts';
import type { RedisConfig } from '../redis/redis-config.ts';
import { CommandFailure } from './command-failure.ts';
import { defaultRedis } from './default-redis.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * The Redis to use: the command line's word goes first, then the config's, then this machine's.
 * @throws CommandFailure for a password on the command line
 */
export function chooseRedis(config: Config, option: string | undefined): RedisConfig | 'embedded' {
  if (option === 'embedded') return 'embedded';
  const configured = config.redis ?? defaultRedis;
  if (option === undefined) return redisConfigOf(configured);
  if (passwordsIn(option).length > 0) {
    // Whoever may list processes sees it (P12).
    const message = 'a password on the command line is seen in the process list; set redis.url in the config';
    throw new CommandFailure(exitCodes.usageOrConfig, message);
  }
  return { keyPrefix: configured.keyPrefix, url: option };
}

/** Every secret of a config, so that no log line shows one (P12). */
export function secretsOf(config: Config, redis: RedisConfig | 'embedded'): readonly string[] {
  const { accessId, accessKey } = config.service;
  const basic = Buffer.from(`${accessId.reveal()}:${accessKey.reveal()}`).toString('base64');
  const secrets = [accessKey.reveal(), basic, config.http.token?.reveal() ?? ''];
  if (redis !== 'embedded') {
    if ('url' in redis) secrets.push(...passwordsIn(redis.url));
    else secrets.push(redis.password ?? '');
  }
  return secrets.filter((secret) => secret !== '');
}

/** The password of a URL, as it stands there and as it is meant. */
function passwordsIn(url: string): readonly string[] {
  const written = URL.canParse(url) ? new URL(url).password : '';
  if (written === '') return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    // Not percent-encoded after all.
    return [written];
  }
}
