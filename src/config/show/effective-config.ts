import { stringify } from 'yaml';
import type { Secret } from '../../base/secret.ts';
import { writeAddress } from '../../base/url-authority.ts';
import type { Receiver, ReceiverPlace } from '../../rollout/model/receiver.ts';
import type { Account, Config, RedisConfig, ServiceConfig } from '../config.ts';
import { effectivePolicy, effectiveWindow, writeDuration } from './effective-policy.ts';
import { maskedUrl } from './masked-urls.ts';

/**
 * A config in the form of the file, with all defaults, and `***` for every secret (P12). With its secrets restored, it reads
 * as a config with the same meaning.
 */
export function effectiveConfig(config: Config): object {
  const {
    service,
    accounts,
    redis,
    http,
    installation,
    learnsFromAccounts,
    historyMs,
    log,
    notify,
    report,
    rollouts,
    secretFiles: _read,
    ...others
  } = config;
  nothingElse(others);
  const { token, tokens, trustedProxy, publicUrl, ...listening } = http;
  // Neither JSON nor YAML writes a key without a value.
  return escapeVariables({
    service: service && effectiveService(service),
    accounts: accounts && Object.fromEntries(accounts.map(effectiveAccount)),
    learnFrom: learnsFromAccounts ? 'accounts' : undefined,
    redis: redis && effectiveRedis(redis),
    http: {
      ...listening,
      token: masked(token),
      publicUrl,
      tokens: someOf(tokens.map((each) => ({ ...each, token: masked(each.token) }))),
      trustedProxy,
    },
    installation,
    log,
    history: writeDuration(historyMs),
    notify: someOf(notify.map(effectiveReceiver)),
    report,
    rollouts: rollouts.map((policy) => ({ ...effectivePolicy(policy), ...accountOf(policy.name, accounts) })),
  });
}

/** The effective config as YAML. */
export function renderEffectiveConfig(config: Config): string {
  // Equal parts are written twice, because an alias would hide the value of a key.
  return stringify(effectiveConfig(config), { aliasDuplicateObjects: false, lineWidth: 0 });
}

function effectiveAccount({ name, service, keyPrefix }: Account): readonly [string, object] {
  return [name, { ...effectiveService(service), keyPrefix }];
}

/** Policies of several accounts are written one by one. */
function accountOf(policy: string, accounts: readonly Account[] = []): object {
  const found = accounts.find(({ policies }) => policies.includes(policy));
  return found === undefined ? {} : { account: found.name };
}

function effectiveService(service: ServiceConfig): object {
  const { accessId, accessKey, budgetShare, requestTimeoutMs, ca, ...rest } = service;
  return {
    ...rest,
    caFile: maskedCa(ca),
    accessId: masked(accessId),
    accessKey: masked(accessKey),
    // Without the rounding error of a division.
    budgetShare: `${Number((budgetShare * 100).toFixed(9))}%`,
    requestTimeout: writeDuration(requestTimeoutMs),
  };
}

function effectiveRedis(redis: RedisConfig): object {
  const { kind, keyPrefix, ca } = redis;
  const common = { keyPrefix, caFile: maskedCa(ca) };
  if (kind === 'single') return { url: maskedUrl(redis.url.reveal()), ...common };
  const { username, password, tls } = redis;
  return {
    ...(kind === 'cluster'
      ? { cluster: redis.nodes.map(writeAddress) }
      : { sentinels: redis.sentinels.map(writeAddress), name: redis.name }),
    ...{ username, password: masked(password), tls },
    ...common,
  };
}

function someOf(list: readonly object[]): readonly object[] | undefined {
  return list.length === 0 ? undefined : list;
}

function masked(secret: Secret | undefined): string | undefined {
  return secret && String(secret);
}

/** Leaves out the authorities, because their file may contain more than certificates. */
function maskedCa(ca: string | undefined): string | undefined {
  return ca && '***';
}

/** A receiver in the form of the file, with its secrets masked. */
function effectiveReceiver({ name, events, policies, quiet, place }: Receiver): object {
  return {
    name,
    [place.kind]: effectivePlace(place),
    events,
    policies,
    ...(quiet !== null && { quiet: effectiveQuiet(quiet) }),
  };
}

function effectiveQuiet(quiet: NonNullable<Receiver['quiet']>): object {
  const { days: _all, ...hours } = effectiveWindow(quiet);
  return hours;
}

/** The host may reveal as much as the path. */
const hiddenUrl = 'https://***';

function effectivePlace(place: ReceiverPlace): object {
  switch (place.kind) {
    case 'slack':
      return 'token' in place
        ? { token: String(place.token), channel: place.channel, apiUrl: place.apiUrl }
        : { url: hiddenUrl };
    case 'teams':
      return { url: hiddenUrl };
    case 'pagerDuty':
      return { routingKey: String(place.routingKey), url: place.url };
    case 'webhook':
      return { url: hiddenUrl, secret: String(place.secret) };
    case 'email': {
      const { kind: _kind, login, ...rest } = place;
      if (login === null) return rest;
      return { ...rest, username: login.username, password: String(login.password) };
    }
    default:
      return place satisfies never;
  }
}

/** Fails to compile when a key of the config is not printed. */
function nothingElse(_others: Readonly<Record<string, never>>): void {}

/** Escapes `${`, which came from the environment or from `$${`. */
function escapeVariables<T>(data: T): T;
function escapeVariables(data: unknown): unknown {
  if (typeof data === 'string') return data.replaceAll('${', () => '$${');
  if (Array.isArray(data)) return data.map((item: unknown) => escapeVariables(item));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, escapeVariables<unknown>(value)]),
  );
}
