import type { Readiness } from '../admin-api/handlers/readiness.ts';
import { type DaemonContextParts, makeDaemonContext } from './daemon-context.ts';
import { makeDaemonOperations } from './daemon-operations.ts';
import { readReadiness, readSharedState } from './daemon-status.ts';
import { makeEngine } from './engine.ts';
import { describeEnd, type WorkEnd } from './shutdown.ts';
import { makeWork } from './work.ts';

export type AccountDaemon = ReturnType<typeof makeAccountDaemon>;

/** The part of a daemon that works for one account, with its own service client, budget, loops and Redis keys. */
export function makeAccountDaemon(parts: DaemonContextParts) {
  const context = makeDaemonContext(parts, {
    sharedState: () => readSharedState(context, engine, made),
    foreignRollouts: () => engine.shared.accounts.foreign().length,
  });
  const { clock, metrics, sink, redis, stopping, policies } = context;
  const engine = makeEngine(context);
  const work = makeWork(context, engine);
  const followers = { config: work.followConfig, access: parts.followAccess };
  const made = makeDaemonOperations(context, engine, parts, followers);
  return {
    account: parts.config.account,
    /** Names of its policies. */
    policies,
    context,
    metrics,
    operations: made.operations,
    readiness: (): Promise<Readiness> => readReadiness(context, engine, made),
    scanNow: work.scanNow,
    announceNow: work.announceNow,
    /** @param place where the daemon listens, for the log */
    begin: (place: string): void => {
      metrics.configRead(clock.now());
      sink.note({ event: 'daemon.started', detail: `${place}, Redis at ${redis.place}` });
      work.begin();
    },
    /** Starts nothing more, and stops the loops. */
    end: (): Promise<WorkEnd> => {
      sink.note({ event: 'daemon.stopping', detail: 'starts nothing more' });
      stopping.abort();
      return work.end();
    },
    /** Disconnects from Redis, after the last response of the HTTP server. */
    leave: async (end: WorkEnd): Promise<void> => {
      engine.shared.wakeUps.close();
      if (end === 'done') await redis.close();
      sink.note({ event: 'daemon.stopped', detail: describeEnd(end) });
    },
  };
}
