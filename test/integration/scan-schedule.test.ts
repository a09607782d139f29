import { describe, it } from 'vitest';
import { makeQueueNames } from '../../src/queue/queue-names.ts';
import { type ScanScheduleParts, startScanSchedule } from '../../src/queue/scan-schedule.ts';
import { useRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const redis = useRedis();

/** A schedule of one policy that never ticks by itself. */
function aSchedule(parts: Partial<ScanScheduleParts>) {
  return startScanSchedule({
    connection: redis.connect().client,
    names: makeQueueNames(redis.config().keyPrefix),
    schedules: [{ policy: 'p1', cron: '0 0 1 1 *', timeZone: 'UTC' }],
    runScan: async () => undefined,
    onScanError: (_tick, error) => {
      throw error;
    },
    onError: (error) => {
      throw error;
    },
    ...parts,
  });
}

describe('the schedule of scans', () => {
  it('tells of a scan that throws, and runs the next', async ({ expect }) => {
    const told: unknown[] = [];
    const bug = new Error('a bug');
    const schedule = aSchedule({
      runScan: async () => {
        throw bug;
      },
      onScanError: ({ policy }, error) => told.push([policy, error]),
    });
    await schedule.tickAll(new Date(0));
    await until('the first', () => told.length === 1);
    await schedule.tickAll(new Date(1_000));
    await until('the second', () => told.length === 2);
    await schedule.close();
    expect(told[1]).toEqual(['p1', bug]);
  });
});
