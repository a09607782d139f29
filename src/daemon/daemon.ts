import { type RunningAdminApi, startAdminApi } from '../admin-api/admin-api.ts';
import type { DurationMs } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import type { Operations } from '../orchestrator/operations/operations.ts';
import type { ScanOrigin } from '../orchestrator/scan/scan.ts';
import { isRedisSilence } from '../redis/connection/redis-errors.ts';
import type { ScanResult } from '../rollout/messages/scans.ts';
import { connectionLimits } from './connection-limits.ts';
import { makeDaemonOperations } from './daemon-operations.ts';
import { readReadiness, readSharedState } from './daemon-status.ts';
import { makeEngine } from './engine.ts';
import { type DaemonParts, type Ground, makeGround } from './ground.ts';
import { forbiddenWords } from './redis-connections.ts';
import { serviceSocketsMax } from './service-settings.ts';
import { describeEnd } from './shutdown.ts';
import { makeWork } from './work.ts';

export interface Daemon {
  readonly operations: Operations;
  /** Begins to work: listens, leads or follows, runs steps. @throws when it can't listen; then nothing has started */
  start(): Promise<{ readonly url: string }>;
  /** The same without a port: nobody can ask this one anything. */
  startWithoutPort(): void;
  /** Undefined when Redis answers within this time; else where it should be and why it does not, without credentials. */
  waitForRedis(
    withinMs: DurationMs,
  ): Promise<{ readonly place: string; readonly reason: string } | undefined>;
  /** Why Redis, which is there, lets no work get on, for a person; undefined while it does. */
  askRedisRights(): Promise<string | undefined>;
  /** Scans for one policy now. */
  scanNow(policy: string, origin: ScanOrigin, signal?: AbortSignal): Promise<ScanResult>;
  /** Sends receivers what is due, within some seconds: for a process that ends when its rollouts do. */
  announceNow(): Promise<void>;
  /**
   * Starts nothing more, lets calls that are out end, gives up leadership; done within 10 s, also while Redis is away.
   * Called again, it is the same close.
   */
  close(): Promise<void>;
}

/** The composition root: builds every part of a daemon from its config, and closes them in reverse. */
export function makeDaemon(parts: DaemonParts): Daemon {
  const { config, logger, version } = parts;
  const ground = makeGround(parts, {
    sharedState: () => readSharedState(ground, engine, made),
    foreignRollouts: () => engine.shared.accounts.foreign().length,
  });
  const { clock, metrics, sink, redis, stopping } = ground;
  const engine = makeEngine(ground);
  const work = makeWork(ground, engine);
  const made = makeDaemonOperations(ground, engine, parts.readConfig, work.followSchedules);
  const { operations } = made;

  let adminApi: RunningAdminApi | undefined;
  const begin = (place: string): void => {
    metrics.configRead({ kind: 'good', at: clock.now() });
    sink.note({ event: 'daemon.started', detail: `${place}, Redis at ${redis.place}` });
    work.begin();
  };
  const close = async (): Promise<void> => {
    sink.note({ event: 'daemon.stopping', detail: 'starts nothing more' });
    stopping.abort();
    const end = await work.end();
    await adminApi?.close();
    engine.shared.wakeUps.close();
    if (end.kind === 'done') await redis.close();
    sink.note({ event: 'daemon.stopped', detail: describeEnd(end) });
  };
  let closing: Promise<void> | undefined;

  return {
    operations,
    scanNow: work.scanNow,
    announceNow: work.announceNow,
    waitForRedis: (withinMs) => waitForRedis(ground, withinMs),
    askRedisRights: () => askRedisRights(ground),
    start: async () => {
      adminApi = await startAdminApi({
        host: config.http.host,
        port: config.http.port,
        token: config.http.token?.reveal(),
        tokens: config.http.tokens.map((each) => ({ ...each, token: each.token.reveal() })),
        ...(config.http.trustedProxy && { trustedProxy: config.http.trustedProxy }),
        clock,
        connections: connectionLimits(serviceSocketsMax(config.service)),
        operations,
        readiness: () => readReadiness(ground, engine, made),
        isUnavailable: isRedisSilence,
        metrics,
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

async function waitForRedis(
  { redis, clock, stopping }: Ground,
  withinMs: DurationMs,
): ReturnType<Daemon['waitForRedis']> {
  const giveUpAt = clock.now() + withinMs;
  while (!redis.worker.isReady() && clock.now() < giveUpAt) await sleepForReal(20, stopping.signal);
  const { place, unreachable } = redis;
  return redis.worker.isReady() ? undefined : { place, reason: unreachable() ?? 'no answer' };
}

async function askRedisRights({ redis }: Ground): Promise<string | undefined> {
  await redis.rights.check();
  const refused = redis.rights.refused();
  return refused.length === 0 ? undefined : forbiddenWords(redis.place, refused);
}
