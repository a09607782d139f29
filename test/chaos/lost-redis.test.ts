import { setTimeout as wait } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { createdTwice, createsOf } from '../support/night/judge-night.ts';
import { aChaosNight, isShort, report, useRedisProcess } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';

const downMs = 1_000;
const fullMs = 4_000;
const checkEveryMs = 1_000;

const isError = (line: string) => line.includes('"level":"error"');

describe('Redis', () => {
  const block = useRedisProcess();

  it('is killed and comes back with its append-only file, again and again: the wave continues where it was', async ({
    expect,
    onTestFinished,
  }) => {
    const redis = block.process();
    const night = await aChaosNight(
      {
        redis: block.config('aof'),
        scenario: { fleet: { size: isShort ? 100 : 130 } },
        daemons: 2,
      },
      onTestFinished,
    );
    const quiet: Array<number | null> = [];
    for (let turn = 0; turn < (isShort ? 2 : 3); turn += 1) {
      await night.createsReach(night.record().creates.length + 15);
      await redis.kill();
      await wait(downMs);
      await redis.start();
      quiet.push((await quietAfter(night)).createMs);
    }
    const { broken } = await night.end();
    report(`Redis killed ${quiet.length} times: next create ${timesText(quiet)} after it was back`);
    expect(broken).toEqual([]);
    for (const daemon of night.daemons()) {
      expect(daemon.logged('redis.unreachable').length).toBeGreaterThan(0);
      expect(daemon.logged('redis.reachable').length).toBeGreaterThan(quiet.length);
    }
  });

  it.skipIf(isShort)(
    'loses all data: running upgrades get no second task, and the remaining ones are planned again in seconds (P1, P11)',
    async ({ expect, onTestFinished }) => {
      const redis = block.process();
      const night = await aChaosNight(
        {
          redis: block.config('flushed'),
          scenario: { fleet: { size: 150 } },
          // Nothing comes of waiting for the next tick.
          rollout: { schedule: '0 0 1 1 *' },
          daemons: 2,
          creates: 20,
        },
        onTestFinished,
      );
      const untouched = (await night.upgrades()).findLast(({ progress: { state } }) => state === 'pending')
        ?.identity.collectorId;
      const { api } = night.daemons()[0] ?? {};
      await api?.hold({ subject: String(untouched), by: 'ann', reason: 'never touch' });
      // Each daemon has read the hold after two checks.
      await wait(2 * checkEveryMs + 500);
      const lost = await night.upgrades();
      const running = night.record().tasksInFlight;
      const before = night.record().creates.length;
      expect(await redis.ask('FLUSHALL')).toBe('+OK');
      const { createMs } = await quietAfter(night);
      const { status } = await night.end();
      const record = night.record();
      report(
        `Redis emptied with ${running} tasks running and ${before} created: next create ${timesText([createMs])} later`,
      );
      expect(running).toBeGreaterThan(3);
      expect((await api?.listHolds())?.collectors).toMatchObject([{ collectorId: untouched, by: 'ann' }]);
      expect(createsOf(record).get(untouched ?? 0)).toBeUndefined();
      // Also when a day ends meanwhile: then it is the first one of the next.
      expect(status.id).not.toBe(lost[0]?.identity.rolloutId);
      for (const daemon of night.daemons()) {
        const reported = daemon.logged('"event":"redis.emptied"');
        expect(reported).toEqual([expect.stringContaining(`held again: collector ${untouched}`)]);
        expect(reported.every(isError)).toBe(true);
      }
      expect(status.state).toBe('succeeded');
      expect(createdTwice(record)).toEqual([]);
      expect(record.needlessCreates).toBe(0);
      expect(record.refusedCreates['collector.in.upgrading']).toBeUndefined();
      const { world } = night.service.now();
      for (const {
        identity: { collectorId },
      } of lost) {
        if (collectorId === untouched) continue;
        expect(world.collector(collectorId)?.life.version).toBe(status.targetBuild);
      }
    },
  );

  it.skipIf(isShort)(
    'has no memory for a write: the daemons report this once, and continue when there is',
    async ({ expect, onTestFinished }) => {
      const redis = block.process();
      const night = await aChaosNight(
        { redis: block.config('full'), scenario: { fleet: { size: 90 } }, daemons: 2, creates: 20 },
        onTestFinished,
      );
      // Less than it holds already.
      expect(await redis.ask('CONFIG SET maxmemory 1')).toBe('+OK');
      await wait(fullMs);
      const said = night.daemons().map((daemon) => daemon.logged('OOM').filter(isError).length);
      expect(await redis.ask('CONFIG SET maxmemory 0')).toBe('+OK');
      const quiet = await quietAfter(night);
      const { broken } = await night.end();
      report(
        `Redis full for ${fullMs / 1_000} s: said in ${said.join(' and ')} lines, next create ${timesText([quiet.createMs])} after`,
      );
      expect(broken).toEqual([]);
      expect(Math.min(...said)).toBeGreaterThan(0);
      // Reported once at the beginning, so that the log does not fill the disk.
      expect(Math.max(...said)).toBeLessThan(5);
    },
  );
});
