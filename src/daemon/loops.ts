import type { DurationMs } from '../base/time.ts';
import { makeGateProbe } from '../gates/make-gate-probe.ts';
import { makeSendNotice } from '../observability/notifications/send-notice.ts';
import { keepBeating } from '../orchestrator/configs/keep-beating.ts';
import { isWaitedFor, lead } from '../orchestrator/lead/lead.ts';
import { type AnnounceParts, keepAnnouncing } from '../orchestrator/notify/announce.ts';
import { type DeliverParts, deliverNext } from '../orchestrator/notify/deliver.ts';
import { keepPolling } from '../orchestrator/recovery/data-loss.ts';
import { keepReportingWrites } from '../orchestrator/recovery/kept-writes.ts';
import type { Scanned, ScanOrigin } from '../orchestrator/scan/scan.ts';
import { runStep } from '../orchestrator/step/run-step.ts';
import { makeObservations } from '../orchestrator/watch/observations.ts';
import type { StepJobData } from '../queue/bullmq-step-queue.ts';
import { startNoticeWorker } from '../queue/notice-delivery.ts';
import { type ScanSchedule, startScanSchedule } from '../queue/scan-schedule.ts';
import { startTurnWorker } from '../queue/turn-worker.ts';
import { makeRedisLeaderLease } from '../redis/coordination/leader-lease.ts';
import type { DaemonContext } from './daemon-context.ts';
import type { Engine } from './engine.ts';
import { keepChecking } from './service-health.ts';

/** Callbacks of the loops. */
export interface LoopsHooks {
  /** A signal that fires at the first wake-up after the call. */
  readonly nextWakeUp: () => AbortSignal;
  /** Wakes the loops of this daemon alone. */
  readonly wakeSelf: () => void;
  /** Applies the limits of the current config to running rollouts. */
  readonly followConfigs: () => Promise<unknown>;
  readonly scanNow: (policy: string, origin: ScanOrigin, signal: AbortSignal) => Promise<Scanned>;
}

/** The loops of a daemon, while they run. */
export type Loops = ReturnType<typeof startLoops>;

// A step waits for its place in the API budget, whose classes can only choose among waiting requests. So many steps
// wait that polls are among them also during a burst of creates.
const stepConcurrency = 100;

// At a stop, calls in flight have this long to end. A create that is cut off is in doubt, and the next start polls its
// collector.
const closeGraceMs: DurationMs = 5_000;

/** Starts the loops: they run steps, lead or follow, check whether Redis lost data, and follow the schedules. */
export function startLoops(context: DaemonContext, engine: Engine, hooks: LoopsHooks) {
  const { signal: stopping } = context.stopping;
  const parts = loopsParts(context, engine, hooks);
  const { redis, names, keyPrefix, sink, isClockRight, onQueueError } = parts;
  const worker = startTurnWorker<StepJobData>({
    ...{ connection: redis.queue.client, prefix: names.prefix, queue: names.steps },
    concurrency: stepConcurrency,
    mayRun: isClockRight,
    run: (data, signal) => runStep(parts, data, signal),
    redeliver: parts.queue.redeliver,
    onRunError: ({ rolloutId, collectorId }, error) =>
      sink.note({ event: 'step.failed', rollout: rolloutId, collectorId, error }),
    onError: onQueueError,
  });
  const lease = makeRedisLeaderLease({
    commands: redis.worker.commands,
    keyPrefix,
    mayLead: isClockRight,
    onLapsed: () => sink.note({ event: 'leader.lost' }),
    onTaken: parts.wakeSelf,
    faults: redis.faults,
  });
  const leading = lead(
    { ...parts, lease, gates: makeGateProbe({ search: parts.logSearch, clock: parts.clock }) },
    stopping,
  );
  const schedule = parts.followsSchedule ? followSchedules(parts) : undefined;
  const discoverWork = async () => schedule?.tickAll(new Date(parts.clock.now()));
  const beating = keepBeating(
    parts.configs,
    { ...parts, register: parts.configRegister, afterBeat: parts.followConfigs },
    stopping,
  );
  let notifying: ReturnType<typeof startNotifying> | undefined;
  const notifyReceivers = (): void => {
    if (parts.receivers().length > 0 && !stopping.aborted) notifying ??= startNotifying(parts, stopping);
  };
  notifyReceivers();
  const reporting = parts.reports?.keep(parts, stopping);
  const asking = keepChecking(parts, stopping);
  const comparing = context.clockWatch.keepComparing(stopping);
  const reportingWrites = keepReportingWrites(parts.keptWrites, parts, stopping);
  const polling = keepPolling(parts.memory, { ...parts, discoverWork }, stopping);
  return {
    /** Scans now for every policy with a schedule. */
    tickAll: async (at: Date): Promise<void> => schedule?.tickAll(at),
    /** Follows the schedules of a reloaded config. It also starts to notify receivers, if there were none before. */
    follow: async (schedules: readonly ScanSchedule[]): Promise<void> => {
      notifyReceivers();
      await schedule?.follow(schedules, new Date(parts.clock.now()));
    },
    /** Takes no more work, and waits for the loops that the daemon's stop signal ends. */
    close: async (): Promise<void> => {
      await Promise.all([
        schedule?.close(),
        worker.close(closeGraceMs),
        notifying?.close(),
        ...[leading, polling, asking, beating, reporting, comparing, reportingWrites],
      ]);
    },
  };
}

