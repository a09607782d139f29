import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { makeQueueNames, type QueueNames } from '../../../src/queue/queue-names.ts';
import {
  type ScanScheduleParts,
  type ScanTick,
  startScanSchedule,
} from '../../../src/queue/scan-schedule.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

/** Of policies by name and version, which never tick by themselves. */
function aSchedule(
  names: QueueNames,
  policies: Readonly<Record<string, string>>,
  parts: Partial<ScanScheduleParts>,
) {
  return startScanSchedule({
    connection: redis.connect().client,
    names,
    schedules: Object.entries(policies).map(([policy, version]) => ({
      policy,
      version,
      cron: '0 0 1 1 *',
      timeZone: 'UTC',
    })),
    runScan: async () => undefined,
    onScanError: (_tick, error) => {
      throw error;
    },
    onDropped: ({ policy }) => {
      throw new Error(`nobody took ${policy}`);
    },
    onError: (error) => {
      throw error;
    },
    requeue: { afterMs: 20, max: 1_000 },
    mayRun: () => true,
    ...parts,
  });
}

function someNames(): QueueNames {
  return makeQueueNames(redis.config().keyPrefix);
}

function queueOf({ scans, prefix }: QueueNames): Queue<ScanTick> {
  return new Queue<ScanTick>(scans, { connection: redis.connect().client, prefix });
}

describe('the schedule of scans', () => {
  it('reports a scan that throws, and runs the next', async () => {
    const reported: unknown[] = [];
    const bug = new Error('a bug');
    const schedule = aSchedule(
      someNames(),
      { p1: 'a' },
      {
        runScan: async () => {
          throw bug;
        },
        onScanError: ({ policy }, error) => reported.push([policy, error]),
      },
    );
    await schedule.tickAll(new Date(0));
    await until('the first', () => reported.length === 1);
    await schedule.tickAll(new Date(1_000));
    await until('the second', () => reported.length === 2);
    await schedule.close();
    expect(reported[1]).toEqual(['p1', bug]);
  });

  it('repeats a scan that asks for it, at that time', async () => {
    const ran: ScanTick[] = [];
    const names = someNames();
    const schedule = aSchedule(
      names,
      { p1: 'a' },
      {
        runScan: async (tick) => {
          ran.push(tick);
          return ran.length < 3 ? ran.length * 1_000 : undefined;
        },
      },
    );
    await schedule.tickAll(new Date(0));
    await until('both repeats', () => ran.length === 3);
    await schedule.close();
    const tick = { policy: 'p1', version: 'a', origin: 'start' };
    expect(ran).toEqual([tick, { ...tick, isRepeat: true }, { ...tick, isRepeat: true }]);
  });

  it('leaves each tick to a daemon with the config of its origin (P5)', async () => {
    const ran: string[] = [];
    const names = someNames();
    const start = (daemon: string, policies: Readonly<Record<string, string>>) =>
      aSchedule(names, policies, {
        runScan: async ({ policy, version }) => {
          ran.push(`${daemon} ${policy} ${version}`);
        },
      });
    const before = start('old', { narrowed: 'a', gone: 'a' });
    const after = start('new', { narrowed: 'b', added: 'a' });
    // Either daemon may get a tick, so ten rounds are played.
    for (let second = 0; second < 10; second += 1) {
      await before.tickAll(new Date(second * 1_000));
      await after.tickAll(new Date(second * 1_000));
      await until('all of them', () => ran.length >= 4 * (second + 1));
    }
    await before.close();
    await after.close();
    expect([...new Set(ran)].toSorted()).toEqual([
      'new added a',
      'new narrowed b',
      'old gone a',
      'old narrowed a',
    ]);
    expect(ran.length).toBe(40);
  });

  it('follows the schedules of a reloaded config, and scans its new policies', async () => {
    const ran: ScanTick[] = [];
    const runScan = async (tick: ScanTick) => void ran.push(tick);
    const schedule = aSchedule(someNames(), { kept: 'a', changed: 'a', gone: 'a' }, { runScan });
    const never = { cron: '0 0 1 1 *', timeZone: 'UTC' };
    const present = [
      { policy: 'kept', version: 'a', ...never },
      { policy: 'changed', version: 'b', ...never },
      { policy: 'added', version: 'a', ...never },
    ];
    await schedule.follow(present, new Date(0));
    await until('both scans', () => ran.length === 2);
    expect(ran.map(({ policy, version }) => `${policy} ${version}`).sort()).toEqual(['added a', 'changed b']);
    await schedule.close();
  });

  it('drops ticks and repeats of a config that no daemon has, and reports only the ticks', async () => {
    const untaken: ScanTick[] = [];
    const names = someNames();
    const queue = queueOf(names);
    const tick = { policy: 'p1', version: 'a', origin: 'start' } as const;
    for (const added of [tick, { ...tick, isRepeat: true }]) await queue.add('scan', added);
    const requeue = { afterMs: 1, max: 3 };
    const schedule = aSchedule(names, { p1: 'b' }, { onDropped: (each) => untaken.push(each), requeue });
    await until('both to end', async () => (await queue.getJobCounts('completed'))['completed'] === 2);
    await schedule.close();
    await queue.close();
    expect(untaken).toEqual([tick]);
  });

  it('runs ticks that came during a slow scan once, after it', async () => {
    let ran = 0;
    const { promise, resolve } = deferred();
    const names = someNames();
    const queue = queueOf(names);
    const schedule = aSchedule(
      names,
      { p1: 'a' },
      {
        runScan: async () => {
          ran += 1;
          await promise;
        },
      },
    );
    await schedule.tickAll(new Date(0));
    await until('the scan', () => ran === 1);
    for (let second = 1; second <= 60; second += 1) await schedule.tickAll(new Date(second * 1_000));
    resolve();
    await until('the rest', async () => {
      const { waiting, active, delayed } = await queue.getJobCounts('waiting', 'active', 'delayed');
      return ran > 1 && waiting === 0 && active === 0 && delayed === 0;
    });
    await schedule.close();
    await queue.close();
    expect(ran).toBe(2);
  });
});

/** Node 20 has no `Promise.withResolvers`. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
