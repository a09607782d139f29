import { hashHex } from '../base/hash.ts';
import { Secret } from '../base/secret.ts';
import { accountConfigsOf } from '../config/account-configs.ts';
import type { AccountConfig, Config, HttpConfig } from '../config/config.ts';
import { ConfigError } from '../config/source/config-error.ts';
import type { ConfigSource, NextConfig } from '../orchestrator/operations/reload-config.ts';
import type { NamedConfig } from '../orchestrator/ports/config-register.ts';
import type { ScanForecast } from '../orchestrator/ports/scan-book.ts';
import { makeScanForecast, type ScanSchedule } from '../queue/scan-schedule.ts';
import type { Policy } from '../rollout/model/policy.ts';
import type { Receiver } from '../rollout/model/receiver.ts';

/** Who may use the daemon's API. */
export type AccessConfig = Pick<HttpConfig, 'token' | 'tokens' | 'trustedProxy' | 'docs'>;

/** What a reload takes from the config file. */
export interface NextLiveConfig extends NextConfig {
  readonly receivers: readonly Receiver[];
  readonly access: AccessConfig;
}

/** The part of the config that may change while the process runs: policies, receivers of notifications, access. */
export interface LiveConfig {
  /** The current policies. */
  readonly rollouts: () => readonly Policy[];
  /** Their names. */
  readonly policies: () => readonly string[];
  readonly receivers: () => readonly Receiver[];
  readonly forecast: ScanForecast;
  /** The config in force: the one at the start, with the changes of reloads. */
  running(): AccountConfig;
  schedules(): readonly ScanSchedule[];
  replace(next: Pick<NextLiveConfig, 'rollouts' | 'receivers' | 'access'>): void;
}

export function makeLiveConfig(config: AccountConfig): LiveConfig {
  let running = config;
  const { baseUrl } = config.service;
  let schedules = schedulesOf(baseUrl, config.rollouts);
  let forecast = makeScanForecast(schedules);
  return {
    rollouts: () => running.rollouts,
    policies: () => running.rollouts.map(({ name }) => name),
    receivers: () => running.notify,
    running: () => running,
    forecast: (policy, count) => forecast(policy, count),
    schedules: () => schedules,
    replace: (next) => {
      const http = { ...running.http, ...next.access };
      running = { ...running, rollouts: next.rollouts, notify: next.receivers, http };
      schedules = schedulesOf(baseUrl, next.rollouts);
      forecast = makeScanForecast(schedules);
    },
  };
}

/**
 * The version limits ticks to daemons with the same config. Another daemon would drop the tick, or scan with an old
 * config.
 */
function schedulesOf(baseUrl: string, rollouts: readonly Policy[]): readonly ScanSchedule[] {
  return rollouts.map((policy) => ({
    policy: policy.name,
    version: hashOf(baseUrl, policy),
    cron: policy.schedule,
    timeZone: policy.timeZone,
  }));
}

/** Identifies each policy's config and the service. */
export function nameConfigs(baseUrl: string, rollouts: readonly Policy[]): readonly NamedConfig[] {
  return rollouts.map((policy) => ({ policy: policy.name, hash: hashOf(baseUrl, policy) }));
}

function hashOf(baseUrl: string, policy: Policy): string {
  return hashHex(JSON.stringify([new URL(baseUrl).origin, policy]), 8);
}

/** Keys outside of `rollouts` that a reload applies. All others need a restart. */
const liveKeys: readonly string[] = ['notify', 'http.token', 'http.tokens', 'http.trustedProxy', 'http.docs'];

/** Keys outside of `rollouts` that differ between two configs. */
function changedKeys(running: AccountConfig, next: AccountConfig): readonly string[] {
  const { rollouts: _running, secretFiles: _files, ...before } = running;
  const { rollouts: _next, secretFiles: _others, ...after } = next;
  return differingKeys(before, after, '').map((key) => {
    const written = writtenKeys[key] ?? key;
    return running.account === undefined
      ? written
      : written.replace(/^service\b/, `accounts.${running.account}`);
  });
}

/** Names of keys in the file, where those of the loaded config differ. */
export const writtenKeys: Readonly<Record<string, string>> = {
  historyMs: 'history',
  learnsFromAccounts: 'learnFrom',
  'service.requestTimeoutMs': 'service.requestTimeout',
  'service.ca': 'service.caFile',
  'redis.ca': 'redis.caFile',
  'redis.nodes': 'redis.cluster',
};

function differingKeys(before: unknown, after: unknown, key: string): readonly string[] {
  const inner = key.split('.').length === 1 && isPlain(before) && isPlain(after);
  if (!inner) return revealedJson(before) === revealedJson(after) ? [] : [key];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const child = (name: string) => (key === '' ? name : `${key}.${name}`);
  return [...names].flatMap((name) => differingKeys(before[name], after[name], child(name)));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}

/** For comparisons only: it contains secrets. */
export function revealedJson(value: unknown): string | undefined {
  return JSON.stringify(revealed(value));
}

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revealed(each)]));
}

/**
 * Reads the config file for a reload. The service, Redis, the port and the log stay as they were at the start.
 * @param running the config in force
 */
export function readNextConfig(
  running: AccountConfig,
  readConfig: () => Config,
  /** Names of all accounts of this process. */
  accounts: readonly (string | undefined)[],
): ReturnType<ConfigSource<NextLiveConfig>['read']> {
  try {
    const next = nextOf(running.account, accounts, readConfig());
    if (next === undefined) return { kind: 'wrong', reason: otherAccounts };
    const { rollouts, notify: receivers } = next;
    const { token, tokens, trustedProxy, docs } = next.http;
    const changed = changedKeys(running, next);
    return {
      kind: 'read',
      next: {
        rollouts,
        receivers,
        access: { token, tokens, trustedProxy, docs },
        own: nameConfigs(running.service.baseUrl, rollouts),
        settings: changed.filter((key) => liveKeys.includes(key)),
        needsRestart: changed.filter((key) => !liveKeys.includes(key)),
      },
    };
  } catch (error) {
    // One line: the log, the status and the page show it in a sentence.
    if (error instanceof ConfigError) return { kind: 'wrong', reason: error.message.replaceAll('\n', '; ') };
    throw error;
  }
}

const otherAccounts = 'accounts were added, removed or renamed; restart the daemon to apply the new config';

/** Undefined when the file has other accounts, whose policies would come and go with them. */
function nextOf(
  account: string | undefined,
  accounts: readonly (string | undefined)[],
  config: Config,
): AccountConfig | undefined {
  const next = accountConfigsOf(config);
  const isSame = next.length === accounts.length && next.every((each) => accounts.includes(each.account));
  return isSame ? next.find((each) => each.account === account) : undefined;
}
