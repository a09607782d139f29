import { describe, expect, it } from 'vitest';
import type { SharedAttribute } from '../../../../src/contract/admin/rollout-status.ts';
import { assess } from '../../../../src/rollout/decision/assess.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { raiseAlarm } from '../../../../src/rollout/decision/raise-alarm.ts';
import { blockerText } from '../../../../src/rollout/messages/blockers.ts';
import type { HeldStratum, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { aStratumSummary, askedFor, startedAt } from '../../../support/builders.ts';
import { afterFact, aHeldStratum, alikeStrata, aViewOf, aViewOfStrata } from '../../../support/view-cases.ts';

const now = startedAt + 3_600_000;
const label = 'fields.rack=r7';
const attributes = [{ key: 'fields.rack', value: 'r7' }];
const shared: SharedAttribute = {
  attributes,
  ...{ failed: 6, tried: 6, elsewhere: { failed: 0, tried: 240 }, share: 0.02 },
};
const group: HeldStratum = {
  ...{ stratum: -1, label, attributes, unmoved: true, by: 'daemon', at: startedAt },
  reason: { kind: 'outlier', failed: 6, tried: 6, elsewhere: { failed: 0, tried: 240 } },
};

function view(given: { shared?: SharedAttribute; held?: readonly HeldStratum[]; isolates?: boolean }) {
  const planned = aViewOf({
    waves: [{ rule: { maxFailures: { kind: 'count', count: 20 } }, wave: { size: 300, state: 'open' } }],
    policy: { isolate: given.isolates === false ? 'strata' : 'attributes' },
    rollout: { strata: { held: given.held ?? [] } },
  });
  const strata = [
    aStratumSummary({ stratum: 0, failed: 3, weight: 3, succeeded: 120 }),
    aStratumSummary({ stratum: 1, failed: 3, weight: 3, succeeded: 120 }),
  ];
  const of = aViewOfStrata(planned.rollout, strata, { groups: alikeStrata(2, [150]) });
  return given.shared === undefined ? of : { ...of, sharedAttribute: given.shared };
}

describe('a group that was held while the plan was made', () => {
  const missed = { label, attributes, by: 'ann', reason: 'a switch', at: startedAt };

  it('is held in the rollout before anything starts (P4)', () => {
    const { actions } = decide({ ...view({}), missedGroups: [missed] }, now);
    const held = {
      label,
      attributes,
      unmoved: true,
      by: 'ann',
      reason: { kind: 'asked', words: 'a switch' },
    };
    expect(actions).toMatchObject([
      { do: 'setBrake' },
      { do: 'holdGroup', group: missed, change: { kind: 'groupHeld', held } },
    ]);
  });

  it('is held as the stratum that it became, where it was held and released before', () => {
    const of = view({});
    const [first = { label, sizes: [1] }] = of.groups.strata;
    const groups = { ...of.groups, strata: [first, { ...first, label }] };
    const { actions } = decide({ ...of, groups, missedGroups: [missed] }, now);
    const strata = [{ stratum: 1, label, by: 'ann', reason: { kind: 'asked', words: 'a switch' } }];
    expect(actions).toMatchObject([
      { do: 'setBrake' },
      { do: 'save', change: { kind: 'strataHeld', strata } },
    ]);
  });
});

const alarmOf = (of: RolloutView) => raiseAlarm(assess(of));

describe('a group whose shared attributes explain the failures', () => {
  it('is held alone, although no limit is exceeded', () => {
    expect(alarmOf(view({ shared }))).toEqual({ kind: 'act', action: { do: 'isolateGroup', shared } });
  });

  it.each<[string, Parameters<typeof view>[0]]>([
    ['the policy does not isolate attributes', { shared, isolates: false }],
    ['nothing explains them', {}],
    ['it is more than half of the plan', { shared: { ...shared, share: 0.6 } }],
    ['most of its collectors are well', { shared: { ...shared, tried: 40 } }],
    [
      'it explains one cause only, which people see',
      { shared: { ...shared, cause: { of: 'retrying', text: 'a file is in use', ended: 0 } } },
    ],
    ['it is held already', { shared, held: [group] }],
  ])('is not where %s', (_why, given) => {
    expect(alarmOf(view(given))).toBeUndefined();
  });

  it('is not held again by the daemon once an operator has released it', () => {
    const of = view({ shared });
    const strata = [...of.groups.strata, { label, attributes, sizes: [6] }];
    expect(alarmOf({ ...of, groups: { ...of.groups, strata } })).toBeUndefined();
  });

  it('stops all creates until its collectors are in their own stratum (P4)', () => {
    const of = view({ held: [group] });
    const decision = decide(of, now);
    expect(decision.actions).toEqual([{ do: 'setBrake' }, { do: 'moveGroup', label }]);
    expect(decision.blockers).toEqual([{ kind: 'groupMoves', label, until: null }]);
    expect(decision.blockers.map(blockerText)[0]).toMatch(/are being moved into the held group; .* a moment/);
    expect(decide({ ...of, braked: true }, now).actions).toEqual([{ do: 'moveGroup', label }]);
  });

  it.each(['held', 'paused'] as const)('moves its collectors while the rollout is %s, too (P15)', (state) => {
    const of = view({ held: [group] });
    const stopped = { ...of, braked: true, rollout: { ...of.rollout, state } };
    const decision = decide(stopped, now);
    expect(decision.actions).toEqual([{ do: 'moveGroup', label }]);
    expect(decision.blockers).toContainEqual({ kind: 'groupMoves', label, until: null });
    const awaiting = { ...stopped, rollout: { ...of.rollout, state: 'awaitingApproval' as const } };
    expect(decide(awaiting, now).actions).toEqual([]);
  });

  it('releases strata that the daemon held for failures of the group, and no others', () => {
    const outlier = { kind: 'outlier', failed: 1, tried: 1, elsewhere: { failed: 0, tried: 9 } } as const;
    const strata = [
      aHeldStratum(0, { reason: outlier }),
      aHeldStratum(3, { reason: outlier }),
      aHeldStratum(2, { reason: askedFor('a person said so') }),
    ];
    const of = view({ held: [...strata, group] });
    const { rollout } = afterFact(of, { kind: 'groupMoved', at: now, label, view: of });
    const { unmoved: _moved, ...held } = group;
    const remaining = of.strata.find(({ stratum }) => stratum === 3)?.waiting ?? 0;
    const tookOver = [{ label: strata[1]?.label, at: strata[1]?.at, remaining }];
    expect(rollout.strata.held).toEqual([strata[0], strata[2], { ...held, tookOver }]);
  });

  it('is moved again when another group is released, because a collector may be in both', () => {
    const { unmoved: _moved, ...held } = group;
    const other = aHeldStratum(5, { label: 'category=db', attributes: [{ key: 'category', value: 'db' }] });
    const of = view({ held: [held, other] });
    const { rollout } = afterFact(of, {
      ...{ kind: 'stratumReleased', at: now, stratum: 5, label: other.label },
      ...{ reason: askedFor('repaired'), view: of },
    });
    expect(rollout.strata.held).toEqual([group]);
  });
});