type LoopsParts = ReturnType<typeof loopsParts>;

function loopsParts(context: DaemonContext, { shared, ...engine }: Engine, hooks: LoopsHooks) {
  const {
    config,
    clock,
    sink,
    redis,
    keyPrefix,
    followsSchedule,
    clockWatch,
    live,
    policies,
    broken,
    requestsPerSecond,
  } = context;
  const { outbox, readApiBudgetStatus } = context.loopPorts;
  return {
    ...engine,
    ...shared,
    ...hooks,
    redis,
    keyPrefix,
    requestsPerSecond,
    followsSchedule,
    schedules: live.schedules(),
    outbox,
    readApiBudgetStatus,
    isClockRight: clockWatch.isRight,
    isLeading: sink.isLeading,
    receivers: live.receivers,
    send: makeSendNotice({ installation: config.installation, publicUrl: config.http.publicUrl, clock }),
    observations: makeObservations(),
    isWaitedFor: () => isWaitedFor({ ...shared, policies, newerRecords: broken.newer }),
  };
}

/** Announces while this daemon leads, and always delivers. */
function startNotifying(
  parts: DeliverParts &
    Omit<AnnounceParts, 'queue'> &
    Pick<LoopsParts, 'redis' | 'names' | 'onQueueError' | 'noticeQueue' | 'isLeading' | 'sleep'>,
  stopping: AbortSignal,
) {
  const { redis, names, sink, onQueueError, noticeQueue } = parts;
  const worker = startNoticeWorker({
    connection: redis.queue.client,
    names,
    deliver: (receiver, signal) => deliverNext(parts, receiver, signal),
    onDeliverError: (error) =>
      sink.note({ event: 'backgroundTask.failed', backgroundTask: 'notifications', error }),
    onError: onQueueError,
  });
  const announcing = keepAnnouncing({ ...parts, queue: noticeQueue }, stopping);
  return {
    close: async (): Promise<void> => {
      await Promise.all([worker.close(closeGraceMs), announcing]);
    },
  };
}

function followSchedules({
  redis,
  names,
  schedules,
  isClockRight,
  scanNow,
  sink,
  onQueueError,
}: Pick<LoopsParts, 'redis' | 'names' | 'schedules' | 'isClockRight' | 'scanNow' | 'sink' | 'onQueueError'>) {
  return startScanSchedule({
    connection: redis.queue.client,
    names,
    schedules,
    mayRun: isClockRight,
    runScan: async ({ policy, origin }, signal) => (await scanNow(policy, origin, signal)).againAt,
    onScanError: ({ policy }, error) =>
      sink.note({ event: 'scan.failed', policy, reason: 'the scan ended with an error', error }),
    onDropped: ({ policy }) =>
      sink.note({
        event: 'scan.failed',
        policy,
        reason: 'no running daemon has this version of the config; the next scheduled scan retries',
      }),
    onError: onQueueError,
  });
}

/** Makes a latch that shows whether a wake-up came since a loop's last pass. */
export function makeWakeSignal() {
  let controller = new AbortController();
  return {
    wake: () => controller.abort(),
    /** @returns a signal that fires at the first wake-up after the call */
    next: (): AbortSignal => {
      if (controller.signal.aborted) controller = new AbortController();
      return controller.signal;
    },
  };
}
