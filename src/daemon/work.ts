import type { DurationMs } from '../base/time.ts';
import { followConfigs } from '../orchestrator/configs/follow-configs.ts';
import { announceAndDrain } from '../orchestrator/notify/announce.ts';
import { type Scanned, type ScanOrigin, scan } from '../orchestrator/scan/scan.ts';
import type { DaemonContext } from './daemon-context.ts';
import type { Engine } from './engine.ts';
import { type Loops, makeWakeSignal, startLoops } from './loops.ts';
import { reportAtStart } from './report-at-start.ts';
import { finishWork, type WorkEnd } from './shutdown.ts';

const drainWithinMs: DurationMs = 10_000;

/** The work of a daemon from start to stop. */
export function makeWork(context: DaemonContext, engine: Engine) {
  const { logger, clock, sink, live, stopping, rollouts } = context;
  const { budget, shared } = engine;
  const signal = makeWakeSignal();
  const stopListening = shared.wakeUps.onWakeUp(signal.wake);
  const followBrakes = () => followConfigs({ ...shared, rollouts }, 'daemon');
  let loops: Loops | undefined;
  let working: Promise<void> | undefined;

  /** Scans for one policy now. */
  const scanNow = async (name: string, origin: ScanOrigin, signal?: AbortSignal): Promise<Scanned> => {
    const policy = rollouts().find((each) => each.name === name);
    if (policy === undefined) return { kind: 'nothing', why: { kind: 'unknownPolicy', policy: name } };
    return scan(shared, policy, origin, signal);
  };

  const warn = (error: unknown): void => {
    if (!stopping.signal.aborted) logger.write('warn', { event: 'start.incomplete', error });
  };

  const start = async (): Promise<void> => {
    await budget.learnStatus();
    const { commands } = context.redis.worker;
    const { readApiBudgetStatus, outbox } = context.loopPorts;
    // Before the first scan, so that the rollouts which it starts are announced.
    if (live.receivers().length > 0) await outbox.readAnnounced(clock.now()).catch(warn);
    await reportAtStart({ ...shared, commands, readApiBudgetStatus, onError: warn });
    if (stopping.signal.aborted) return;
    // A single daemon need not wait for its first report.
    await engine.keptWrites.report().catch(warn);
    // Before any step of this daemon, so that a freeze in the new config applies to the first create (P7). When this
    // fails, the loops start all the same, and the next heartbeat repeats it.
    await shared.configs.beat().then(followBrakes).catch(warn);
    // Before the loops, so that none of them waits for the next comparison.
    await context.clockWatch.compare();
    const hooks = { nextWakeUp: signal.next, wakeSelf: signal.wake, followConfigs: followBrakes, scanNow };
    loops = startLoops(context, engine, hooks);
    await loops.tickAll(new Date(clock.now()));
  };

  return {
    scanNow,
    /** For a process that ends with its rollouts: sends due notifications and writes reports, within a time limit. */
    announceNow: async (): Promise<void> => {
      await engine.reports?.writeDue().catch(warn);
      if (live.receivers().length > 0) await announceWhatIsDue(context, engine);
    },
    /** Starts in the background; never throws. While Redis is unreachable it waits, which `/readyz` shows. */
    begin: (): void => {
      working = start().catch((error: unknown) => {
        if (!stopping.signal.aborted) logger.write('error', { event: 'daemon.failed', error });
      });
    },
    /** Follows the schedules and receivers of a reloaded config. */
    followConfig: (): void => {
      loops
        ?.follow(live.schedules())
        .catch((error: unknown) =>
          sink.note({ event: 'backgroundTask.failed', backgroundTask: 'schedules', error }),
        );
    },
    /** Ends all work in bounded time. */
    end: (): Promise<WorkEnd> => {
      stopListening();
      return endWork(context, engine, { working, loops: () => loops });
    },
  };
}

function announceWhatIsDue(
  { live, policies, loopPorts, stopping }: DaemonContext,
  engine: Engine,
): Promise<unknown> {
  const { outbox, readApiBudgetStatus } = loopPorts;
  const { shared, reportsOf } = engine;
  const parts = { ...shared, reportsOf, policies, outbox, readApiBudgetStatus, receivers: live.receivers };
  return announceAndDrain({ ...parts, queue: engine.noticeQueue }, drainWithinMs, stopping.signal);
}

/** Ends the loops first, then what they use. */
function endWork(
  context: DaemonContext,
  engine: Engine,
  {
    working,
    loops,
  }: { readonly working: Promise<void> | undefined; readonly loops: () => Loops | undefined },
): Promise<WorkEnd> {
  const endAll = async (): Promise<void> => {
    await working;
    await Promise.all([loops()?.close(), engine.backgroundTasks.close()]);
    await engine.access.close();
    await engine.budget.close();
    await Promise.all([engine.queue.close(), engine.noticeQueue.close()]);
  };
  const { cutRedis, redis } = context;
  return finishWork({ work: endAll(), isRedisReady: redis.worker.isReady(), cutRedis });
}
