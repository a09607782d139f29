import { accountConfigsOf } from '../../src/config/account-configs.ts';
import type { AccountConfig, Config } from '../../src/config/config.ts';
import { configFrom, type Environment } from '../../src/config/load/load-config.ts';
import { ConfigError } from '../../src/config/source/config-error.ts';
import { parseYaml } from '../../src/config/source/yaml-source.ts';

const service = 'service: { baseUrl: https://api.example.com/api, accessId: id, accessKey: a-long-key }\n';

/** Reads YAML text as the file `config.yaml`. @throws ConfigError */
export function readConfig(text: string, environment: Environment = {}): Config {
  return configFrom(() => parseYaml(text, 'config.yaml'), environment);
}

/** The same of a file with one account: what a daemon runs by. @throws ConfigError */
export function readAccountConfig(text: string, environment: Environment = {}): AccountConfig {
  const [config] = accountConfigsOf(readConfig(text, environment));
  if (config === undefined) throw new Error('the config has no account');
  return config;
}

/** A config whose one rollout, called `all`, has these keys more; they start on line 4. */
export function withRollout(yaml: string): string {
  return `${service}rollouts:\n  - name: all\n${yaml.replaceAll(/^/gm, '    ')}`;
}

/** A config with this section more; it starts on line 3. */
export function withSection(yaml: string): string {
  return `${service}rollouts: [{ name: all }]\n${yaml}`;
}

/** A config with this service section alone, which starts on line 1. */
export function withService(yaml: string): string {
  return `${yaml}\nrollouts: [{ name: all }]\n`;
}

/** What reading this complains about, a line each. */
export function problemsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** What reading this config complains about, a line each. */
export function problemsIn(text: string, environment: Environment = {}): string[] {
  return problemsOf(() => readConfig(text, environment));
}

/** Pairs of YAML and the place and words of its one problem: `approval: yes → 4:15 …`; an indented line goes on. */
export function problemCases(table: string): ReadonlyArray<readonly [string, string]> {
  return table
    .trim()
    .replaceAll(/\n +/g, ' ')
    .split('\n')
    .map((line) => {
      const [yaml = '', problem = ''] = line.split(' → ');
      return [yaml, problem] as const;
    });
}
