import { describe, expect, it } from 'vitest';
import {
  searchUpgrades,
  type UpgradeSearch,
} from '../../../../src/orchestrator/operations/search-upgrades.ts';
import { makeSharedAttributes } from '../../../../src/orchestrator/records/shared-attributes.ts';
import type { Upgrade, UpgradeProgress } from '../../../../src/rollout/model/upgrade.ts';
import {
  anUpgrade,
  aPolicy,
  aRollout,
  aWave,
  someGroups,
  startedAt,
  type UpgradeFigures,
} from '../../../support/builders.ts';
import { aHouse, over } from '../../../support/house.ts';

const rollout = aRollout({
  waves: [aWave({ name: 'canary', size: 2 }), aWave({ name: 'rest', size: 10_000, joined: 2 })],
});
const groups = someGroups({
  strata: ['Linux / amd64', 'Windows / amd64'].map((label) => ({ label, sizes: [1, 1] })),
  domains: [{ label: 'fields.cluster = db-7', cap: 1 }],
});

const failed = (words: string, after: number) => ({
  ...over('failed', words),
  endedAt: startedAt + after,
  failureClass: 'permanent' as const,
});
const pending: UpgradeProgress = { state: 'pending' };
const one = (
  collectorId: number,
  collectorName: string,
  progress: UpgradeProgress,
  of: Partial<UpgradeFigures>,
) => anUpgrade(progress, { collectorId, collectorName, ...of });
const upgrades: readonly Upgrade[] = [
  one(1, 'web-1', pending, { order: 1 }),
  one(2, 'Web-2', failed('no space left on /opt', 1), { order: 2, stratum: 1 }),
  ...Array.from({ length: 10_000 }, (_, index) =>
    one(index + 10, `db-${index}`, pending, { order: index + 3, wave: 1 }),
  ),
  one(3, 'db-x', failed('no space left on /var', 2), { order: 10_003, wave: 1, domains: [0] }),
  one(4, 'db-y', failed('permission denied', 3), { order: 10_004, wave: 1 }),
];

describe('the search by attributes', () => {
  it('finds only collectors with these attributes, in any state, page by page', async () => {
    const { parts, store } = await aHouse({ rollout, upgrades, groups });
    const table = {
      ids: [1, 2, 3, 4, 10],
      columns: [{ key: 'fields.rack', values: ['r7', 'r8'], cells: [0, 1, 0, 0, -1] }],
    };
    const known = { ...parts, store: { ...store, loadAttributes: async () => table } };
    const attributes = [{ key: 'fields.rack', value: 'r7' }];
    const search = async (of: Omit<UpgradeSearch, 'attributes'>, isKnown = true) => {
      const page = await searchUpgrades(isKnown ? known : parts, rollout.id, { ...of, attributes });
      return { ids: page?.upgrades.map(({ identity }) => identity.collectorId), next: page?.next };
    };
    expect(await search({ limit: 2 })).toEqual({ ids: [1, 3], next: '2' });
    expect(await search({ limit: 2, after: '2' })).toEqual({ ids: [4], next: null });
    expect(await search({ limit: 9, states: ['failed'], match: 'db-x' })).toEqual({ ids: [3], next: null });
    expect(await search({ limit: 9 }, false)).toEqual({ ids: [], next: null });
  });
});

it('names the stratum and the group of a collector that was moved to a held group', async () => {
  const attributes = [{ key: 'osName', value: 'Windows' }];
  const moved = someGroups({
    strata: [
      { label: 'Linux / amd64', sizes: [1, 1] },
      { label: 'osName=Windows', sizes: [0, 0], attributes },
    ],
  });
  const spread = aRollout({ policy: aPolicy({ spreadBy: ['osName'] }) });
  const { parts, store } = await aHouse({ rollout: spread, upgrades: upgrades.slice(0, 2), groups: moved });
  const table = { ids: [1, 2], columns: [{ key: 'osName', values: ['Windows'], cells: [-1, 0] }] };
  const sharedAttributes = makeSharedAttributes();
  const known = { ...parts, sharedAttributes, store: { ...store, loadAttributes: async () => table } };
  const page = await searchUpgrades(known, spread.id, { limit: 9 });
  expect(page?.upgrades.map(({ identity }) => page.placeOf(identity))).toEqual([
    { stratum: 'Linux / amd64', group: null },
    { stratum: 'Windows', group: 'osName=Windows' },
  ]);
});

describe('the search for upgrades', () => {
  /** All pages, as long as there is one. */
  const search = async (of: Omit<UpgradeSearch, 'limit' | 'after'>, limit = 100) => {
    const { parts } = await aHouse({ rollout, upgrades, groups });
    const ids: number[] = [];
    let [next, total, pages]: [string | null, number | null, number] = ['0', null, 0];
    while (next !== null && pages < 200) {
      const after = pages > 0 && { after: next };
      const page = await searchUpgrades(parts, rollout.id, { ...of, limit, ...after });
      if (page === undefined) throw new Error('no such rollout');
      ids.push(...page.upgrades.map(({ identity }) => identity.collectorId));
      [next, total] = [page.next, page.total];
      pages += 1;
    }
    return { ids, total, pages };
  };

  it.each([
    ['a state, the latest failure first', { states: ['failed', 'timedOut'] }, [4, 3, 2], 3],
    ['a wave and a state', { states: ['failed'], wave: 0 }, [2], 1],
    [
      'part of the reason, with a placeholder',
      { states: ['failed'], cause: 'NO space … on …' },
      [3, 2],
      null,
    ],
    ['a failure class by its name', { states: ['failed'], cause: 'Permanent' }, [4, 3, 2], null],
    ['a kind of reason by its name', { cause: 'service' }, [2, 3, 4], null],
    ['a stratum', { stratum: 'windows/amd64' }, [2], null],
    ['part of a name, in either case', { match: 'web-' }, [1, 2], null],
    ['the value of a field with a cap', { match: 'cluster db-7' }, [3], null],
    ['an id', { match: '10009', states: ['pending'] }, [10_009], null],
  ] as const)('finds by %s', async (_by, of, ids, total) => {
    expect(await search(of)).toMatchObject({ ids, total });
  });

  it('lists each collector once, in plan order, in pages of the requested size', async () => {
    const all = await search({}, 1_000);
    expect(all.ids).toEqual(upgrades.map(({ identity }) => identity.collectorId));
    expect([all.total, all.pages]).toEqual([10_004, 11]);
    const rest = await search({ wave: 1 }, 1_000);
    expect([rest.ids.length, new Set(rest.ids).size, rest.total]).toEqual([10_002, 10_002, 10_002]);
  });

  it('reads at most 5,000 records for one page, whatever it finds', async () => {
    const { parts } = await aHouse({ rollout, upgrades, groups });
    const first = await searchUpgrades(parts, rollout.id, { match: 'db-9999', limit: 10 });
    expect(first).toMatchObject({ upgrades: [], next: '5000' });
    expect((await search({ match: 'db-9999' }, 10)).ids).toEqual([10_009]);
  });

  it('returns nothing for an unknown rollout', async () => {
    const { parts } = await aHouse({ rollout: null });
    expect(await searchUpgrades(parts, 'no-such', { limit: 1 })).toBeUndefined();
  });
});
