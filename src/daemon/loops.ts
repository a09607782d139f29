import type { DurationMs } from '../base/time.ts';
import { makeGateProbe } from '../gates/make-gate-probe.ts';
import { makeSendNotice } from '../observability/notifications/send-notice.ts';
import { keepBeating } from '../orchestrator/configs/keep-beating.ts';
import { isWaitedFor, lead } from '../orchestrator/lead/lead.ts';
import { keepAnnouncing } from '../orchestrator/notify/announce.ts';
import { deliver } from '../orchestrator/notify/deliver.ts';
import { keepPolling } from '../orchestrator/recovery/data-loss.ts';
import type { Scanned, ScanOrigin } from '../orchestrator/scan/scan.ts';
import { runStep } from '../orchestrator/step/run-step.ts';
import { makeObservations } from '../orchestrator/watch/observations.ts';
import type { StepJobData } from '../queue/bullmq-step-queue.ts';
import { startNoticeWorker } from '../queue/notice-delivery.ts';
import { type ScanSchedule, startScanSchedule } from '../queue/scan-schedule.ts';
import { startTurnWorker } from '../queue/turn-worker.ts';
import { makeRedisLeaderLease } from '../redis/coordination/leader-lease.ts';
import type { Engine } from './engine.ts';
import type { Ground } from './ground.ts';
import { keepAsking } from './service-health.ts';

/** What the loops ask of the work that starts them. */
export interface LoopsHooks {
  /** Ends early at a wake-up: fires at the first one after the call. */
  readonly nextWakeUp: () => AbortSignal;
  /** Wakes the loops of this daemon alone. */
  readonly wakeSelf: () => void;
  /** Brings the brakes of the present config to the running rollouts. */
  readonly followConfigs: () => Promise<unknown>;
  readonly scanNow: (policy: string, origin: ScanOrigin, signal: AbortSignal) => Promise<Scanned>;
}

/** The loops of a daemon, while they run. */
export type Loops = ReturnType<typeof startLoops>;

// A step waits for its place in the API budget, and the budget's classes can only choose among those that wait: enough
// of them that polls stand beside a burst of creates.
const stepConcurrency = 100;

// Calls that are out when we stop have this long to end before they are cut; a create that is cut is in doubt, and is
// settled by polling at the next start.
const closeGraceMs: DurationMs = 5_000;

/** Starts to run steps, to lead or follow, to check whether Redis lost data, and to follow the schedules. */
export function startLoops(ground: Ground, engine: Engine, hooks: LoopsHooks) {
  const { signal: stopping } = ground.stopping;
  const parts = loopsParts(ground, engine, hooks);
  const { redis, names, keyPrefix, sink, onQueueError } = parts;
  const worker = startTurnWorker<StepJobData>({
    ...{ connection: redis.queue.client, prefix: names.prefix, queue: names.steps },
    concurrency: stepConcurrency,
    run: (data, signal) => runStep(parts, data, signal),
    bringBack: parts.queue.bringBack,
    onRunError: ({ rolloutId, collectorId }, error) =>
      sink.note({ event: 'step.failed', rollout: rolloutId, collectorId, error }),
    onError: onQueueError,
  });
  const lease = makeRedisLeaderLease({
    commands: redis.worker.commands,
    keyPrefix,
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
    if (parts.receivers.length > 0 && !stopping.aborted) notifying ??= startNotifying(parts, stopping);
  };
  notifyReceivers();
  const reporting = parts.reports?.keep(parts, stopping);
  const asking = keepAsking(parts, stopping);
  const polling = keepPolling(parts.memory, { ...parts, discoverWork }, stopping);
  return {
    /** Scans now, for every policy that has a schedule to follow. */
    tickAll: async (at: Date): Promise<void> => schedule?.tickAll(at),
    /** The schedules of a config that was read again; notifies its receivers, where the one before had none. */
    follow: async (schedules: readonly ScanSchedule[]): Promise<void> => {
      notifyReceivers();
      await schedule?.follow(schedules, new Date(parts.clock.now()));
    },
    /** Takes nothing more, and waits for the end of what is running; the daemon's own stop ends the rest. */
    close: async (): Promise<void> => {
      await Promise.all([
        schedule?.close(),
        worker.close(closeGraceMs),
        notifying?.close(),
        ...[leading, polling, asking, beating, reporting],
      ]);
    },
  };
}

type LoopsParts = ReturnType<typeof loopsParts>;

function loopsParts(ground: Ground, { shared, ...engine }: Engine, hooks: LoopsHooks) {
  const {
    config,
    clock,
    sink,
    redis,
    keyPrefix,
    followsSchedule,
    live,
    policies,
    broken,
    requestsPerSecond,
  } = ground;
  const { outbox, readApiBudgetStatus } = ground.loopPorts;
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
    isLeading: sink.isLeading,
    receivers: live.receivers,
    send: makeSendNotice({ installation: config.installation, publicUrl: config.http.publicUrl, clock }),
    observations: makeObservations(),
    isWaitedFor: () => isWaitedFor({ ...shared, policies, newerRecords: broken.newer }),
  };
}

/** Announces while this daemon leads, and delivers in any case. */
function startNotifying(parts: LoopsParts, stopping: AbortSignal) {
  const { redis, names, sink, onQueueError, noticeQueue } = parts;
  const worker = startNoticeWorker({
    connection: redis.queue.client,
    names,
    deliver: (receiver, signal) => deliver(parts, receiver, signal),
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

function followSchedules({ redis, names, schedules, scanNow, sink, onQueueError }: LoopsParts) {
  return startScanSchedule({
    connection: redis.queue.client,
    names,
    schedules,
    runScan: async ({ policy, origin }, signal) => (await scanNow(policy, origin, signal)).againAt,
    onScanError: ({ policy }, error) =>
      sink.note({ event: 'scan.failed', policy, reason: 'it did not come to a result', error }),
    onUntaken: ({ policy }) =>
      sink.note({
        event: 'scan.failed',
        policy,
        reason: 'no daemon has the config of this tick any more, or yet; the next one looks again',
      }),
    onError: onQueueError,
  });
}

/** Makes a latch for a loop that wants to know whether a wake-up came since its last pass. */
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
