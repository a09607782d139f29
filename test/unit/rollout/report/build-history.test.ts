import { describe, expect, it } from 'vitest';
import { failedShareText } from '../../../../src/rollout/messages/sentences.ts';
import { riskyGroups, worstParts, worstStrata } from '../../../../src/rollout/planning/stratum-risk.ts';
import { summarizeBuilds } from '../../../../src/rollout/report/build-history.ts';
import type { StratumRecord } from '../../../../src/rollout/report/build-record.ts';
import { aBuildRecord, startedAt } from '../../../support/builders.ts';

function aStratum(
  label: string,
  tried: number,
  failed: number,
  medianMs: number | null = 60_000,
): StratumRecord {
  return {
    label,
    tried,
    failed: failed === 0 ? {} : { permanent: failed },
    returned: tried - failed,
    medianMs,
  };
}

describe('the history of builds', () => {
  it('sums the rollouts to a build, over their strata', () => {
    const build = '19.536-4';
    const first = [aStratum('Linux', 3_000, 2, 60_000), aStratum('Windows Server 2016', 14, 5, 300_000)];
    const second = [aStratum('Windows Server 2016', 14, 7, 400_000), aStratum('Linux', 1_000, 0, 90_000)];
    const others = { tried: 182, failed: { retry: 1, timedOut: 1 }, returned: 180, medianMs: 30_000 };
    const records = [
      aBuildRecord({ build, rolloutId: 'b', endedAt: startedAt + 5, strata: first }),
      aBuildRecord({ build, rolloutId: 'a', endedAt: startedAt, strata: second, others }),
    ];
    expect(summarizeBuilds(records)).toEqual([
      {
        ...{ build, tried: 4_210, failed: 16, rollouts: 2, lastEndedAt: startedAt + 5, medianMs: 60_000 },
        strata: [
          { label: 'Windows Server 2016', tried: 28, failed: 12 },
          { label: 'Linux', tried: 4_000, failed: 2 },
        ],
        groups: [],
        text: '19.536-4: 4,210 tried in 2 rollouts, 0.3% failed; Windows Server 2016: 12 of 28',
      },
    ]);
  });

  it('sums groups over rollouts, and names them among the strata that failed most', () => {
    const attributes = [{ key: 'fields.rack', value: 'r7' }];
    const label = 'fields.rack=r7';
    const well = [{ key: 'category', value: 'db' }];
    const of = (failed: number, tried: number) => [
      { attributes, failed, tried },
      { attributes: well, failed: 0, tried: 50 },
    ];
    // A group that was held is a stratum of its rollout as well.
    const strata = [aStratum('Linux', 90, 5), aStratum(label, 5, 4)];
    const [outcome] = summarizeBuilds([
      aBuildRecord({ rolloutId: 'a', strata, groups: of(8, 10) }),
      aBuildRecord({ rolloutId: 'b', strata: [aStratum('Linux', 90, 0)], groups: of(1, 10) }),
    ]);
    expect(outcome?.groups).toEqual([{ label, attributes, tried: 20, failed: 9 }]);
    expect(outcome?.text).toMatch(/; fields\.rack=r7: 9 of 20$/);
    expect(worstParts(outcome ?? { strata: [], groups: [] })).toMatchObject([
      { label, failed: 9 },
      { label: 'Linux', failed: 5 },
    ]);
  });

  it('counts what a group that failed on another build did on this one, so that its risk falls', () => {
    const attributes = [{ key: 'fields.rack', value: 'r7' }];
    const label = 'fields.rack=r7';
    const strata = [aStratum('Linux', 900, 90)];
    const history = summarizeBuilds([
      aBuildRecord({ build: '19.1-1', strata, groups: [{ attributes, failed: 8, tried: 10 }] }),
      aBuildRecord({ build: '19.2-1', strata, groups: [{ attributes, failed: 0, tried: 200 }] }),
    ]);
    expect(history[0]?.groups).toEqual([{ label, attributes, tried: 200, failed: 0 }]);
    expect(riskyGroups(history, '19.1-1')).toHaveLength(1);
    expect(riskyGroups(history, '19.2-1')).toEqual([]);
  });

  it('shows the newest build first, and none that was not tried', () => {
    const records = ['19.61-1', '19.525-63', '20.1-1', '19.536-4'].map((build) => aBuildRecord({ build }));
    const untried = aBuildRecord({ build: '21.1-1', strata: [] });
    expect(summarizeBuilds([...records, untried]).map(({ build }) => build)).toEqual([
      ...['20.1-1', '19.536-4', '19.525-63', '19.61-1'],
    ]);
    expect(summarizeBuilds([])).toEqual([]);
  });

  it('names the five strata with the largest share of failures, out of those with three tried', () => {
    const strata = [
      ...[aStratum('two', 2, 2, null), aStratum('well', 90, 0), aStratum('all', 3, 3, null)],
      ...[1, 2, 3, 4, 5].map((failed) => aStratum(`s${failed}`, 10, failed)),
    ];
    const [outcome] = summarizeBuilds([aBuildRecord({ strata })]);
    expect(worstStrata(outcome?.strata ?? []).map(({ label }) => label)).toEqual([
      'all',
      's5',
      's4',
      's3',
      's2',
    ]);
  });

  it('has no duration and no worst stratum where nothing tells', () => {
    const [failed] = summarizeBuilds([aBuildRecord({ strata: [aStratum('a', 2, 2, null)] })]);
    expect(failed?.medianMs).toBeNull();
    expect(worstStrata(failed?.strata ?? [])).toEqual([]);
    const [well] = summarizeBuilds([aBuildRecord({ strata: [aStratum('a', 9, 0)] })]);
    expect(well?.text).toBe('19.536-4: 9 tried in 1 rollout, none failed');
  });

  it.each([
    [{ tried: 10_000, failed: 1 }, 'under 0.1%'],
    [{ tried: 1_000, failed: 29 }, '2.9%'],
    [{ tried: 10_000, failed: 9_999 }, '99.9%'],
    [{ tried: 7, failed: 7 }, '100%'],
  ])('rounds the share of %o so that only all is 100%%', (figures, text) => {
    expect(failedShareText(figures)).toBe(text);
  });
});
