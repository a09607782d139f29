import type { CallersParts } from '../admin-api/access/identify-callers.ts';
import { type RunningAdminApi, startAdminApi } from '../admin-api/admin-api.ts';
import type { Readiness } from '../admin-api/handlers/readiness.ts';
import { invariant } from '../base/assert.ts';
import type { DurationMs } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import { accountConfigsOf, accountKeyPrefix } from '../config/account-configs.ts';
import { joinExpositions } from '../observability/join-expositions.ts';
import { joinAccounts } from '../orchestrator/operations/join-accounts.ts';
import type { Operations } from '../orchestrator/operations/operations.ts';
import type { ScanOrigin } from '../orchestrator/scan/scan.ts';
import { isRedisSilence } from '../redis/connection/redis-errors.ts';
import type { ScanResult } from '../rollout/messages/scans.ts';
import { type AccountDaemon, makeAccountDaemon } from './account-daemon.ts';
import { connectionLimits } from './connection-limits.ts';
import type { DaemonContext, DaemonParts } from './daemon-context.ts';
import { joinReadiness } from './daemon-status.ts';
import type { AccessConfig } from './live-config.ts';
import { forbiddenText } from './redis-connections.ts';
import { serviceSocketsMax } from './service-settings.ts';

export interface Daemon {
  readonly operations: Operations;
  /** Starts to work: listens, leads or follows, runs steps. @throws when it can't listen; then nothing has started */
  start(): Promise<{ readonly url: string }>;
  /** Starts without an HTTP server. */
  startWithoutPort(): void;
  /**
   * Waits until Redis answers. @returns undefined when it does in time; else its place without credentials, and the
   * reason
   */
  waitForRedis(
    withinMs: DurationMs,
  ): Promise<{ readonly place: string; readonly reason: string } | undefined>;
  /** Why a reachable Redis refuses upwave's commands, for people; undefined while it does not. */
  checkRedisRights(): Promise<string | undefined>;
  /** Scans for one policy now. */
  scanNow(policy: string, origin: ScanOrigin, signal?: AbortSignal): Promise<ScanResult>;
  /** Sends due notifications, within some seconds: for a process that ends with its rollouts. */
  announceNow(): Promise<void>;
  /**
   * Starts nothing more, waits for calls in flight, gives up leadership. It takes at most 10 s, also while Redis is
   * unreachable. Further calls wait for the same close.
   */
  close(): Promise<void>;
}

/** The composition root: builds every part of a daemon from its config, and closes them in reverse. */
export function makeDaemon(parts: DaemonParts): Daemon {
  const { config, logger, version } = parts;
  let adminApi: RunningAdminApi | undefined;
  // Kept apart from the API, because a reload may come before its start.
  let callers = callersOf(config.http);
  const accounts = makeAccountDaemons(parts, (access) => {
    callers = callersOf(access);
    adminApi?.replaceCallers(callers);
  });
  const [first] = accounts;
  invariant(first !== undefined, 'a config has at least one account');
  const operations = accounts.length === 1 ? first.operations : joinAccounts(accounts);

  const begin = (place: string): void => {
    for (const account of accounts) account.begin(place);
  };
  const close = async (): Promise<void> => {
    const ends = await Promise.all(accounts.map(async (account) => ({ account, end: await account.end() })));
    await adminApi?.close();
    await Promise.all(ends.map(({ account, end }) => account.leave(end)));
  };
  let closing: Promise<void> | undefined;

  return {
    operations,
    scanNow: (policy, origin, signal) => {
      const owner = accounts.find(({ policies }) => policies().includes(policy)) ?? first;
      return owner.scanNow(policy, origin, signal);
    },
    announceNow: async () => {
      await Promise.all(accounts.map((account) => account.announceNow()));
    },
    waitForRedis: (withinMs) => waitForRedis(first.context, withinMs),
    checkRedisRights: () => checkRedisRights(first.context),
    start: async () => {
      const sockets = accountConfigsOf(config).map(({ service }) => serviceSocketsMax(service));
      adminApi = await startAdminApi({
        host: config.http.host,
        port: config.http.port,
        ...callers,
        clock: first.context.clock,
        connections: connectionLimits(sockets.reduce((sum, each) => sum + each, 0)),
        operations,
        readiness: () => readAllReadiness(accounts),
        isUnavailable: isRedisSilence,
        metrics: { expose: () => exposeAll(accounts) },
        version,
        reportError: (error) => logger.write('error', { event: 'http.failed', error }),
      });
      begin(`listening on ${adminApi.url}`);
      return { url: adminApi.url };
    },
    startWithoutPort: () => begin('without a port of its own'),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function callersOf({ token, tokens, trustedProxy, docs }: AccessConfig): CallersParts {
  return {
    token: token?.reveal(),
    tokens: tokens.map((each) => ({ ...each, token: each.token.reveal() })),
    trustedProxy,
    docs,
  };
}

/** Makes one for each account. With several accounts, log lines and series name the account. */
function makeAccountDaemons(
  parts: DaemonParts,
  followAccess: (access: AccessConfig) => void,
): readonly AccountDaemon[] {
  const { keyPrefix } = parts.redis;
  const configs = accountConfigsOf(parts.config);
  return configs.map((config, index) => {
    const { account } = config;
    const { logger } = parts;
    return makeAccountDaemon({
      ...parts,
      config,
      isFirst: index === 0,
      followAccess,
      accounts: configs.map((each) => each.account),
      otherAccounts: configs.flatMap((each) =>
        each.account === undefined || each === config
          ? []
          : [{ account: each.account, keyPrefix: accountKeyPrefix(each, keyPrefix) }],
      ),
      redis: { ...parts.redis, keyPrefix: accountKeyPrefix(config, keyPrefix) },
      logger:
        account === undefined
          ? logger
          : { write: (level, fields) => logger.write(level, { ...fields, account }) },
    });
  });
}

async function readAllReadiness(accounts: readonly AccountDaemon[]): Promise<Readiness> {
  const read = accounts.map(async ({ account = '', readiness }) => ({ account, checks: await readiness() }));
  return joinReadiness(await Promise.all(read));
}

async function exposeAll(
  accounts: readonly AccountDaemon[],
): Promise<{ readonly contentType: string; readonly body: string }> {
  const exposed = await Promise.all(accounts.map(({ metrics }) => metrics.expose()));
  const [first] = exposed;
  invariant(first !== undefined, 'a config has at least one account');
  return exposed.length === 1 ? first : { ...first, body: joinExpositions(exposed.map(({ body }) => body)) };
}

async function waitForRedis(
  { redis, clock, stopping }: DaemonContext,
  withinMs: DurationMs,
): ReturnType<Daemon['waitForRedis']> {
  const giveUpAt = clock.now() + withinMs;
  while (!redis.worker.isReady() && clock.now() < giveUpAt) await sleepForReal(20, stopping.signal);
  const { place, unreachable } = redis;
  return redis.worker.isReady() ? undefined : { place, reason: unreachable()?.reason ?? 'no answer' };
}

async function checkRedisRights({ redis }: DaemonContext): Promise<string | undefined> {
  await redis.rights.check();
  const refused = redis.rights.refused();
  return refused.length === 0 ? undefined : forbiddenText(redis.place, refused);
}
