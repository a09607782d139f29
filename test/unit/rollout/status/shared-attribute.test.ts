import { describe, expect, it } from 'vitest';
import { hashNumber } from '../../../../src/base/hash.ts';
import { sharedAttributeText } from '../../../../src/rollout/messages/stop-causes.ts';
import type { AttributeTable } from '../../../../src/rollout/model/attributes.ts';
import { findSharedAttribute } from '../../../../src/rollout/status/shared-attribute.ts';

const systems = ['Linux', 'Windows Server 2016', 'Windows Server 2019', 'Windows Server 2022'];
const builds = ['19.402-1', '19.418-8', '19.441-2', '19.506-1'];
const labels = systems.flatMap((osName) =>
  ['amd64', 'aarch64'].flatMap((osArch) => builds.map((build) => `${osName} / ${osArch} / ${build}`)),
);
const keys = ['osName', 'osArch', 'collectorVersion'];

/** @param failedOf how many of the `tried` collectors with these values failed, by their label and place */
function found(failedOf: (label: string, place: number) => number, tried = 2) {
  const rows = labels.flatMap((label, place) =>
    Array.from({ length: tried }, (_, index) => ({ label, isFailed: index < failedOf(label, place) })),
  );
  const ids = rows.map((_row, index) => index + 1);
  const columns = keys.map((key, part) => {
    const texts = rows.map(({ label }) => label.split(' / ')[part] ?? '');
    const values = [...new Set(texts)];
    return { key, values, cells: texts.map((text) => values.indexOf(text)) };
  });
  const failed = new Set(ids.filter((id) => rows[id - 1]?.isFailed));
  return findSharedAttribute(
    { ids, columns },
    { failed, succeeded: new Set(ids.filter((id) => !failed.has(id))) },
  );
}

describe('the shared attribute of failures', () => {
  it.each<[string, (label: string, place: number) => number, string]>([
    [
      'the beginning of a value that several share',
      (label, place) => (label.startsWith('Windows') ? 1 + (place % 2) : 0),
      'all 36 failures have osName=Windows* (36 of 48 there, 0 of 16 elsewhere)',
    ],
    [
      'one value, beside a failure by chance',
      (label, place) => (label.endsWith('19.506-1') || place === 1 ? 2 : 0),
      '16 of 18 failures have collectorVersion=19.506-1 (16 of 16 there, 2 of 48 elsewhere)',
    ],
    [
      'a pair, where each alone also has many that are well',
      (label) => (label.startsWith('Linux / aarch64') ? 2 : 0),
      'all 8 failures have osName=Linux and osArch=aarch64 (8 of 8 there, 0 of 56 elsewhere)',
    ],
  ])('is %s', (_what, failedOf, words) => {
    const shared = found(failedOf);
    expect(shared && sharedAttributeText(shared)).toBe(words);
  });

  it.each<[string, (label: string, place: number) => number, number]>([
    ['two failures', (_label, place) => (place < 2 ? 1 : 0), 2],
    ['a build that fails everywhere', () => 1, 2],
    ['failures that are spread evenly', (_label, place) => (place % 5 === 0 ? 1 : 0), 10],
  ])('is nothing for %s', (_what, failedOf, tried) => {
    expect(found(failedOf, tried)).toBeUndefined();
  });

  it('is hardly ever found among random failures', () => {
    const fleets = 1_000;
    let accused = 0;
    for (let fleet = 0; fleet < fleets; fleet += 1) {
      const failed = new Map<number, number>();
      for (let one = 0; one < 3 + (hashNumber(`count ${fleet}`) % 28); one += 1) {
        const place = hashNumber(`place ${fleet} ${one}`) % labels.length;
        failed.set(place, (failed.get(place) ?? 0) + 1);
      }
      if (found((_label, place) => failed.get(place) ?? 0, 20) !== undefined) accused += 1;
    }
    expect(accused / fleets).toBeLessThanOrEqual(0.01);
  });
});

