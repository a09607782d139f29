import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CapRule, Policy, WaveRule } from '../../../../src/rollout/model/policy.ts';
import { makePlan, type Plan } from '../../../../src/rollout/planning/plan.ts';
import { aFleet, aPolicy, aWaveRule, targetBuild } from '../../../support/builders.ts';
import { fleetOf, idsByWave, type Kin, someKin } from '../../../support/planned-fleet.ts';

const count = (members: number): WaveRule['size'] => ({ kind: 'count', count: members });
const perStratum = (members: number): WaveRule['size'] => ({ kind: 'perStratum', count: members });
const perCluster: CapRule = { key: 'fields.cluster', cap: 1 };
const perHost: CapRule = { key: 'hostName', cap: 4 };

function capped(caps: readonly CapRule[], ...sizes: ReadonlyArray<WaveRule['size']>): Policy {
  const waves = [...sizes.map((size, index) => aWaveRule({ name: `wave ${index}`, size })), aWaveRule()];
  return aPolicy({ spreadBy: ['osName'], maxInFlightPer: caps, waves });
}

/** So many collectors alike. */
function kin(members: number, changes: Partial<Kin>): Kin[] {
  return Array.from({ length: members }, () => ({ osName: 'Linux', cluster: '', host: '', ...changes }));
}

/** Members of each domain in each wave. */
function domainWaves({ waves, groups }: Plan): number[][] {
  return groups.domains.map((_, domain) =>
    waves.map(({ members }) => members.filter(({ domains }) => domains.includes(domain)).length),
  );
}

const plan = (policy: Policy, fleet: readonly Kin[], seed = 'seed') =>
  makePlan(policy, targetBuild, fleetOf(fleet), seed);
const seeds = Array.from({ length: 40 }, (_, index) => `r-${index}`);

