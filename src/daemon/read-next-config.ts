import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ConfigSource } from '../orchestrator/reload.ts';
import { changedKeys, nameConfigs } from './live-config.ts';

/** Reads the config file for a reload. What the process was built from stays: the service, Redis, the port and the log. */
export function readNextConfig(
  running: Config,
  readConfig: () => Config = () => running,
): ReturnType<ConfigSource['read']> {
  try {
    const { rollouts, ...rest } = readConfig();
    const needsRestart = changedKeys(running, { rollouts, ...rest });
    return {
      kind: 'read',
      next: { rollouts, own: nameConfigs(running.service.baseUrl, rollouts), needsRestart },
    };
  } catch (error) {
    if (error instanceof ConfigError) return { kind: 'wrong', reason: error.message };
    throw error;
  }
}
