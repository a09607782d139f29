import { existsSync } from 'node:fs';
import { notInConfig } from '../../base/names.ts';
import { Secret } from '../../base/secret.ts';
import type { Config, RedisConfig } from '../../config/config.ts';
import { type DaemonConfig, loadConfig, loadDaemonConfig } from '../../config/load/load-config.ts';
import { ConfigError } from '../../config/source/config-error.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { UsageFailure } from './command.ts';

/**
 * Loads the config for a command.
 * @param withSecrets false: for a command that calls nobody, also where the files with secrets are on another machine
 * @throws CommandFailure with every problem and its line
 */
export function openConfig(
  path: string,
  environment: NodeJS.ProcessEnv = process.env,
  withSecrets = true,
): Config {
  return loadOrUsageFailure(path, () => loadConfig(path, environment, withSecrets));
}

/**
 * The same for a command that only calls the daemon. It needs no secret but the daemon's token, from `UPWAVE_TOKEN` or from
 * the file.
 */
export function openDaemonConfig(path: string, environment: NodeJS.ProcessEnv = process.env): DaemonConfig {
  const token = environment['UPWAVE_TOKEN'] || undefined;
  return loadOrUsageFailure(
    path,
    () => loadDaemonConfig(path, environment, token === undefined ? undefined : new Secret(token)),
    withoutConfigText,
  );
}

// A daemon that runs keeps its config, whatever became of the file.
const withoutConfigText =
  '\nthe daemon can be asked without the config: name its address by --url, such as http://127.0.0.1:9464, or by UPWAVE_URL; the token is read from UPWAVE_TOKEN';

/** The policy with this name. @throws CommandFailure when the config has none */
export function policyOf({ rollouts }: Pick<Config, 'rollouts'>, named: string): Policy {
  const policy = rollouts.find(({ name }) => name === named);
  if (policy !== undefined) return policy;
  const names = rollouts.map(({ name }) => name);
  throw new UsageFailure(notInConfig('policy', named, names));
}

/** @param hint behind the problems of a file that exists */
function loadOrUsageFailure<T>(path: string, load: () => T, hint = ''): T {
  return orUsageFailure(load, () => (existsSync(path) ? hint : '; `upwave init` writes a first one'));
}

/** Reads a file that a person named. @throws CommandFailure with what is wrong in it, and the hint behind it */
export function orUsageFailure<T>(read: () => T, hint: () => string = () => ''): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageFailure(`${error.message}${hint()}`, { cause: error });
  }
}

/** The URL of Redis where neither the config nor the command line has one (DESIGN §4). */
export const defaultRedis: RedisConfig = {
  kind: 'single',
  url: new Secret('redis://127.0.0.1:6379'),
  keyPrefix: 'upwave',
};