describe('the choice of members', () => {
  it('takes collectors whose domains have the fewest members in the wave', () => {
    const fleet = ['c1', 'c2', 'c3'].flatMap((cluster, index) => kin(5 + 10 * index, { cluster }));
    for (const seed of seeds) {
      const waves = domainWaves(plan(capped([perCluster], count(3), count(6)), fleet, seed));
      expect(waves.map(([canary, early]) => [canary, early])).toEqual([
        [1, 2],
        [1, 2],
        [1, 2],
      ]);
    }
  });

  it('weighs domains by their caps: one with a cap of four counts a fourth', () => {
    const fleet = [...kin(20, { cluster: 'c1' }), ...kin(20, { host: 'h1' })];
    const waves = domainWaves(plan(capped([perCluster, perHost], count(10)), fleet));
    expect(waves).toEqual([
      [2, 18],
      [8, 12],
    ]);
  });

  it('weighs the share of a domain by the turns that it takes', () => {
    const hosts = Array.from({ length: 5 }, (_, index) => `h${index}`);
    const fleet = [...hosts.flatMap((host) => kin(20, { host })), ...kin(100, {})];
    const [early] = plan(capped([perHost], count(60)), fleet).waves;
    const free = early?.members.filter(({ domains }) => domains.length === 0).length;
    expect(free).toBeGreaterThanOrEqual(25);
    expect(free).toBeLessThanOrEqual(35);
  });

  it('gives no seat to a stratum whose members must all be in the last wave', () => {
    const fleet = [
      ...kin(1, { osName: 'AIX', cluster: 'c1' }),
      ...kin(1, { osName: 'Windows', cluster: 'c1' }),
      ...kin(4, {}),
    ];
    for (const seed of seeds) {
      const sizes = idsByWave(plan(capped([perCluster], count(6), count(1)), fleet, seed)).map(
        ({ length }) => length,
      );
      expect(sizes).toEqual([5, 0, 1]);
    }
    const late = capped([perCluster], perStratum(1), count(2));
    for (const seed of seeds) expect(idsByWave(plan(late, fleet, seed))[1]?.length).toBe(2);
  });

  it('lets the strata with the fewest choose first', () => {
    const fleet = [
      ...kin(1, { osName: 'Linux', cluster: 'c1' }),
      ...kin(1, { osName: 'Linux', cluster: 'c2' }),
      ...kin(1, { osName: 'Linux', cluster: 'c2' }),
      ...kin(1, { osName: 'AIX', cluster: 'c1' }),
    ];
    for (const seed of seeds) {
      const { groups } = plan(capped([perCluster], perStratum(1)), fleet, seed);
      expect(groups.strata.map(({ sizes }) => sizes[0])).toEqual([1, 1]);
    }
  });

  it('keeps at least one member of every domain for the last wave', () => {
    const size = fc.oneof(fc.nat(150).map(count), fc.integer({ min: 1, max: 30 }).map(perStratum));
    fc.assert(
      fc.property(someKin, fc.array(size, { minLength: 1, maxLength: 3 }), (fleet, sizes) => {
        const made = plan(capped([perCluster, perHost], ...sizes), fleet);
        for (const waves of domainWaves(made)) {
          expect(waves.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(1);
          expect(waves.at(-1)).toBeGreaterThan(0);
        }
      }),
    );
  });
});

describe('the order within a wave', () => {
  it('follows the tightest of the domains of a collector', () => {
    const fleet = [...kin(6, { cluster: 'c1', host: 'h1' }), ...kin(6, { host: 'h1' }), ...kin(48, {})];
    const made = plan(capped([perCluster, perHost]), fleet);
    const places = (made.waves[0]?.members ?? []).flatMap(({ collector, order }) =>
      collector.fields['cluster'] === 'c1' ? [order] : [],
    );
    for (const [index, place] of places.entries()) {
      expect(Math.abs(place - (index + 0.5) * 10)).toBeLessThanOrEqual(3);
    }
  });

  it('spreads members that are alone in their domain over the wave', () => {
    const clusters = Array.from({ length: 20 }, (_, index) => kin(2, { cluster: `c${index}` }));
    const [canary] = plan(capped([perCluster], count(40)), [...clusters.flat(), ...kin(40, {})]).waves;
    const inDomain = canary?.members.map(({ domains }) => domains.length > 0) ?? [];
    expect(inDomain.filter(Boolean).length).toBeGreaterThan(15);
    expect(inDomain.slice(0, 8)).toContain(true);
    expect(inDomain.slice(-8)).toContain(true);
  });

  it('is decided by hash between members with the same place', () => {
    const clusters = Array.from({ length: 20 }, (_, index) => kin(2, { cluster: `c${index}` }));
    const [wave] = plan(capped([perCluster]), clusters.flat()).waves;
    const turns = wave?.members.map(({ collector }) => collector.fields['cluster']) ?? [];
    expect(new Set(turns.slice(0, 20)).size).toBe(20);
    expect(turns.slice(20)).not.toEqual(turns.slice(0, 20));
  });
});

describe('the lanes of a plan', () => {
  const zones = ['Europe/Berlin', 'Asia/Tokyo'];
  const fleet = aFleet(40, (id) => ({
    osName: id % 3 === 0 ? 'Windows' : 'Linux',
    timeZone: zones[id % 2] ?? '',
    fields: id % 5 < 2 ? { cluster: `c${id % 5}` } : {},
  }));
  const freeze = { from: '2026-12-20T00:00', to: '2027-01-04T00:00', reason: 'holidays' };
  const window = { days: [1], fromMinute: 0, toMinute: 60 };

  it('differ by time zone when windows or freezes use those of collectors', () => {
    const zonesOf = (changes: Partial<Policy>) => {
      const { waves, groups } = makePlan({ ...capped([]), ...changes }, targetBuild, fleet, 'seed');
      const members = waves.flatMap((wave) => wave.members);
      return {
        lanes: groups.lanes.length,
        own: members.every(({ collector, lane }) => groups.lanes[lane]?.timeZone === collector.timeZone),
        none: groups.lanes.every(({ timeZone }) => timeZone === ''),
      };
    };
    const alike = { lanes: 2, own: false, none: true };
    const apart = { lanes: 4, own: true, none: false };
    expect(zonesOf({})).toEqual(alike);
    expect(zonesOf({ windows: [{ ...window, timeZone: 'Europe/Paris' }] })).toEqual(alike);
    expect(zonesOf({ windows: [{ ...window, timeZone: 'collector' }] })).toEqual(apart);
    expect(zonesOf({ freezes: [{ ...freeze, timeZone: 'collector' }] })).toEqual(apart);
  });
});
