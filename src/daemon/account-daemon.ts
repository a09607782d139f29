import type { Readiness } from '../admin-api/handlers/readiness.ts';
import { makeDaemonOperations } from './daemon-operations.ts';
import { readReadiness, readSharedState } from './daemon-status.ts';
import { makeEngine } from './engine.ts';
import { type GroundParts, makeGround } from './ground.ts';
import { describeEnd, type WorksEnd } from './shutdown.ts';
import { makeWork } from './work.ts';

export type AccountDaemon = ReturnType<typeof makeAccountDaemon>;

/** The part of a daemon that works for one account: its own service client, budget, loops and keys in Redis. */
export function makeAccountDaemon(parts: GroundParts) {
  const ground = makeGround(parts, {
    sharedState: () => readSharedState(ground, engine, made),
    foreignRollouts: () => engine.shared.accounts.foreign().length,
  });
  const { clock, metrics, sink, redis, stopping, policies } = ground;
  const engine = makeEngine(ground);
  const work = makeWork(ground, engine);
  const followers = { config: work.followConfig, access: parts.followAccess };
  const made = makeDaemonOperations(ground, engine, parts, followers);
  return {
    account: parts.config.account,
    /** Names of its policies; one list for its whole life. */
    policies,
    ground,
    metrics,
    operations: made.operations,
    readiness: (): Promise<Readiness> => readReadiness(ground, engine, made),
    scanNow: work.scanNow,
    announceNow: work.announceNow,
    /** @param place where the daemon listens, in words */
    begin: (place: string): void => {
      metrics.configRead({ kind: 'good', at: clock.now() });
      sink.note({ event: 'daemon.started', detail: `${place}, Redis at ${redis.place}` });
      work.begin();
    },
    /** Starts nothing more, and ends what works. */
    end: (): Promise<WorksEnd> => {
      sink.note({ event: 'daemon.stopping', detail: 'starts nothing more' });
      stopping.abort();
      return work.end();
    },
    /** Leaves Redis, after the last answer to anybody. */
    leave: async (end: WorksEnd): Promise<void> => {
      engine.shared.wakeUps.close();
      if (end.kind === 'done') await redis.close();
      sink.note({ event: 'daemon.stopped', detail: describeEnd(end) });
    },
  };
}
