import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import { CommandFailure } from './command-failure.ts';
import { exitCodes } from './exit-codes.ts';

/** Loads the config for a command. @throws CommandFailure with every problem, each with its line */
export function openConfig(path: string, environment: NodeJS.ProcessEnv = process.env): Config {
  try {
    return loadConfig(path, environment);
  } catch (error) {
    if (error instanceof ConfigError)
      throw new CommandFailure(exitCodes.usageOrConfig, error.message, { cause: error });
    throw error;
  }
}
