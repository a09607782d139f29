import { makeSteadyClock } from '../base/steady-clock.ts';
import type { Clocks } from '../base/stopwatch.ts';
import type { AccountConfig, Config } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';
import { makeEventSink } from '../observability/make-event-sink.ts';
import { type MetricsParts, makeMetrics } from '../observability/metrics.ts';
import { learnBuildHolds } from '../orchestrator/records/learn-build-holds.ts';
import { makeReadApiBudgetStatus } from '../redis/api-budget/read-status.ts';
import { makeClockWatch } from '../redis/connection/clock-watch.ts';
import type { RedisConnection } from '../redis/connection/connection.ts';
import type { RedisConfig } from '../redis/connection/redis-config.ts';
import { makeRedisBuildHistory } from '../redis/coordination/build-history.ts';
import { makeRedisFleetRegister } from '../redis/coordination/fleet-register.ts';
import { makeRedisScanBook } from '../redis/coordination/scan-book.ts';
import { makeRedisOutbox } from '../redis/notifications/outbox.ts';
import { makeRedisRolloutStore } from '../redis/rollout-store/rollout-store.ts';
import { makeBrokenRecords, NewerRecordError, recordVersion } from '../redis/schema/unreadable-records.ts';
import { healthText } from '../rollout/messages/daemon-health.ts';
import { type DaemonSink, makeDaemonSink } from './daemon-sink.ts';
import { type AccessConfig, makeLiveConfig } from './live-config.ts';
import { makeRedisConnections } from './redis-connections.ts';
import { ourRequestsPerSecond } from './service-settings.ts';

export interface DaemonParts {
  readonly config: Config;
  readonly redis: RedisConfig;
  readonly logger: Logger;
  readonly version: string;
  /** False: policies are scanned on request only, as `run --once` does. */
  readonly followsSchedule: boolean;
  /** The version of records that are written and read. Default: the current one; tests of two versions set it. */
  readonly recordVersion?: number;
  /** Default: the machine's. */
  readonly clocks?: Clocks;
  /** Reads the config file again. @throws ConfigError */
  readonly readConfig: () => Config;
  /** Whether the config file changed since it was last read. */
  readonly isConfigUnread: () => boolean;
}

/** The parts for one account of the config. */
export interface DaemonContextParts extends Omit<DaemonParts, 'config'> {
  readonly config: AccountConfig;
  /** True for the account that also exposes metrics of the process. */
  readonly isFirst: boolean;
  /** Names of all accounts of the config. */
  readonly accounts: readonly (string | undefined)[];
  /** The other accounts, with the prefixes of their keys in Redis. */
  readonly otherAccounts: ReadonlyArray<{ readonly account: string; readonly keyPrefix: string }>;
  /** Called when a reload changes who may use the daemon's API. */
  readonly followAccess: (access: AccessConfig) => void;
}

/** Callbacks of the metrics to parts that are built later. */
type LaterCallbacks = Pick<MetricsParts, 'sharedState' | 'foreignRollouts'>;

export type DaemonContext = ReturnType<typeof makeDaemonContext>;

/** Builds what all other parts of a daemon use: the config in force, log and metrics, Redis and its stores. */
export function makeDaemonContext(parts: DaemonContextParts, later: LaterCallbacks) {
  const { config, logger } = parts;
  const { keyPrefix } = parts.redis;
  const clock = makeSteadyClock(parts.clocks);
  const live = makeLiveConfig(config);
  const { rollouts, policies } = live;
  const requestsPerSecond = ourRequestsPerSecond(config.service);
  const accessId = config.service.accessId.reveal();
  /** Aborted when the daemon closes. */
  const stopping = new AbortController();

  let isCut = false;
  const metrics = makeMetrics({
    version: parts.version,
    publicUrl: config.http.publicUrl,
    installation: config.installation,
    account: config.account,
    showsProcess: parts.isFirst,
    policies: policies(),
    isConfigUnread: parts.isConfigUnread,
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
  const clockWatch = makeClockWatch({
    commands: redis.worker.commands,
    clock,
    onWrong: ({ aheadMs }) => sink.note({ event: 'clock.wrong', reason: healthText.clockWrong(aheadMs) }),
    onRight: () => sink.note({ event: 'clock.right', reason: healthText.clockWell }),
    faults: redis.faults,
  });
  const broken = makeBrokenRecords((error) => {
    const event = error instanceof NewerRecordError ? 'record.newer' : 'record.broken';
    sink.note({ event, reason: error.message });
  });
  const makePorts = ({ commands }: RedisConnection) => {
    const { historyMs } = config;
    const version = parts.recordVersion ?? recordVersion;
    const kept = { commands, keyPrefix, broken };
    return {
      ...makeRegisters({ ...kept, historyMs }, config.learnsFromAccounts ? parts.otherAccounts : []),
      store: makeRedisRolloutStore({ ...kept, historyMs, version, policies: rollouts }),
      buildHistory: makeRedisBuildHistory(kept),
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
    clockWatch,
    broken,
    /** For the loops: commands wait while Redis is unreachable. */
    loopPorts: makePorts(redis.worker),
    /** For requests of people: commands fail while Redis is unreachable. */
    handlerPorts: makePorts(redis.handler),
    followsSchedule: parts.followsSchedule,
    /** Closes the connections to Redis although work still uses them. */
    cutRedis: () => {
      isCut = true;
      return redis.close();
    },
  };
}

/** The register of the account, and the one in which the builds that other accounts hold are held, too. */
function makeRegisters(
  own: Parameters<typeof makeRedisFleetRegister>[0],
  others: DaemonContextParts['otherAccounts'],
) {
  const ownRegister = makeRedisFleetRegister(own);
  const learnedFrom = others.map(({ account, keyPrefix }) => ({
    account,
    register: makeRedisFleetRegister({ ...own, keyPrefix }),
  }));
  return { ownRegister, register: learnBuildHolds(ownRegister, learnedFrom) };
}
