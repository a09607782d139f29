import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WaveRule } from '../../../../src/rollout/model/policy.ts';
import { coverage } from '../../../../src/rollout/planning/coverage.ts';
import { makePlan, type Plan } from '../../../../src/rollout/planning/plan.ts';
import { type SeatClaim, shareSeats } from '../../../../src/rollout/planning/take-seats.ts';
import { aFleet, aPolicy, aWaveRule, oldBuild, targetBuild } from '../../../support/builders.ts';
import { fleetOf, idsByWave, someKin } from '../../../support/planned-fleet.ts';

const count = (members: number): WaveRule['size'] => ({ kind: 'count', count: members });
const percent = (share: number): WaveRule['size'] => ({ kind: 'percent', percent: share });
const perStratum = (members: number): WaveRule['size'] => ({ kind: 'perStratum', count: members });
const byOs = (...sizes: ReadonlyArray<WaveRule['size']>) =>
  aPolicy({
    spreadBy: ['osName'],
    waves: [...sizes.map((size, index) => aWaveRule({ name: `wave ${index}`, size })), aWaveRule()],
  });

/** Six of Linux, three of Windows, one of AIX, in this order of ids. */
const mixed = fleetOf(
  ['Linux', 'Linux', 'Linux', 'Linux', 'Linux', 'Linux', 'Windows', 'Windows', 'Windows', 'AIX'].map(
    (osName) => ({ osName, cluster: '', host: '' }),
  ),
);
const sizesOf = ({ groups }: Plan) => groups.strata.map(({ label, sizes }) => [label, ...sizes]);

describe('the strata of a plan', () => {
  it('are named by the values of spreadBy, the largest first, then by name', () => {
    const kinds = [
      { osName: 'Windows' },
      { osName: 'AIX', osArch: '' },
      { osName: 'Linux' },
      { osName: 'Linux' },
      { osName: 'AIX', osArch: '' },
    ];
    const fleet = aFleet(5, (id) => kinds[id - 1] ?? {});
    const policy = aPolicy({ spreadBy: ['osName', 'osArch', 'collectorVersion'] });
    expect(sizesOf(makePlan(policy, targetBuild, fleet, 'seed'))).toEqual([
      [`AIX / (none) / ${oldBuild}`, 2],
      [`Linux / amd64 / ${oldBuild}`, 2],
      [`Windows / amd64 / ${oldBuild}`, 1],
    ]);
  });

  it('are a single one without spreadBy', () => {
    expect(sizesOf(makePlan(aPolicy(), targetBuild, aFleet(3), 'seed'))).toEqual([['all', 3]]);
  });
});

describe('the seats of a wave', () => {
  /** What is left of a stratum that no earlier wave covers, and of one that an earlier wave covers. */
  const open = (left: number): SeatClaim => ({ left, covered: false });
  const covered = (left: number): SeatClaim => ({ left, covered: true });

  it.each<readonly [string, number, readonly SeatClaim[], readonly number[]]>([
    ['go first to the largest strata', 2, [open(6), open(3), open(1)], [1, 1, 0]],
    ['go first to strata that no wave covers', 2, [covered(6), open(3), covered(3), open(1)], [0, 1, 0, 1]],
    ['go then one to each of the others', 3, [covered(6), open(3), covered(3)], [1, 1, 1]],
    ['are shared in proportion to what remains', 8, [open(8), covered(2), open(2)], [5, 2, 1]],
    ['fall to the largest remainder', 4, [open(5), open(4)], [2, 2]],
    ['fall to the larger stratum between equal remainders', 5, [open(3), open(3)], [3, 2]],
    ['are never more than are left', 20, [open(2), covered(0), open(1)], [2, 0, 1]],
    ['may just suffice for everyone', 2, [covered(1), covered(1)], [1, 1]],
  ])('%s', (_what, seats, claims, given) => {
    expect(shareSeats(seats, claims)).toEqual(given);
  });
});

describe('the waves of a plan', () => {
  it('start with one collector of each stratum when no collector matches the first wave (P14)', () => {
    const match = { osName: ['Lunix'] };
    const waves = [
      aWaveRule({ name: 'canary', size: count(5), match }),
      aWaveRule({ name: 'early', size: count(2), match }),
      aWaveRule(),
    ];
    const plan = makePlan({ ...byOs(), waves }, targetBuild, mixed, 'seed');
    expect(sizesOf(plan)).toEqual([
      ['Linux', 1, 0, 5],
      ['Windows', 1, 0, 2],
      ['AIX', 1, 0, 0],
    ]);
  });

  it.each([count(2), percent(15)])('cover with a %o the strata that earlier waves did not', (size) => {
    expect(sizesOf(makePlan(byOs(size, size), targetBuild, mixed, 'seed'))).toEqual([
      ['Linux', 1, 1, 4],
      ['Windows', 1, 0, 2],
      ['AIX', 0, 1, 0],
    ]);
  });
});

describe('every plan', () => {
  const anySize = fc.oneof(
    fc.nat(30).map(count),
    fc.integer({ min: 1, max: 100 }).map(percent),
    fc.integer({ min: 1, max: 4 }).map(perStratum),
  );

  it('is the same for the same fleet in any order, with each collector in one wave or left out (P9)', () => {
    fc.assert(
      fc.property(someKin, fc.array(anySize, { maxLength: 3 }), fc.string(), (kin, sizes, seed) => {
        const policy = { ...byOs(...sizes), maxInFlightPer: [{ key: 'fields.cluster', cap: 2 }] as const };
        const known = fleetOf(kin);
        const fleet = {
          ...known,
          collectors: known.collectors.map((each) => ({ ...each, alive: each.id % 7 !== 0 })),
        };
        const { leftOut, ...plan } = makePlan(policy, targetBuild, fleet, seed);
        const turned = { ...fleet, collectors: fleet.collectors.toReversed() };
        expect(makePlan(policy, targetBuild, turned, seed)).toMatchObject(plan);
        const ids = idsByWave(plan).flat();
        const all = [...ids, ...leftOut.map(({ collector }) => collector.id)];
        expect(all.toSorted((a, b) => a - b)).toEqual(fleet.collectors.map(({ id }) => id));
        expect(plan.waves.flatMap(({ members }) => members.map(({ order }) => order))).toEqual(
          ids.map((_, index) => index + 1),
        );
      }),
    );
  });
});

describe('the coverage of a plan', () => {
  it('counts the strata of each wave, and names those that are only in the last one', () => {
    const strata = [
      { label: 'Linux', sizes: [1, 0, 8] },
      { label: 'Windows', sizes: [0, 2, 1] },
      { label: 'Solaris', sizes: [0, 0, 2] },
      { label: 'AIX', sizes: [1, 0, 0] },
      // Its members were moved to a held group.
      { label: 'HP-UX', sizes: [0, 0, 0] },
    ];
    expect(coverage({ strata })).toEqual({
      total: 4,
      waves: [2, 1, 3],
      uncovered: { count: 1, labels: ['Solaris'] },
    });
  });

  it('is empty without strata', () => {
    expect(coverage({ strata: [] })).toEqual({ total: 0, waves: [], uncovered: { count: 0, labels: [] } });
  });
});
