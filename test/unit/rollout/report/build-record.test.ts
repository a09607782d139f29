import { describe, expect, it } from 'vitest';
import type { EndState, Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { makeBuildTally, strataRecordedMax } from '../../../../src/rollout/report/build-record.ts';
import { aRollout, because, oldBuild, startedAt } from '../../../support/builders.ts';
import { afterFacts, anEndedOne } from '../../../support/upgrade-cases.ts';

const endedAt = startedAt + 3_600_000;

function recordOf(upgrades: readonly Upgrade[], labels = ['Linux', 'Windows']) {
  const tally = makeBuildTally();
  for (const upgrade of upgrades) tally.add(upgrade);
  return tally.record(aRollout(), endedAt, { strata: labels.map((label) => ({ label, sizes: [] })) });
}

function ended(state: EndState, { tookMs = 60_000, stratum = 0 } = {}): Upgrade {
  const figures = { stratum, firstStartedAt: startedAt, tasks: [{ taskId: '7', startedAt }] };
  return anEndedOne(state, { endedAt: startedAt + tookMs }, figures);
}

function rolledBack(upgrade: Upgrade): Upgrade {
  const reason = { kind: 'rolledBack', build: oldBuild, rollback: 'r' } as const;
  return afterFacts(upgrade, { kind: 'rolledBack', at: endedAt, reason });
}

describe('the record of what a build did in a rollout', () => {
  it('counts per stratum who came back and who failed how, most failures first', () => {
    const died = anEndedOne('unconfirmed', { failureClass: 'unconfirmed' }, { stratum: 1 });
    const spent = anEndedOne('failed', { failureClass: 'retry', reason: because('') }, { stratum: 1 });
    const upgrades = [
      ...[20_000, 40_000, 90_000].map((tookMs) => ended('succeeded', { tookMs })),
      ended('failed'),
      ...[died, spent, spent],
      ...[ended('withdrawn'), anEndedOne('withdrawn', { onBuild: true })],
    ];
    expect(recordOf(upgrades)).toEqual({
      ...{ rolloutId: aRollout().id, policy: 'production', build: aRollout().plan.targetBuild, endedAt },
      strata: [
        { label: 'Windows', tried: 3, failed: { unconfirmed: 1, retry: 2 }, returned: 0, medianMs: null },
        { label: 'Linux', tried: 4, failed: { failed: 1 }, returned: 3, medianMs: 40_000 },
      ],
      others: null,
    });
  });

  it('counts collectors that were rolled back by what the build had done to them', () => {
    const upgrades = [ended('succeeded', { tookMs: 30_000 }), ended('timedOut')].map(rolledBack);
    expect(upgrades.map(({ progress }) => progress.state)).toEqual(['rolledBack', 'rolledBack']);
    expect(recordOf(upgrades).strata).toEqual([
      { label: 'Linux', tried: 2, failed: { timedOut: 1 }, returned: 1, medianMs: 30_000 },
    ]);
  });

  it('counts one that failed and was withdrawn before its retry as failed', () => {
    const retried = afterFacts(ended('failed'), { kind: 'retryAsked', at: endedAt, reason: because('') });
    const withdrawn = afterFacts(retried, { kind: 'withdrawn', at: endedAt, reason: because('') });
    expect(withdrawn.progress.state).toBe('withdrawn');
    expect(recordOf([withdrawn]).strata).toMatchObject([{ tried: 1, failed: { failed: 1 } }]);
  });

  it('sums the strata beyond the largest, and those without a name', () => {
    const labels = Array.from({ length: strataRecordedMax + 2 }, (_, index) => `s${index}`);
    const upgrades = labels.flatMap((_, stratum) => [
      ended('succeeded', { stratum }),
      ...(stratum < 2 ? [] : [ended('failed', { stratum })]),
    ]);
    const { strata, others } = recordOf([...upgrades, ended('succeeded', { stratum: 99 })], labels);
    expect(strata.map(({ label }) => label)).toEqual(labels.slice(2));
    expect(others).toEqual({ tried: 3, failed: {}, returned: 3, medianMs: 60_000 });
  });

  it('is empty where nothing was tried', () => {
    expect(recordOf([ended('withdrawn')])).toMatchObject({ strata: [], others: null });
  });
});
