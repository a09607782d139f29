import { type RunningAdminApi, startAdminApi } from '../admin-api/admin-api.ts';
import type { Readiness } from '../admin-api/handlers/readiness.ts';
import type { Clock, DurationMs } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import type { Config } from '../config/config.ts';
import { makeEventSink } from '../observability/event-sink.ts';
import type { Logger } from '../observability/logger.ts';
import { makeMetrics } from '../observability/metrics.ts';
import { isWaitedFor } from '../orchestrator/lead/lead.ts';
import { makeOperations } from '../orchestrator/operations/make-operations.ts';
import type { Operations } from '../orchestrator/operations/operations.ts';
import { makeReload } from '../orchestrator/operations/reload.ts';
import { makeStartPolicy } from '../orchestrator/operations/start-policy.ts';
import type { ScanResult } from '../orchestrator/ports/scan-book.ts';
import { makeAccounts } from '../orchestrator/records/accounts.ts';
import { makeStoreMemory } from '../orchestrator/recovery/data-loss.ts';
import { followConfigs, makeConfigs } from '../orchestrator/scan/configs.ts';
import { type ScanOrigin, scan } from '../orchestrator/scan/scan.ts';
import { makeObservations } from '../orchestrator/watch/observations.ts';
import { makeStepQueue } from '../queue/bullmq-step-queue.ts';
import { makeQueueNames } from '../queue/queue-names.ts';
import { makeRedisApiBudget } from '../redis/api-budget/api-budget.ts';
import { makeRedisKeyMemory } from '../redis/api-budget/key-memory.ts';
import { apiBudgetKeys } from '../redis/api-budget/ledger.ts';
import type { RedisConfig } from '../redis/connection/config.ts';
import { isRedisSilence } from '../redis/connection/outage.ts';
import { makeRedisPulse } from '../redis/connection/pulse.ts';
import { makeRedisConfigRegister } from '../redis/coordination/config-register.ts';
import { bornKey, makeRedisStoreInstance } from '../redis/coordination/store-instance.ts';
import { makeRedisWakeUps } from '../redis/coordination/wake-ups.ts';
import { recordVersion } from '../redis/schema/record-version.ts';
import { policyKeys } from '../redis/schema/rollout-keys.ts';
import { makeBrokenRecords, NewerRecordError } from '../redis/schema/unreadable-records.ts';
import { outageLeftMs } from '../rollout/status/api-budget-status.ts';
import { makeReadAccountMark } from './account-mark.ts';
import { makeStoppableBudget } from './api-budgets.ts';
import { makeBackgroundTasks } from './background-tasks.ts';
import { connectionLimits } from './connection-limits.ts';
import { type DaemonSink, makeDaemonSink } from './event-sink.ts';
import { type FleetAccess, makeFleetAccess } from './fleet-access.ts';
import { makeFleetCounts } from './fleet-counts.ts';
import { makeLiveConfig, nameConfigs, readNextConfig } from './live-config.ts';
import { type Loops, makeRingSignal, startLoops } from './loops.ts';
import { makeQueueComplaints } from './queue-errors.ts';
import {
  accountReadiness,
  configReadiness,
  recordReadiness,
  redisReadiness,
  serviceReadiness,
} from './readiness.ts';
import { forbiddenWords, makeRedisConnections } from './redis-connections.ts';
import { makeRedisPorts } from './redis-ports.ts';
import { reportAtStart } from './report-at-start.ts';
import { ourRequestsPerSecond, serviceSocketsMax } from './service-settings.ts';
import { describeEnd, endInTime } from './shutdown.ts';

export interface DaemonParts {
  readonly config: Config;
  readonly redis: RedisConfig;
  readonly logger: Logger;
  readonly version: string;
  /** False: policies are scanned only when asked, as `run --once` does. */
  readonly followsSchedule: boolean;
  /** In which version records are written and read: this upwave's, but in tests of two versions. */
  readonly recordVersion?: number;
  /** Reads the config file anew. Where left out, a reload finds what there is. @throws ConfigError */
  readonly readConfig?: () => Config;
}

