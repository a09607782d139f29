import { describe, expect, it } from 'vitest';
import type { HeldStratum } from '../../../../src/rollout/model/rollout.ts';
import { splitGroup } from '../../../../src/rollout/planning/split-group.ts';
import { anUpgrade, aRollout, askedFor, aWave, someGroups, startedAt } from '../../../support/builders.ts';

const attributes = [{ key: 'fields.rack', value: 'r7' }];
const label = 'fields.rack=r7';
const held: HeldStratum = {
  ...{ stratum: -1, label, attributes, unmoved: true },
  ...{ reason: askedFor('they fail'), by: 'daemon', at: startedAt },
};
const rollout = aRollout({ waves: [aWave({ size: 2 }), aWave({ size: 4 })], strata: { held: [held] } });
const groups = someGroups({
  strata: [
    { label: 'Linux', sizes: [1, 2] },
    { label: 'Windows', sizes: [1, 2] },
  ],
  lanes: [
    { stratum: 0, timeZone: 'Etc/UTC', domains: [] },
    { stratum: 1, timeZone: 'Etc/UTC', domains: [0] },
  ],
  domains: [{ label: 'fields.cluster = c1', cap: 1 }],
});
const member = (collectorId: number, wave: number, stratum: number) =>
  anUpgrade(
    { state: 'pending' },
    { collectorId, wave, stratum, lane: stratum, domains: stratum === 1 ? [0] : [] },
  );

describe('a held group', () => {
  const members = [member(1, 0, 0), member(2, 1, 1), member(3, 1, 1)];
  const split = splitGroup(rollout, groups, { held, members });

  it('becomes a stratum of its own, with lanes like those that its members were in', () => {
    expect(split.groups.strata).toEqual([
      { label: 'Linux', sizes: [0, 2] },
      { label: 'Windows', sizes: [1, 0] },
      { label, attributes, sizes: [1, 2] },
    ]);
    expect(split.groups.lanes.slice(2)).toEqual([
      { stratum: 2, timeZone: 'Etc/UTC', domains: [] },
      { stratum: 2, timeZone: 'Etc/UTC', domains: [0] },
    ]);
    expect(split.upgrades.map(({ identity: { stratum, lane }, rev }) => [stratum, lane, rev])).toEqual([
      [2, 2, 2],
      [2, 3, 2],
      [2, 3, 2],
    ]);
    expect(split.rollout).toMatchObject({
      rev: 2,
      plan: { groupsRev: 2 },
      strata: { held: [{ label, stratum: 2 }] },
    });
  });

  it('is counted once, although it was moved in two steps', () => {
    const [moved] = split.upgrades;
    if (moved === undefined) throw new Error('nobody was moved');
    const again = splitGroup(split.rollout, split.groups, { held, members: [moved, ...members.slice(1)] });
    expect(again.groups).toEqual(split.groups);
  });
});
