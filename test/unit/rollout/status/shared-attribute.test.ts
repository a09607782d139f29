import { describe, expect, it } from 'vitest';
import { hashNumber } from '../../../../src/base/hash.ts';
import { sharedAttributeWords } from '../../../../src/rollout/messages/shared-attribute.ts';
import type { StratumSummary } from '../../../../src/rollout/model/rollout.ts';
import { findSharedAttribute } from '../../../../src/rollout/status/shared-attribute.ts';
import { aPolicy, aRollout, aStratumSummary, aView, someGroups } from '../../../support/builders.ts';

const systems = ['Linux', 'Windows Server 2016', 'Windows Server 2019', 'Windows Server 2022'];
const builds = ['19.402-1', '19.418-8', '19.441-2', '19.506-1'];
const labels = systems.flatMap((osName) =>
  ['amd64', 'aarch64'].flatMap((osArch) => builds.map((build) => `${osName} / ${osArch} / ${build}`)),
);
const spreadBy = ['osName', 'osArch', 'collectorVersion'] as const;

/** @param failedOf how many of the `tried` collectors of a stratum failed, by its label and place */
function found(failedOf: (label: string, place: number) => number, tried = 2, keys = [...spreadBy]) {
  const strata = labels.map((label, stratum): StratumSummary => {
    const failed = Math.min(tried, failedOf(label, stratum));
    return aStratumSummary({ stratum, failed, weight: failed, succeeded: tried - failed });
  });
  const groups = someGroups({ strata: labels.map((label) => ({ label, sizes: [tried] })) });
  const rollout = aRollout({ policy: aPolicy({ spreadBy: keys }) });
  return findSharedAttribute(aView({ rollout, groups, strata }));
}

describe('what failures have in common', () => {
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
    expect(shared === null ? null : sharedAttributeWords(shared)).toBe(words);
  });

  it.each<[string, (label: string, place: number) => number, number]>([
    ['two failures', (_label, place) => (place < 2 ? 1 : 0), 2],
    ['a build that fails everywhere', () => 1, 2],
    ['failures that are spread evenly', (_label, place) => (place % 5 === 0 ? 1 : 0), 10],
  ])('is nothing for %s', (_what, failedOf, tried) => {
    expect(found(failedOf, tried)).toBeNull();
  });

  it('is not guessed where values cannot be told apart, or nothing tells collectors apart', () => {
    const failedOf = (label: string) => (label.startsWith('Linux') ? 2 : 0);
    expect(found(failedOf)).not.toBeNull();
    expect(found(failedOf, 2, ['osName', 'osArch'])).toBeNull();
    expect(found(failedOf, 2, [])).toBeNull();
  });

  it('is hardly ever found among failures at random', () => {
    const fleets = 1_000;
    let accused = 0;
    for (let fleet = 0; fleet < fleets; fleet += 1) {
      const failed = new Map<number, number>();
      for (let one = 0; one < 3 + (hashNumber(`count ${fleet}`) % 28); one += 1) {
        const place = hashNumber(`place ${fleet} ${one}`) % labels.length;
        failed.set(place, (failed.get(place) ?? 0) + 1);
      }
      if (found((_label, place) => failed.get(place) ?? 0, 20) !== null) accused += 1;
    }
    expect(accused / fleets).toBeLessThanOrEqual(0.01);
  });
});