export interface Daemon {
  readonly operations: Operations;
  /** Begins to work: listens, leads or follows, runs steps. @throws when it can't listen; then nothing has begun */
  start(): Promise<{ readonly url: string }>;
  /** The same without a port: nobody can ask this one anything. */
  startWithoutPort(): void;
  /** Undefined when Redis answers within this time; else where it should be and why it does not, without credentials. */
  waitForRedis(
    withinMs: DurationMs,
  ): Promise<{ readonly place: string; readonly reason: string } | undefined>;
  /** Why Redis, which is there, lets no work get on, for a person; undefined while it does. */
  askRedisRights(): Promise<string | undefined>;
  /** Looks for work for one policy now. */
  scanNow(policy: string, origin: ScanOrigin, signal?: AbortSignal): Promise<ScanResult>;
  /**
   * Starts nothing more, lets calls that are out end, gives up leadership; done within 10 s, also while Redis is away.
   * Called again, it is the same close.
   */
  close(): Promise<void>;
}

// A request that has not been answered after its time-out, and a little for the way, never will be.
const answerMarginMs: DurationMs = 5_000;

const clock: Clock = { now: () => Date.now() };

/** The composition root: builds every part of a daemon from its config, and closes them in reverse. */
export function makeDaemon(parts: DaemonParts): Daemon {
  const { config, logger } = parts;
  const { keyPrefix } = parts.redis;
  const live = makeLiveConfig(config);
  const { rollouts, policies } = live;
  const requestsPerSecond = ourRequestsPerSecond(config.service);
  const stopping = new AbortController();

  let isCut = false;
  const metrics = makeMetrics({
    version: parts.version,
    installation: config.installation,
    policies,
    sharedState: () => readSharedState(),
    onStateRead: (error) =>
      sink.note(error === null ? { event: 'metrics.complete' } : { event: 'metrics.incomplete', error }),
    foreignRollouts: () => accounts.foreign().length,
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
  const accessId = config.service.accessId.reveal();
  const { historyMs } = config;
  const version = parts.recordVersion ?? recordVersion;
  const kept = {
    keyPrefix,
    historyMs,
    broken,
    recordVersion: version,
    clock,
    accessId,
    requestsPerSecond,
    rollouts,
  };
  const { readApiBudgetStatus: readApiStandingAtStart, ...ports } = makeRedisPorts(redis.worker, kept);
  const { readApiBudgetStatus, ...handlerPorts } = makeRedisPorts(redis.handler, kept);
  const wakeUps = makeRedisWakeUps({ publisher: redis.worker, subscriber: redis.subscriber, keyPrefix });
  const budget = makeRedisApiBudget({
    commands: redis.worker.commands,
    keyPrefix,
    accessId,
    requestsPerSecond,
    concurrentRequests: config.service.concurrentRequests,
    permitLifeMs: config.service.requestTimeoutMs + answerMarginMs,
    onStatus: (standing) => access.setStanding(standing),
    faults: redis.faults,
    onStarved: (lateMs) =>
      sink.note({
        event: 'daemon.starved',
        reason: `places in the API budget are reached ${Math.ceil(lateMs)} ms too late, so fewer requests are made`,
      }),
  });
  const fleetCounts = makeFleetCounts();
  const access: FleetAccess = makeFleetAccess({
    service: config.service,
    budget: makeStoppableBudget(budget, stopping.signal),
    clock,
    keyMemory: makeRedisKeyMemory({
      commands: redis.worker.commands,
      keyPrefix,
      accessId,
      accessKey: config.service.accessKey.reveal(),
      now: clock.now,
    }),
    metrics,
    sink,
  });
  const fleet = fleetCounts.watch(access.fleet);
  const answerWithinMs = config.service.requestTimeoutMs + answerMarginMs;
  const birth = makeRedisStoreInstance({ commands: redis.worker.commands, keyPrefix });
  const memory = makeStoreMemory({ ...ports, birth, sink, clock, policies });
  const backgroundTasks = makeBackgroundTasks((backgroundTask, error) =>
    sink.note({ event: 'backgroundTask.failed', backgroundTask, error }),
  );
  const readMark = makeReadAccountMark({
    commands: redis.worker.commands,
    keyPrefix,
    service: config.service,
  });
  const accounts = makeAccounts({
    ...ports,
    clock,
    sink,
    wakeUps,
    sleep: sleepForReal,
    fleet,
    backgroundTasks,
    readMark,
  });
  const register = makeRedisConfigRegister({
    commands: redis.worker.commands,
    keyPrefix,
    followsSchedule: parts.followsSchedule,
    readAccount: async () => Object.values(await readMark()).join(' '),
    own: nameConfigs(config.service.baseUrl, rollouts),
  });
  const configs = makeConfigs({ register, sink, clock, followsSchedule: parts.followsSchedule });
  const shared = {
    ...ports,
    accounts,
    configs,
    clock,
    sink,
    wakeUps,
    sleep: sleepForReal,
    random: Math.random,
    answerWithinMs,
    forecast: live.forecast,
    fleet,
    policies,
    memory,
    trustedSince: redis.trustedSince,
  };

  const names = makeQueueNames(keyPrefix);
  const onQueueError = makeQueueComplaints({ logger, clock, learnRefusal: redis.learnRefusal });
  const queue = makeStepQueue(redis.queue.client, names, onQueueError);
  const reloading = makeReload({
    ...shared,
    ...handlerPorts,
    rollouts,
    source: {
      read: () => readNextConfig(config, parts.readConfig),
      use: (next) => {
        live.replace(next.rollouts);
        metrics.setPolicies(policies);
        loops
          ?.follow(live.schedules())
          .catch((error: unknown) =>
            sink.note({ event: 'backgroundTask.failed', backgroundTask: 'schedules', error }),
          );
      },
    },
  });
  const made = makeOperations({ ...shared, ...handlerPorts, rollouts, readApiBudgetStatus });
  const operations: Operations = {
    ...made,
    reload: reloading.reload,
    ...makeStartPolicy({ ...shared, ...handlerPorts, rollouts, rolloutStatus: made.rolloutStatus }),
    listPolicies: async () => {
      const { problem } = reloading.standing();
      return { ...(await made.listPolicies()), ...(problem !== undefined && { configProblem: problem }) };
    },
  };
  const followBrakes = () => followConfigs({ ...shared, rollouts }, 'daemon');
  const redisAnswers = makeRedisPulse({
    commands: redis.handler.commands,
    keys: [
      ...policies.map((policy) => policyKeys(keyPrefix, policy).born),
      bornKey(keyPrefix),
      apiBudgetKeys(keyPrefix, accessId).state,
      names.prefix,
    ],
  });
  const readSharedState = async () => {
    if (!sink.isLeading()) return null;
    const [statuses, queueJobs, api, entries] = await Promise.all([
      operations.listRollouts(),
      queue.countJobs(),
      readApiBudgetStatus(),
      handlerPorts.scans.read(),
    ]);
    return {
      statuses,
      queueJobs,
      outageMs: outageLeftMs(api, clock.now()),
      scans: entries.filter(({ policy }) => policies.includes(policy)),
      fleet: fleetCounts.read(),
    };
  };
  const readiness = async (): Promise<Readiness> => {
    const redisNow = redisReadiness(redis);
    if (redisNow.ok) await accounts.forgetEnded();
    const service = await serviceReadiness(access, redisNow.ok ? readApiBudgetStatus : null);
    return {
      redis: redisNow,
      service,
      account: accountReadiness(accounts),
      config: configReadiness(configs, reloading.standing()),
      records: recordReadiness(broken),
    };
  };
  const scanNow = async (name: string, origin: ScanOrigin, signal?: AbortSignal): Promise<ScanResult> => {
    const policy = rollouts.find((each) => each.name === name);
    if (policy === undefined) return { kind: 'nothing', reason: `no policy ${name} in the config` };
    return scan(shared, policy, origin, signal);
  };

  let adminApi: RunningAdminApi | undefined;
  let loops: Loops | undefined;
  const ring = makeRingSignal();
  const stopListening = wakeUps.onWakeUp(ring.ring);

  const startWork = async (): Promise<void> => {
    await budget.learnStatus();
    await reportAtStart({
      ...shared,
      commands: redis.worker.commands,
      readApiBudgetStatus: readApiStandingAtStart,
      onError: (error) => {
        if (!stopping.signal.aborted) logger.write('warn', { event: 'start.incomplete', error });
      },
    });
    if (stopping.signal.aborted) return;
    // Before any step of this daemon: a freeze that came with the restart holds from the first create on (P7). Where this
    // fails, the loops must start all the same; the next beat repeats it.
    try {
      await configs.beat();
      await followBrakes();
    } catch (error) {
      if (!stopping.signal.aborted) logger.write('warn', { event: 'start.incomplete', error });
    }
    const loopsParts = {
      ...shared,
      redis,
      keyPrefix,
      names,
      queue,
      onQueueError,
      backgroundTasks,
      requestsPerSecond,
      nextWakeUp: ring.next,
      schedules: live.schedules(),
      followConfigs: followBrakes,
      followsSchedule: parts.followsSchedule,
      scanNow,
      observations: makeObservations(),
      configRegister: register,
      isWaitedFor: () => isWaitedFor({ ...ports, policies, accounts, configs, newerRecords: broken.newer }),
    };
    loops = startLoops(loopsParts, stopping.signal);
    await loops.tickAll(new Date(clock.now()));
  };
  let working: Promise<void> | undefined;
  const begin = (place: string): void => {
    metrics.configRead({ kind: 'good', at: clock.now() });
    sink.note({ event: 'daemon.started', detail: `${place}, Redis at ${redis.place}` });
    // With Redis away this waits, while `/readyz` says so.
    working = startWork().catch((error: unknown) => {
      if (!stopping.signal.aborted) logger.write('error', { event: 'daemon.failed', error });
    });
  };
  const endWork = async (): Promise<void> => {
    await working;
    await Promise.all([loops?.close(), backgroundTasks.close()]);
    await access.close();
    await budget.close();
    await queue.close();
  };
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    sink.note({ event: 'daemon.stopping', detail: 'starts nothing more' });
    stopping.abort();
    stopListening();
    const cutRedis = () => {
      isCut = true;
      return redis.close();
    };
    const end = await endInTime({ work: endWork(), redisAnswers, cutRedis });
    await adminApi?.close();
    wakeUps.close();
    if (end.kind === 'done') await redis.close();
    sink.note({ event: 'daemon.stopped', detail: describeEnd(end) });
  };

  return {
    operations,
    scanNow,
    waitForRedis: async (withinMs) => {
      const giveUpAt = clock.now() + withinMs;
      while (!redis.worker.isReady() && clock.now() < giveUpAt) await sleepForReal(20, stopping.signal);
      const { place, unreachable } = redis;
      return redis.worker.isReady() ? undefined : { place, reason: unreachable() ?? 'no answer' };
    },
    askRedisRights: async () => {
      await redis.rights.check();
      const refused = redis.rights.refused();
      return refused.length === 0 ? undefined : forbiddenWords(redis.place, refused);
    },
    start: async () => {
      adminApi = await startAdminApi({
        host: config.http.host,
        port: config.http.port,
        token: config.http.token?.reveal(),
        clock,
        connections: connectionLimits(serviceSocketsMax(config.service)),
        operations,
        readiness,
        isUnavailable: isRedisSilence,
        metrics,
        version: parts.version,
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
