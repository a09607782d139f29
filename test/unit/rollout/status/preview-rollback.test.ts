import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import type { ShownRollback } from '../../../../src/contract/admin/verbs.ts';
import { makeApplyVerb } from '../../../../src/orchestrator/operations/apply-verb.ts';
import { showRollback } from '../../../../src/orchestrator/operations/show-rollback.ts';
import { tabulateAttributes } from '../../../../src/rollout/model/attributes.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { isAsShown, previewRollback } from '../../../../src/rollout/status/preview-rollback.ts';
import { aCollector, aRollout, aView, aWaveRule, oldBuild, startedAt } from '../../../support/builders.ts';
import { aHouse, offering } from '../../../support/house.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';
import { aViewOf } from '../../../support/view-cases.ts';

const other = '19.456-3';
const canary = aWaveRule({
  name: 'first',
  size: { kind: 'perStratum', count: 1 },
  soakMs: 1_800_000,
  maxFailures: { kind: 'count', count: 0 },
});

const at = { now: startedAt, requestsPerSecond: 4 };

/** So many upgraded collectors in two strata, the second a third of them. */
const upgraded = (size: number) =>
  Array.from({ length: size }, (_, index) => {
    const place = index % 3 === 0 ? { stratum: 1, fromBuild: other } : { stratum: 0, fromBuild: oldBuild };
    return anEndedOne('succeeded', {}, { collectorId: index + 1, ...place });
  });

describe('the preview of a rollback', () => {
  const strata = ['first', 'second'].map((label) => ({ label, sizes: [5, 4] }));
  const preview = (policy: Partial<Policy>) => {
    const view = { ...aViewOf({ policy }), groups: { strata, lanes: [], domains: [] } };
    return previewRollback(view, { toRollBack: upgraded(9), left: [] }, at);
  };

  it('shows the number of collectors, their earlier builds and the limits', () => {
    const caps = [{ key: 'osName', cap: 2 }] as const;
    expect(preview({ waves: [canary, aWaveRule()], concurrency: 5, maxInFlightPer: caps })).toMatchObject({
      collectors: 9,
      builds: [
        { build: oldBuild, count: 6 },
        { build: other, count: 3 },
      ],
      waves: [
        { name: 'canary', size: 2, soakMs: 1_800_000, maxFailures: '0' },
        { name: 'rest', size: 7, soakMs: 0, maxFailures: '2%' },
      ],
      concurrency: 5,
      caps,
      perHour: null,
      window: null,
      mayGrowBy: 5,
    });
  });

  it('shows the pace of the policy, which does not begin slowly', () => {
    expect(preview({ pace: { perHour: 40, from: 5, factor: 2, after: 10 } }).perHour).toBe(40);
  });

  it('shows how long it takes, and how much earlier it ends if it ignores windows and pace', () => {
    const hour = 3_600_000;
    const soak = { ...canary, soakMs: hour };
    const { estimate } = preview({ waves: [soak, aWaveRule()] });
    expect(estimate.durationMs).toBeGreaterThan(hour);
    const iso = (later: number) => new Date(startedAt + later).toISOString().slice(0, 16);
    const freezes = [{ from: iso(0), to: iso(10 * hour), reason: '', timeZone: 'UTC' }];
    const slow = preview({
      waves: [soak, aWaveRule()],
      freezes,
      pace: { perHour: 1, from: 1, factor: 2, after: 10 },
    });
    expect(slow.estimate.durationMs).toBeGreaterThan(18 * hour);
    expect(slow.estimateNow).toEqual(estimate);
  });

  it('shows a canary of at most half of the collectors, as the rollback has it', () => {
    const waves = [{ ...canary, size: { kind: 'count', count: 50 } as const }, aWaveRule()];
    expect(preview({ waves }).waves.map(({ size }) => size)).toEqual([4, 5]);
  });

  it('counts those of a held group by the strata that they came from, and each without one', () => {
    const systems = ['Windows 2016', 'Windows 2019', 'Windows 2022', 'Windows 2016'];
    const fleet = [...systems, ...systems].map((osName, index) => aCollector({ id: index + 1, osName }));
    const table = runAtOnce(tabulateAttributes(fleet));
    const group = [{ key: 'osName', value: 'Windows*' }];
    const moved = [{ label: 'osName=Windows*', attributes: group, sizes: [4, 4] }];
    const groups = { strata: moved, lanes: [], domains: [] };
    const perStratum = { ...canary, size: { kind: 'perStratum', count: 1 } as const };
    const view = {
      ...aViewOf({ policy: { spreadBy: ['osName'], waves: [perStratum, aWaveRule()] } }),
      groups,
    };
    const parted = (size: number) => ({
      left: [],
      toRollBack: Array.from({ length: size }, (_, index) =>
        anEndedOne('succeeded', {}, { collectorId: index + 1, stratum: 0, fromBuild: oldBuild }),
      ),
    });
    const sizes = (size: number, known?: typeof table) =>
      previewRollback(view, parted(size), at, known).waves.map((wave) => wave.size);
    expect(sizes(8, table)).toEqual([3, 5]);
    expect(sizes(20)).toEqual([10, 10]);
  });

  it('does not guess the size of a canary with a match', () => {
    const waves = [{ ...canary, match: { osName: ['Linux'] } }, aWaveRule()];
    expect(preview({ waves }).waves.map(({ size }) => size)).toEqual([null, null]);
  });
});

