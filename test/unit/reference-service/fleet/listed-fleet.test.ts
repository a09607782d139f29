import { describe, expect, it } from 'vitest';
import { makeAccounts } from '../../../../src/reference-service/api/callers.ts';
import { readListedFleet, withListedFleet } from '../../../../src/reference-service/fleet/listed-fleet.ts';
import { collectorView } from '../../../../src/reference-service/fleet/views.ts';
import { parseScenario } from '../../../../src/reference-service/scenario/scenario.ts';

const now = Date.UTC(2026, 0, 1);
const row = (id: number, changes: object = {}) => ({
  id,
  name: `real-${id}`,
  collectorType: 'Installable',
  collectorVersion: '19.400-1',
  alive: true,
  ephemeral: false,
  lastSeenAlive: now - 5_000,
  ...changes,
});
const rows = [
  row(987_654_321, { category: 'prod', fields: { team: 'a' }, customField: [1] }),
  row(123, { alive: false, lastSeenAlive: now - 86_400_000 }),
];

function played(data: unknown) {
  const listed = readListedFleet(data) ?? [];
  const scenario = withListedFleet(parseScenario({ fleet: { seed: 'x' } }), listed);
  const world = makeAccounts({ scenario, clock: { now: () => now }, listed }).get('main')?.world;
  if (world === undefined) throw new Error('there is no main account');
  return { world, shown: world.collectors().map((collector) => collectorView(collector, now)) };
}

describe('a fleet from the list of a real account', () => {
  it('shows its collectors as they were, alive or not', () => {
    const { shown } = played({ collectors: rows });
    expect(shown).toHaveLength(2);
    expect(shown[0]).toMatchObject({ ...rows[0], lastSeenAlive: now });
    expect(shown[1]).toMatchObject({ id: 123, alive: false, lastSeenAlive: now - 86_400_000 });
  });

  it('does not offer builds that only its collectors run, and can upgrade them', () => {
    const { world } = played({ collectors: rows });
    expect(world.builds.versions).toContain('19.400-1');
    expect(world.builds.offered(now)).not.toContain('19.400-1');
    const latest = world.targetVersion(undefined);
    expect(world.upgradableTo(latest).map(({ facts }) => facts.id)).toEqual([987_654_321]);
  });

  it('gives new collectors ids that none of the list has', () => {
    expect(played({ collectors: rows }).world.appear().facts.id).toBeGreaterThan(987_654_321);
  });

  it('leaves out rows that are none, and is none without a row', () => {
    expect(played({ collectors: [null, { id: 'x' }, row(7)] }).shown).toHaveLength(1);
    expect(readListedFleet({ collectors: [{}] })).toBeUndefined();
    expect(readListedFleet('collectors')).toBeUndefined();
  });
});
