import { describe, it } from 'vitest';
import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { commandsOf } from '../../support/commands-of.ts';
import {
  aDaemonNight,
  createsReach,
  type NightDaemon,
  scan,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice } from '../../support/night/judge-night.ts';
import { makeRedisProcess, redisServerCommand } from '../../support/redis/redis-process.ts';
import { until } from '../../support/until.ts';

// Without a rest a daemon sends ten thousands, those inside of scripts included.
const commandsPerSecondMax = 500;

// At once, each with a Redis and a service of its own: what they wait for are the rests.
describe.skipIf(redisServerCommand === undefined)(
  'a daemon, while Redis refuses writes',
  { concurrent: true },
  () => {
    it.for([
      {
        why: 'it has no memory',
        begin: 'CONFIG SET maxmemory 1',
        end: 'CONFIG SET maxmemory 0',
        words: "OOM command not allowed when used memory > 'maxmemory'",
        whenTried: (daemon: NightDaemon) => daemon.told('queue.failed').length > 2,
      },
      {
        why: 'it is a replica',
        // Of nobody: nothing listens there.
        begin: 'REPLICAOF 127.0.0.1 1',
        end: 'REPLICAOF NO ONE',
        words: "READONLY You can't write against a read only replica",
        whenTried: (daemon: NightDaemon) => daemon.told('leader.lost').length > 0,
      },
    ])(
      'is calm, says why, and goes on by itself: $why (P11)',
      async ({ begin, end, words, whenTried }, { expect, onTestFinished }) => {
        const redis = await makeRedisProcess();
        await redis.start();
        onTestFinished(() => redis.close());
        const config = { url: redis.url, keyPrefix: 'refused' };
        const night = await aDaemonNight(
          { redis: config, scenario: { fleet: { size: 40 } } },
          onTestFinished,
        );
        const daemon = await night.startDaemon();
        const reader = makeRedisConnection(config, 'worker');
        onTestFinished(() => reader.close());
        const rolloutId = await scan(daemon);
        await createsReach(night, 6);

        expect(await redis.ask(begin)).toBe('+OK');
        const refused = await until('/readyz to tell', async () => {
          const seen = await readiness(daemon);
          return seen.status === 503 && seen;
        });
        expect(refused.body).toMatchObject({ ready: false, checks: { service: { ok: true } } });
        const before = await commandsOf(reader.commands);
        const since = performance.now();
        await until('it to be tried again', () => whenTried(daemon));
        const perSecond =
          ((await commandsOf(reader.commands)) - before) / ((performance.now() - since) / 1_000);
        expect(perSecond).toBeLessThan(commandsPerSecondMax);
        await until('the reason', async () => {
          const { redis: check } = (await readiness(daemon)).body.checks;
          return check?.reason === `${redis.url} refuses writes: ${words}`;
        });

        expect(await redis.ask(end)).toBe('+OK');
        await until('/readyz to be well again', async () => (await readiness(daemon)).status === 200);
        const status = await untilEnded(daemon, rolloutId);
        expect(status.state).toBe('succeeded');
        expect(createdTwice(night.record())).toEqual([]);
        expect(brokenPromises(night, status, await upgradesOf(daemon, rolloutId))).toEqual([]);
        // Said once when it began and once when it was over, whatever was refused in between.
        const told = daemon.log.filter(({ event, level }) => event.startsWith('redis.') || level === 'error');
        expect(told.map(({ event }) => event)).toEqual([
          'redis.reachable',
          'redis.unwritable',
          'redis.writable',
        ]);
      },
    );
  },
);

interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly reason: string }>>;
}

async function readiness(daemon: NightDaemon): Promise<{ status: number; body: Readiness }> {
  const { status, text } = await daemon.get('/readyz');
  return { status, body: JSON.parse(text) as Readiness };
}