/** Collectors from 1 on, with 12 attributes each, drawn by a hash. */
function aTable(collectors: number, seed: number): AttributeTable {
  const ids = Array.from({ length: collectors }, (_, index) => index + 1);
  const sizes = [3, 4, 5, 8, 12, 20, 30, 40, 60, 100, 200, 2_000];
  const columns = sizes.map((size, place) => ({
    key: `fields.f${place}`,
    values: Array.from({ length: size }, (_, value) => `v${value}`),
    cells: ids.map((id) => hashNumber(`${seed} ${place} ${id}`) % size),
  }));
  return { ids, columns };
}

function cellOf({ columns }: AttributeTable, place: number, id: number): number {
  return columns[place]?.cells[id - 1] ?? -1;
}

/** @returns the words about those that ended, if any */
function wordsOf(table: AttributeTable, ended: readonly number[], isFailed: (id: number) => boolean) {
  const failed = new Set(ended.filter(isFailed));
  const succeeded = new Set(ended.filter((id) => !failed.has(id)));
  const shared = findSharedAttribute(table, { failed, succeeded });
  return shared && sharedAttributeText(shared);
}

describe('the shared attribute of failed collectors', () => {
  const table = aTable(3_000, 1);
  const some = table.ids.slice(0, 600);

  it('is the value of an attribute outside spreadBy, beside random failures', () => {
    const isFailed = (id: number) => cellOf(table, 8, id) === 7 || id % 100 === 0;
    expect(wordsOf(table, some, isFailed)).toMatch(/failures have fields\.f8=v7 \((\d+) of \1 there, \d of /);
  });

  it('is a pair, where each alone also has many that are well', () => {
    const isFailed = (id: number) => cellOf(table, 3, id) === 1 && cellOf(table, 2, id) === 2;
    expect(wordsOf(table, some, isFailed)).toContain('failures have fields.f2=v2 and fields.f3=v1 (');
  });

  it('is the single attribute when a pair with it explains no more', () => {
    const isFailed = (id: number) => cellOf(table, 6, id) === 3;
    expect(wordsOf(table, some, isFailed)).toContain('failures have fields.f6=v3 (');
  });

  it('is counted among ended upgrades only', () => {
    const isFailed = (id: number) => cellOf(table, 6, id) === 3;
    expect(wordsOf(table, some.slice(0, 20), isFailed)).toBeUndefined();
  });

  it('is found in at most one of a hundred rollouts that fail at random, weighed at each failure', () => {
    const fleets = 100;
    let accused = 0;
    for (let fleet = 0; fleet < fleets; fleet += 1) {
      const random = aTable(400, fleet);
      const isFailed = (id: number) => hashNumber(`fate ${fleet} ${id}`) % 100 < 1 + (fleet % 5);
      const isAccused = random.ids.some(
        (id) => isFailed(id) && wordsOf(random, random.ids.slice(0, id), isFailed) !== undefined,
      );
      if (isAccused) accused += 1;
    }
    expect(accused / fleets).toBeLessThanOrEqual(0.01);
  });

  it('is found among a few collectors while the rollout is held, and then in at most one of twenty by chance', () => {
    const small = aTable(16, 3);
    const four = small.ids.filter((id) => cellOf(small, 0, id) === 1);
    const outcomes = (failed: readonly number[], ids = small.ids) => ({
      failed: new Set(failed),
      succeeded: new Set(ids.filter((id) => !failed.includes(id))),
    });
    const isHeld = { of: 1, shown: 'held' } as const;
    expect(four.length).toBeGreaterThan(3);
    expect(findSharedAttribute(small, outcomes(four), isHeld)).toMatchObject({ elsewhere: { failed: 0 } });
    expect(findSharedAttribute(small, outcomes(four))).toBeUndefined();
    const rollouts = 1_000;
    let accused = 0;
    for (let at = 0; at < rollouts; at += 1) {
      const random = aTable(30, at);
      const failed = random.ids.filter((id) => hashNumber(`held ${at} ${id}`) % 5 === 0);
      if (findSharedAttribute(random, outcomes(failed, random.ids), isHeld) !== undefined) accused += 1;
    }
    expect(accused / rollouts).toBeLessThanOrEqual(0.05);
  });
});
