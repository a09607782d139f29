import { describe, expect, it } from 'vitest';
import { placeOthers, scansFor } from '../../../../src/cli/rehearse/surroundings.ts';
import { ticksIn } from '../../../../src/queue/schedule-ticks.ts';
import { aFleet, aPolicy, startedAt, targetBuild } from '../../../support/builders.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('the ticks of a schedule in a span', () => {
  const ticks = async (cron: string, hours: number, timeZone = 'UTC') => {
    const found = await ticksIn({ cron, timeZone }, { from: startedAt + 1, to: startedAt + hours * hour });
    return found.map((at) => new Date(at).toISOString().slice(0, 16));
  };

  it('are those after its beginning, in the zone of the policy, and one a minute', async () => {
    // It begins at 21:00.
    expect(await ticks('*/15 * * * *', 1)).toEqual([
      '2026-03-02T21:15',
      '2026-03-02T21:30',
      '2026-03-02T21:45',
      '2026-03-02T22:00',
    ]);
    expect(await ticks('30 6 * * *', 24, 'Europe/Berlin')).toEqual(['2026-03-03T05:30']);
    expect(await ticks('*/20 59 21 * * *', 2)).toEqual(['2026-03-02T21:59']);
    expect(await ticks('0 3 1 1 *', 24)).toEqual([]);
  });
});

describe('the other policies of a rehearsal', () => {
  const { collectors, upgradableIds, ...rest } = aFleet(3);
  const snapshot = { collectors, upgradableIds, ...rest };
  const place = (of: { readonly schedule?: string; readonly ids?: readonly number[] }) => {
    const { schedule = '*/15 * * * *', ids = [...upgradableIds] } = of;
    const other = { policy: aPolicy({ name: 'staging', schedule }), targetBuild };
    return placeOthers([{ ...other, upgradableIds: new Set(ids) }], snapshot, startedAt + 1);
  };

  it('start with the next tick of their schedule, where they have collectors to upgrade', async () => {
    const [placed] = await place({});
    expect(placed?.shown).toEqual({
      ...{ policy: 'staging', targetBuild, planned: 3, startsAt: startedAt + 15 * minute },
    });
    expect(placed?.other.startsAt).toBe(startedAt + 15 * minute);
    expect(await place({ ids: [] })).toEqual([]);
    expect(await place({ schedule: '0 3 1 1 *' })).toEqual([]);
  });

  it('leave scans of its own to the rehearsed policy, where collectors come up again or are installed', async () => {
    const policy = aPolicy({ schedule: '0 * * * *' });
    expect(await scansFor(policy, {}, startedAt)).toEqual([]);
    const upAgain = { share: 1, withinMs: 2 * hour };
    const installed = { count: 1, withinMs: 3 * hour };
    const scans = await scansFor(policy, { upAgain }, startedAt + 1);
    expect(scans[0]).toBe(startedAt + hour);
    expect(scans).toHaveLength(26);
    expect(await scansFor(policy, { installed }, startedAt + 1)).toHaveLength(27);
    expect(await scansFor(policy, { upAgain, installed }, startedAt + 1)).toHaveLength(27);
  });
});
