import type { Readiness } from '../admin-api/handlers/readiness.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Operations } from '../orchestrator/operations/operations.ts';
import { makeDaemonOperations } from './daemon-operations.ts';
import { readReadiness, readSharedState } from './daemon-status.ts';
import { makeEngine } from './engine.ts';
import { type Ground, type GroundParts, makeGround } from './ground.ts';
import { describeEnd, type WorksEnd } from './shutdown.ts';
import { makeWork, type Work } from './work.ts';

/** The part of a daemon that works for one account: its own service client, budget, loops and keys in Redis. */
export interface AccountDaemon extends Pick<Work, 'scanNow' | 'announceNow'> {
  readonly account: string | undefined;
  /** Names of its policies; one list for its whole life. */
  readonly policies: readonly string[];
  readonly ground: Ground;
  readonly metrics: Metrics;
  readonly operations: Operations;
  readonly readiness: () => Promise<Readiness>;
  /** @param place where the daemon listens, in words */
  begin(place: string): void;
  /** Starts nothing more, and ends what works. */
  end(): Promise<WorksEnd>;
  /** Leaves Redis, after the last answer to anybody. */
  leave(end: WorksEnd): Promise<void>;
}

export function makeAccountDaemon(parts: GroundParts): AccountDaemon {
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
    policies,
    ground,
    metrics,
    operations: made.operations,
    readiness: () => readReadiness(ground, engine, made),
    scanNow: work.scanNow,
    announceNow: work.announceNow,
    begin: (place) => {
      metrics.configRead({ kind: 'good', at: clock.now() });
      sink.note({ event: 'daemon.started', detail: `${place}, Redis at ${redis.place}` });
      work.begin();
    },
    end: () => {
      sink.note({ event: 'daemon.stopping', detail: 'starts nothing more' });
      stopping.abort();
      return work.end();
    },
    leave: async (end) => {
      engine.shared.wakeUps.close();
      if (end.kind === 'done') await redis.close();
      sink.note({ event: 'daemon.stopped', detail: describeEnd(end) });
    },
  };
}
