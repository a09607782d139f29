import type { DurationMs } from '../base/time.ts';
import { followConfigs } from '../orchestrator/configs/follow-configs.ts';
import { announceAndDrain } from '../orchestrator/notify/announce.ts';
import { type Scanned, type ScanOrigin, scan } from '../orchestrator/scan/scan.ts';
import { apiBudgetKeys } from '../redis/api-budget/ledger.ts';
import { makeRedisPulse } from '../redis/connection/pulse.ts';
import { installationKey, instanceKey } from '../redis/coordination/store-instance.ts';
import { policyKeys } from '../redis/schema/rollout-keys.ts';
import type { Engine } from './engine.ts';
import type { Ground } from './ground.ts';
import { type Loops, makeWakeSignal, startLoops } from './loops.ts';
import { reportAtStart } from './report-at-start.ts';
import { endInTime, type WorksEnd } from './shutdown.ts';

const drainWithinMs: DurationMs = 10_000;

/** The work of a daemon, from its start to its end. */
export function makeWork(ground: Ground, engine: Engine) {
  const { logger, clock, sink, live, stopping, rollouts } = ground;
  const { budget, shared } = engine;
  const signal = makeWakeSignal();
  const stopListening = shared.wakeUps.onWakeUp(signal.wake);
  const followBrakes = () => followConfigs({ ...shared, rollouts }, 'daemon');
  let loops: Loops | undefined;
  let working: Promise<void> | undefined;

  /** Scans for one policy now. */
  const scanNow = async (name: string, origin: ScanOrigin, signal?: AbortSignal): Promise<Scanned> => {
    const policy = rollouts.find((each) => each.name === name);
    if (policy === undefined) return { kind: 'nothing', why: { kind: 'unknownPolicy', policy: name } };
    return scan(shared, policy, origin, signal);
  };

  const warn = (error: unknown): void => {
    if (!stopping.signal.aborted) logger.write('warn', { event: 'start.incomplete', error });
  };

  const start = async (): Promise<void> => {
    await budget.learnStatus();
    const { commands } = ground.redis.worker;
    const { readApiBudgetStatus, outbox } = ground.loopPorts;
    // What the first scan starts is announced, too.
    if (live.receivers.length > 0) await outbox.readAnnounced(clock.now()).catch(warn);
    await reportAtStart({ ...shared, commands, readApiBudgetStatus, onError: warn });
    if (stopping.signal.aborted) return;
    // Before any step of this daemon: a freeze that came with the restart holds from the first create on (P7). Where this
    // fails, the loops must start all the same; the next beat repeats it.
    await shared.configs.beat().then(followBrakes).catch(warn);
    const hooks = { nextWakeUp: signal.next, wakeSelf: signal.wake, followConfigs: followBrakes, scanNow };
    loops = startLoops(ground, engine, hooks);
    await loops.tickAll(new Date(clock.now()));
  };

  return {
    scanNow,
    /** For a process that ends when its rollouts do: announces that now, and writes their reports. Bounded. */
    announceNow: async (): Promise<void> => {
      await engine.reports?.writeDue().catch(warn);
      if (live.receivers.length > 0) await announceWhatIsDue(ground, engine);
    },
    /** Begins, and never throws. While Redis is away it waits, and `/readyz` says so. */
    begin: (): void => {
      working = start().catch((error: unknown) => {
        if (!stopping.signal.aborted) logger.write('error', { event: 'daemon.failed', error });
      });
    },
    /** Follows the schedules of a config that was read again, and notifies its receivers. */
    followConfig: (): void => {
      loops
        ?.follow(live.schedules())
        .catch((error: unknown) =>
          sink.note({ event: 'backgroundTask.failed', backgroundTask: 'schedules', error }),
        );
    },
    /** Ends all of it in bounded time, and where Redis does not answer, the connections first. */
    end: (): Promise<WorksEnd> => {
      stopListening();
      return endWork(ground, engine, { working, loops: () => loops });
    },
  };
}

function announceWhatIsDue(
  { live, policies, loopPorts, stopping }: Ground,
  engine: Engine,
): Promise<unknown> {
  const { outbox, readApiBudgetStatus } = loopPorts;
  const { shared, reportsOf } = engine;
  const parts = { ...shared, reportsOf, policies, outbox, readApiBudgetStatus, receivers: live.receivers };
  return announceAndDrain({ ...parts, queue: engine.noticeQueue }, drainWithinMs, stopping.signal);
}

/** Ends the loops first, then what they use. */
function endWork(
  ground: Ground,
  engine: Engine,
  {
    working,
    loops,
  }: { readonly working: Promise<void> | undefined; readonly loops: () => Loops | undefined },
): Promise<WorksEnd> {
  const endAll = async (): Promise<void> => {
    await working;
    await Promise.all([loops()?.close(), engine.backgroundTasks.close()]);
    await engine.access.close();
    await engine.budget.close();
    await Promise.all([engine.queue.close(), engine.noticeQueue.close()]);
  };
  return endInTime({
    work: endAll(),
    redisAnswers: makeRedisAnswers(ground, engine),
    cutRedis: ground.cutRedis,
  });
}

/** Asks every node on which this daemon has keys. */
function makeRedisAnswers({ redis, policies, keyPrefix, accessId }: Ground, { names }: Engine) {
  return makeRedisPulse({
    commands: redis.handler.commands,
    keys: [
      ...policies.map((policy) => policyKeys(keyPrefix, policy).rollouts),
      instanceKey(keyPrefix),
      installationKey(keyPrefix),
      apiBudgetKeys(keyPrefix, accessId).state,
      names.prefix,
    ],
  });
}
