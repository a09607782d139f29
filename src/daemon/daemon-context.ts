import type { Clock } from '../base/time.ts';
import type { AccountConfig, Config } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';
import { makeEventSink } from '../observability/make-event-sink.ts';
import { type MetricsParts, makeMetrics } from '../observability/metrics.ts';
import { makeReadApiBudgetStatus } from '../redis/api-budget/read-status.ts';
import type { RedisConnection } from '../redis/connection/connection.ts';
import type { RedisConfig } from '../redis/connection/redis-config.ts';
import { makeRedisFleetRegister } from '../redis/coordination/fleet-register.ts';
import { makeRedisScanBook } from '../redis/coordination/scan-book.ts';
import { makeRedisOutbox } from '../redis/notifications/outbox.ts';
import { makeRedisRolloutStore } from '../redis/rollout-store/rollout-store.ts';
import { makeBrokenRecords, NewerRecordError, recordVersion } from '../redis/schema/unreadable-records.ts';
import { type DaemonSink, makeDaemonSink } from './daemon-sink.ts';
import { type AccessConfig, makeLiveConfig } from './live-config.ts';
import { makeRedisConnections } from './redis-connections.ts';
import { ourRequestsPerSecond } from './service-settings.ts';

export interface DaemonParts {
  readonly config: Config;
  readonly redis: RedisConfig;
  readonly logger: Logger;
  readonly version: string;
  /** False: policies are scanned only when asked, as `run --once` does. */
  readonly followsSchedule: boolean;
  /** In which version records are written and read: this upwave's, but in tests of two versions. */
  readonly recordVersion?: number;
  /** Reads the config file again. Where left out, a reload finds what there is. @throws ConfigError */
  readonly readConfig?: () => Config;
  /** Whether the config file was changed since it was last read. Where left out, it never is. */
  readonly isConfigUnread?: () => boolean;
}

/** The same for one account of the config. */
export interface GroundParts extends Omit<DaemonParts, 'config'> {
  readonly config: AccountConfig;
  /** Of several accounts, the one that also shows what is of the process. */
  readonly isFirst: boolean;
  /** Names of all accounts of the config. */
  readonly accounts: readonly (string | undefined)[];
  /** Called when a reload changes who may ask the daemon. */
  readonly followAccess: (access: AccessConfig) => void;
}

const clock: Clock = { now: () => Date.now() };

/** What metrics ask of parts that are built on this ground. */
type AskedLater = Pick<MetricsParts, 'sharedState' | 'foreignRollouts'>;

export type Ground = ReturnType<typeof makeGround>;

/** What every other part of a daemon stands on: the config in force, log and metrics, Redis and what is kept there. */
export function makeGround(parts: GroundParts, later: AskedLater) {
  const { config, logger } = parts;
  const { keyPrefix } = parts.redis;
  const live = makeLiveConfig(config);
  const { rollouts, policies } = live;
  const requestsPerSecond = ourRequestsPerSecond(config.service);
  const accessId = config.service.accessId.reveal();
  /** Aborted when the daemon closes. */
  const stopping = new AbortController();

  let isCut = false;
  const metrics = makeMetrics({
    version: parts.version,
    installation: config.installation,
    account: config.account,
    showsProcess: parts.isFirst,
    policies,
    ...(parts.isConfigUnread !== undefined && { isConfigUnread: parts.isConfigUnread }),
    onStateRead: (error) =>
      sink.note(error === null ? { event: 'metrics.complete' } : { event: 'metrics.incomplete', error }),
    ...later,
  });
  const sink: DaemonSink = makeDaemonSink({
    projections: makeEventSink({ logger, metrics }),
    logger,
    clock,
    learnRefusal: (error) => redis.learnRefusal(error),
    isCut: () => isCut,
  });
  const redis = makeRedisConnections(parts.redis, { sink, clock });
  const broken = makeBrokenRecords((error) => {
    const event = error instanceof NewerRecordError ? 'record.newer' : 'record.broken';
    sink.note({ event, reason: error.message });
  });
  const makePorts = ({ commands }: RedisConnection) => {
    const { historyMs } = config;
    const version = parts.recordVersion ?? recordVersion;
    const kept = { commands, keyPrefix, broken };
    return {
      store: makeRedisRolloutStore({ ...kept, historyMs, version, policies: rollouts }),
      register: makeRedisFleetRegister({ ...kept, historyMs }),
      scans: makeRedisScanBook({ ...kept, now: clock.now }),
      outbox: makeRedisOutbox(kept),
      readApiBudgetStatus: makeReadApiBudgetStatus({ ...kept, accessId, requestsPerSecond, clock }),
    };
  };
  return {
    config,
    logger,
    clock,
    keyPrefix,
    live,
    rollouts,
    policies,
    requestsPerSecond,
    accessId,
    stopping,
    metrics,
    sink,
    redis,
    broken,
    /** For the loops: they wait while Redis is away. */
    loopPorts: makePorts(redis.worker),
    /** For what a person waits for: it fails while Redis is away. */
    handlerPorts: makePorts(redis.handler),
    followsSchedule: parts.followsSchedule,
    /** Ends the connections to Redis under what still works with it. */
    cutRedis: () => {
      isCut = true;
      return redis.close();
    },
  };
}
