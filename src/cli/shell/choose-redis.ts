import { echoedForms, hiddenKeyLengthMin } from '../../base/secret.ts';
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
 * The Redis to use: that of the command line, else of the config, else of this machine. Prefix and certificate authorities
 * have no option, and come from the config.
 * @throws CommandFailure for a value that is not a Redis URL, and for a password on the command line
 */
export function chooseRedis(config: Config, option: string | undefined): RedisConfig | 'embedded' {
  if (option === 'embedded') return 'embedded';
  const configured = config.redis ?? defaultRedis;
  if (option === undefined) return redisConfigOf(configured);
  const problem = redisUrlProblem(option);
  if (problem === 'passwordInQuery' || (URL.canParse(option) && new URL(option).password !== '')) {
    // Anyone who may list processes sees it (P12).
    const message =
      'the process list shows a password on the command line; set redis.url in the config instead';
    throw new UsageFailure(message);
  }
  if (problem === 'shape') {
    const message = '--redis takes redis://host:6379, rediss://host:6379, unix:///path, /path or embedded';
    throw new UsageFailure(message);
  }
  const { keyPrefix, ca } = redisConfigOf(configured);
  return { keyPrefix, url: option, ...(ca !== undefined && { ca }) };
}

/**
 * Every form in which a service could send back our credentials and other secrets of ours. Commands that show answers of a
 * service redact these texts (P12).
 */
export function echoedSecretsOf(config: Config): readonly string[] {
  const accessIds = accountConfigsOf(config).map(({ service }) => service.accessId.reveal());
  const redis = config.redis === undefined ? 'embedded' : redisConfigOf(config.redis);
  const secrets = [...secretsOf(config, redis), ...accessIds];
  return echoedForms(secrets.filter(({ length }) => length >= hiddenKeyLengthMin));
}

/** Every secret of a config: no log line may show one (P12). */
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

// A shorter path is an ordinary word.
const secretPathLengthMin = 16;

/** The whole URL, and its path, which is the secret part of a webhook. */
function secretsOfPlace(place: ReceiverPlace): readonly string[] {
  const ofUrl = (url: string) => {
    const path = new URL(url).pathname.slice(1);
    return path.length < secretPathLengthMin ? [url] : [url, path];
  };
  switch (place.kind) {
    case 'slack':
      return 'token' in place ? [place.token.reveal()] : ofUrl(place.url.reveal());
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