describe('a rollback that is confirmed', () => {
  const left = [{ why: { kind: 'held' }, count: 3, some: [] } as const];
  const of = (changes: { collectors?: number; mayGrowBy?: number }) => ({
    ...previewRollback(aView(), { toRollBack: [], left }, at),
    collectors: 40,
    mayGrowBy: 0,
    ...changes,
  });
  const shown = { collectors: 40, leftBehind: 3 };

  it('is still as shown when the running rollout has upgraded its slots meanwhile', () => {
    expect(isAsShown(shown, of({ collectors: 50, mayGrowBy: 10 }))).toBe(true);
    expect(isAsShown(shown, of({ collectors: 51, mayGrowBy: 10 }))).toBe(false);
  });
});

describe('the rollback verb (P15)', () => {
  const id = 'production-20260302-1';

  const setUp = async () => {
    const rollout = aRollout({ id, state: 'paused' });
    const fleet = { listBuilds: offering(oldBuild) };
    const { parts, register, now } = await aHouse({ rollout, upgrades: upgraded(9), fleet });
    const asked = { rolloutId: id, verb: 'rollback', by: 'ann', reason: '' } as const;
    return {
      ...{ register, now },
      preview: () => showRollback(parts, id),
      ask: (shown?: ShownRollback) => makeApplyVerb(parts)({ ...asked, ...(shown && { shown }) }),
    };
  };

  it('shows which collectors go back, which stay, and why', async () => {
    const { preview } = await setUp();
    expect(await preview()).toMatchObject({
      kind: 'shown',
      preview: {
        collectors: 6,
        leftBehind: [{ kind: 'buildNotOffered', count: 3 }],
      },
    });
  });

  it('leaves out collectors that an operator holds', async () => {
    const { preview, register } = await setUp();
    await register.holdCollector({ collectorId: 2, name: 'web-2', by: 'ann', reason: 'disk', at: startedAt });
    expect(await preview()).toMatchObject({
      preview: { collectors: 5, leftBehind: [{ count: 3 }, { kind: 'held', count: 1 }] },
    });
  });

  it('is refused with the present numbers when it names none or others', async () => {
    const { ask, now } = await setUp();
    for (const shown of [undefined, { collectors: 2, leftBehind: 3 }, { collectors: 6, leftBehind: 0 }])
      expect(await ask(shown)).toMatchObject({
        kind: 'refused',
        refusal: { kind: 'rollbackUnconfirmed', shown: shown ?? null, now: { collectors: 6, leftBehind: 3 } },
      });
    expect((await now()).state).toBe('paused');
  });

  it('starts when it names the shown numbers, and a repetition changes nothing', async () => {
    const { ask, now } = await setUp();
    expect(await ask({ collectors: 6, leftBehind: 3 })).toMatchObject({ kind: 'change' });
    expect(await now()).toMatchObject({
      state: 'rollingBack',
      rollback: { leftBehind: [{ count: 3 }] },
    });
    expect(await ask()).toEqual({ kind: 'unchanged' });
  });
});
