import type { DurationMs } from '../../../src/base/time.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import type { RecordSnapshot } from '../../../src/reference-service/api/service-record.ts';
import { openTroubledWay } from '../../support/network/troubled-way.ts';
import { startRedisSentinels } from '../../support/redis/redis-sentinels.ts';
import { until } from '../../support/until.ts';
import type { ConfigData } from '../bench-config.ts';
import { type AccountsPace, namesOf, startAccounts } from '../large/bench-accounts.ts';
import { usageIfUp } from '../processes/process-usage.ts';
import { makeNightTeam } from './night-team.ts';
import { startWatch, type Watched } from './watch-night.ts';

export const accounts = 10;

/**
 * At twice real speed the accounts may send 80 requests a second together, and each has slots for all that its rate allows.
 * The processes of the night want most of two cores then.
 */
export const pace: AccountsPace = {
  speed: 2,
  slots: 1_000,
  expectMs: 50_000,
  durations: { median: '50s', p95: '70s', max: '90s' },
};

/** What was broken, when, in seconds of the watch, and when the cause was gone. */
export interface Fault {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** What a night showed. */
export interface Night extends Watched {
  readonly collectors: number;
  readonly faults: readonly Fault[];
  /** What was held in the logs of the daemons. */
  readonly holds: readonly string[];
  readonly statuses: readonly RolloutStatus[];
  readonly record: RecordSnapshot;
}

const startAgainAfterMs: DurationMs = 5_000;

// The rollouts are held at the third 401 in a row. Between two of them sign-ins pause for a minute or more.
const keyIsWrongForMs: DurationMs = 45_000;

const overWithinMs: DurationMs = 4 * 3_600_000;

/** Plays a whole night: two daemons, a Redis with a replica, and a service, each a process of its own. */
export async function runNight(collectors: number, tell: (text: string) => void): Promise<Night> {
  const ofAccounts = namesOf(accounts);
  const redis = await startRedisSentinels();
  const { service, config } = await startAccounts(ofAccounts, collectors, redis.primary.url, pace);
  const way = await openTroubledWay(() => new URL(service.baseUrl).origin);
  const ofTeam = { ...withWay(config, way.url), redis: redis.section, log: { level: 'info' } };
  const team = makeNightTeam(ofTeam, pace.speed);
  try {
    await team.startAll();
    const watch = startWatch({
      daemons: team.daemons,
      usages: () => ({
        service: service.usage(),
        'Redis 1': usageIfUp(redis.primary.pid()),
        'Redis 2': usageIfUp(redis.replica.pid()),
      }),
      tell,
    });
    const faults: Fault[] = [];
    const breakFor = async (share: number, name: string, work: () => Promise<void>) => {
      const reached = until(`${share} of the fleet`, () => watch.ended() >= share * collectors, overWithinMs);
      await Promise.race([reached, team.failed]);
      const from = watch.seconds();
      tell(`${name} at ${from.toFixed(0)} s`);
      await work();
      faults.push({ name, from, to: watch.seconds() });
    };
    try {
      await breakFor(1 / 3, 'leader killed', () => team.killLeader(startAgainAfterMs));
      await breakFor(1 / 2, 'Redis failed over', async () => {
        await redis.failOver();
        await sleepForReal(startAgainAfterMs);
        // It is the replica now.
        await redis.primary.start();
      });
      await breakFor(2 / 3, 'key of one account wrong', async () => {
        way.behave(() => ({ kind: 'answer', status: 401 }));
        await sleepForReal(keyIsWrongForMs);
        way.behave(() => ({ kind: 'pass' }));
      });
      await Promise.race([until('the end', () => watch.isOver(accounts), overWithinMs), team.failed]);
    } finally {
      await watch.stop();
    }
    return {
      ...watch.watched,
      collectors,
      faults,
      holds: team.holds,
      statuses: watch.statuses(),
      record: await service.readRecord(),
    };
  } finally {
    await Promise.all([...team.daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    await way.close();
    await service.stop();
    await redis.close();
  }
}

/** The config with another way to the service for one account. */
function withWay(config: ConfigData, origin: string): ConfigData {
  const [[name, account] = ['', {}]] = Object.entries(config.accounts ?? {});
  return { ...config, accounts: { ...config.accounts, [name]: { ...account, baseUrl: `${origin}/api` } } };
}
