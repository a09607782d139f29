import { echoedForms } from '../../base/secret.ts';
import { basicToken } from '../../base/url-authority.ts';
import { accountConfigsOf } from '../../config/account-configs.ts';
import type { Config } from '../../config/config.ts';
import { redisUrlProblem } from '../../config/schema/redis-schema.ts';
import { redisConfigOf } from '../../daemon/redis-connections.ts';
import { type RedisConfig, redisSecretsOf } from '../../redis/connection/redis-config.ts';
import type { ReceiverPlace } from '../../rollout/model/receiver.ts';
import { UsageFailure } from './command.ts';
import { defaultRedis } from './open-config.ts';

/**
 * The Redis to use: the command line's word goes first, then the config's, then this machine's. Prefix and authorities,
 * for which the command line has no words, are the config's.
 * @throws CommandFailure for what is not a Redis URL, and for a password on the command line
 */
export function chooseRedis(config: Config, option: string | undefined): RedisConfig | 'embedded' {
  if (option === 'embedded') return 'embedded';
  const configured = config.redis ?? defaultRedis;
  if (option === undefined) return redisConfigOf(configured);
  const problem = redisUrlProblem(option);
  if (problem === 'passwordInQuery' || (URL.canParse(option) && new URL(option).password !== '')) {
    // Whoever may list processes sees it (P12).
    const message = 'a password on the command line is seen in the process list; set redis.url in the config';
    throw new UsageFailure(message);
  }
  if (problem === 'shape') {
    const message = '--redis wants redis://host:6379, rediss://host:6379, unix:///path, /path or embedded';
    throw new UsageFailure(message);
  }
  const { keyPrefix, ca } = redisConfigOf(configured);
  return { keyPrefix, url: option, ...(ca !== undefined && { ca }) };
}

// A shorter one may be any word: of a try-out, whose key is a letter, nothing could be read any more.
const hiddenFromLength = 8;

/**
 * Every form in which a service could send back what we sign in with, and what else of ours it may have got hold of:
 * commands that show what a service says hide them (P12).
 */
export function echoedSecretsOf(config: Config): readonly string[] {
  const accessIds = accountConfigsOf(config).map(({ service }) => service.accessId.reveal());
  const redis = config.redis === undefined ? 'embedded' : redisConfigOf(config.redis);
  const secrets = [...secretsOf(config, redis), ...accessIds];
  return echoedForms(secrets.filter(({ length }) => length >= hiddenFromLength));
}

/** Every secret of a config, so that no log line shows one (P12). */
export function secretsOf(config: Config, redis: RedisConfig | 'embedded'): readonly string[] {
  const secrets = accountConfigsOf(config).flatMap(({ service: { accessId, accessKey } }) => [
    accessKey.reveal(),
    basicToken({ name: accessId.reveal(), password: accessKey.reveal() }),
  ]);
  secrets.push(config.http.token?.reveal() ?? '');
  secrets.push(...config.http.tokens.map(({ token }) => token.reveal()));
  if (redis !== 'embedded') secrets.push(...redisSecretsOf(redis));
  secrets.push(...config.notify.flatMap(({ place }) => secretsOfPlace(place)));
  return secrets.filter((secret) => secret !== '');
}

// A shorter path is a word.
const secretPathLengthMin = 16;

/** The URL as a whole, and its path, which is what keeps others out. */
function secretsOfPlace(place: ReceiverPlace): readonly string[] {
  const ofUrl = (url: string) => {
    const path = new URL(url).pathname.slice(1);
    return path.length < secretPathLengthMin ? [url] : [url, path];
  };
  switch (place.kind) {
    case 'slack':
    case 'teams':
      return ofUrl(place.url.reveal());
    case 'webhook':
      return [...ofUrl(place.url.reveal()), place.secret.reveal()];
    case 'pagerDuty':
      return [place.routingKey.reveal()];
    case 'email':
      return place.login === null ? [] : [place.login.password.reveal()];
    default:
      return place satisfies never;
  }
}
