import { randomUUID } from 'node:crypto';
import type { DurationMs } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import { makeReportFolder } from '../observability/report-folder.ts';
import { makeConfigs } from '../orchestrator/configs/configs.ts';
import { makeAccounts } from '../orchestrator/records/judge-accounts.ts';
import { makePolicyClaims } from '../orchestrator/records/policy-claims.ts';
import { makeSharedAttributes } from '../orchestrator/records/shared-attributes.ts';
import { makeStoreMemory } from '../orchestrator/recovery/data-loss.ts';
import { makeKeptWrites } from '../orchestrator/recovery/kept-writes.ts';
import {
  type KeepReportsParts,
  makeReportKeeper,
  type ReportKeeper,
} from '../orchestrator/report/keep-reports.ts';
import { makeStepQueue } from '../queue/bullmq-step-queue.ts';
import { makeNoticeQueue } from '../queue/notice-delivery.ts';
import { makeQueueNames } from '../queue/queue-names.ts';
import { makeRedisApiBudget } from '../redis/api-budget/api-budget.ts';
import { makeRedisKeyMemory } from '../redis/api-budget/key-memory.ts';
import { makeRedisConfigRegister } from '../redis/coordination/config-register.ts';
import { makeRedisStoreInstance } from '../redis/coordination/store-instance.ts';
import { makeRedisWakeUps } from '../redis/coordination/wake-ups.ts';
import { makeRedisWriteRegister } from '../redis/coordination/write-register.ts';
import { makeReadAccountMark } from './account-mark.ts';
import { makeStoppableBudget } from './api-budgets.ts';
import { makeBackgroundTasks } from './background-tasks.ts';
import type { DaemonContext } from './daemon-context.ts';
import { type FleetAccess, makeFleetAccess } from './fleet-access.ts';
import { makeFleetCounts } from './fleet-counts.ts';
import { hashSettings } from './hash-settings.ts';
import { nameConfigs } from './live-config.ts';
import { makeQueueErrorReporter } from './queue-errors.ts';

// Added to the request time-out for delays on the way. A request without a response by then has failed.
const answerMarginMs: DurationMs = 5_000;

export type Engine = ReturnType<typeof makeEngine>;

/** What loops and operations use: the service, the accounts, the configs of all daemons, the queue. */
export function makeEngine(context: DaemonContext) {
  const { config, logger, clock, sink, redis, keyPrefix, policies, live, followsSchedule } = context;
  const { readApiBudgetStatus: _status, outbox: _outbox, ...ports } = context.loopPorts;
  const { commands } = redis.worker;
  const service = openService(context);
  const wakeUps = makeRedisWakeUps({ publisher: redis.worker, subscriber: redis.subscriber, keyPrefix });
  const backgroundTasks = makeBackgroundTasks((backgroundTask, error) =>
    sink.note({ event: 'backgroundTask.failed', backgroundTask, error }),
  );
  const readMark = makeReadAccountMark({ commands, keyPrefix, service: config.service });
  const common = {
    ...ports,
    clock,
    sink,
    wakeUps,
    sleep: sleepForReal,
    fleet: service.fleet,
    logSearch: service.access.logSearch,
  };
  const answerWithinMs = config.service.requestTimeoutMs + answerMarginMs;
  const configRegister = makeRedisConfigRegister({
    commands,
    keyPrefix,
    followsSchedule,
    readAccount: async () => Object.values(await readMark()).join(' '),
    own: nameConfigs(config.service.baseUrl, live.rollouts()),
    readSettings: () => hashSettings(live.running()),
  });
  const names = makeQueueNames(keyPrefix);
  const keptWrites = makeKeptWrites({
    register: redis.isOneStore ? makeRedisWriteRegister({ commands, keyPrefix }) : undefined,
    lastJoin: redis.lastJoin,
    newQuestion: randomUUID,
    monotonicNow: () => performance.now(),
    clock,
    answerWithinMs,
  });
  const onQueueError = makeQueueErrorReporter({ logger, clock, learnRefusal: redis.learnRefusal });
  // By the wall clock, which shows at once that this daemon was suspended. The steady one waits for a comparison.
  const wall = { now: clock.wallNow };
  const configs = makeConfigs({ register: configRegister, sink, clock: wall, followsSchedule });
  /** Dependencies of every use case. */
  const shared = {
    ...common,
    sharedAttributes: makeSharedAttributes(),
    accounts: makeAccounts({ ...common, backgroundTasks, readMark, createsWait: keptWrites.createsWait }),
    configs,
    claims: makePolicyClaims({ ...ports, clock, policies, configs }),
    compareClocks: context.clockWatch.compareUnlessRight,
    random: Math.random,
    answerWithinMs,
    forecast: live.forecast,
    policies,
    memory: makeStoreMemory({
      ...ports,
      // What other accounts hold is theirs to put back.
      register: ports.ownRegister,
      instance: makeRedisStoreInstance({ commands, keyPrefix }),
      sink,
      clock,
      policies,
    }),
    trustedSince: keptWrites.trustedSince,
    createsWait: keptWrites.createsWait,
    beginIntent: keptWrites.beginIntent,
  };
  const reports = makeReports(context, shared);
  return {
    ...service,
    shared,
    keptWrites,
    reports,
    reportsOf: (rolloutId: string) => reports?.pathsOf(rolloutId) ?? [],
    backgroundTasks,
    configRegister,
    names,
    onQueueError,
    noticeQueue: makeNoticeQueue(redis.queue.client, names, onQueueError),
    queue: makeStepQueue(redis.queue.client, names, onQueueError),
  };
}

/** Writes the reports of ended rollouts; undefined when the config has no directory for them. */
function makeReports(
  { config, loopPorts: { readApiBudgetStatus } }: DaemonContext,
  shared: Omit<KeepReportsParts, 'readApiBudgetStatus' | 'installation' | 'folder' | 'formats'>,
): ReportKeeper | undefined {
  const { report, installation } = config;
  if (report === undefined) return undefined;
  const folder = makeReportFolder(report.directory);
  return makeReportKeeper({ ...shared, readApiBudgetStatus, installation, folder, formats: report.formats });
}

/** Opens the service, behind the budget that all daemons with its access key share. */
function openService({
  config,
  clock,
  sink,
  metrics,
  redis,
  keyPrefix,
  accessId,
  requestsPerSecond,
  stopping,
}: DaemonContext) {
  const { commands } = redis.worker;
  const budget = makeRedisApiBudget({
    commands,
    keyPrefix,
    accessId,
    requestsPerSecond,
    concurrentRequests: config.service.concurrentRequests,
    permitLifeMs: config.service.requestTimeoutMs + answerMarginMs,
    onStatus: (status) => access.setServiceStatus(status),
    faults: redis.faults,
    onStarved: (lateMs) => sink.note({ event: 'daemon.starved', late: { kind: 'places', lateMs } }),
  });
  const accessKey = config.service.accessKey.reveal();
  const access: FleetAccess = makeFleetAccess({
    service: config.service,
    budget: makeStoppableBudget(budget, stopping.signal),
    clock,
    keyMemory: makeRedisKeyMemory({ commands, keyPrefix, accessId, accessKey, now: clock.now }),
    metrics,
    sink,
    readWindow: null,
  });
  const fleetCounts = makeFleetCounts(metrics.inventoryRead);
  return { budget, access, fleetCounts, fleet: fleetCounts.watch(access.fleet) };
}
