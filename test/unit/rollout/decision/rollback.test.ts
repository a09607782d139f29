import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { rolloutReasonText } from '../../../../src/rollout/messages/rollout-reasons.ts';
import type { RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { isEnd, isWaiting, upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import { judgeVerb } from '../../../../src/rollout/verbs/judge-verb.ts';
import { askedFor, type RolloutChanges, startedAt } from '../../../support/builders.ts';
import { afterFact, aViewOf, type Counts, type ViewCase } from '../../../support/view-cases.ts';

const at = startedAt + 3_600_000;
const words = { by: 'ann', reason: 'logs are lost', at };
const rollbackId = 'production-20260302-2';

function rollingBack(
  rollout: RolloutChanges = {},
  counts: Counts = { succeeded: 8, failed: 2 },
  changes: ViewCase = {},
): RolloutView {
  return aViewOf({ rollout: { state: 'rollingBack', ...rollout }, waves: [{ counts }], ...changes });
}

const its = (changes: Partial<NonNullable<RolloutView['rollback']>>) => ({
  rollback: { id: rollbackId, state: 'running' as const, reason: askedFor(''), endedAt: null, ...changes },
});

describe('a rollout that is rolled back', () => {
  it.each(upgradeStates.filter(isWaiting))('first withdraws upgrades that are %s', (state) => {
    const of = rollingBack({}, { succeeded: 8, [state]: 1, upgrading: 1 });
    const reason = { kind: 'rolloutOver', state: 'rollingBack' };
    expect(decide(of, at).actions).toEqual([{ do: 'withdrawWaiting', reason }]);
  });

  it.each(upgradeStates.filter((state) => !isEnd(state) && !isWaiting(state)))(
    'then waits for upgrades that are %s, and withdraws those that have not started',
    (state) => {
      const reason = { kind: 'rolloutOver', state: 'rollingBack' };
      const withdraw = state === 'queued' ? [{ do: 'withdrawWaiting', reason }] : [];
      expect(decide(rollingBack({}, { succeeded: 8, [state]: 2 }, { overdue: [3] }), at)).toEqual({
        actions: [{ do: 'deliver', collectorIds: [3] }, ...withdraw],
        blockers: [{ kind: 'watching', upgrades: 2, until: null }],
        wakeAt: null,
      });
    },
  );

  it('waits while its rollback is running, and shows its state', () => {
    expect(decide(rollingBack({}, {}, its({ state: 'held' })), at)).toMatchObject({
      actions: [],
      blockers: [{ kind: 'rollback', rollback: rollbackId, state: 'held', until: null }],
    });
  });

  it.each([
    ['succeeded', 'by production-20260302-2, which succeeded'],
    ['finishedWithFailures', 'by production-20260302-2, which did not roll back all'],
    ['aborted', 'by production-20260302-2, which was aborted'],
  ] as const)('is over when its rollback is %s', (state, text) => {
    const reason = { kind: 'rollbackEnded', rollback: rollbackId, state } as const;
    expect(rolloutReasonText(reason)).toBe(text);
    const over = rollingBack({ rollback: { startedAs: rollbackId } }, undefined, its({ state, endedAt: at }));
    expect(decide(over, at).actions).toEqual([{ do: 'endRollback', reason }]);
    // Nobody could end it otherwise, because it refuses to be aborted while it rolls back.
    expect(decide({ ...over, isPolicyMissing: true }, at).actions).toEqual([{ do: 'endRollback', reason }]);
  });
});

describe('asking for a rollback', () => {
  const ask = (of: RolloutView, now = false) => judgeVerb(of, { verb: 'rollback', now }, words);
  const change = (of: RolloutView, now = false): RolloutView => {
    const judgement = ask(of, now);
    if (judgement.kind !== 'change') throw new Error('rollback was refused');
    return afterFact(of, judgement.fact);
  };

  it('reopens a rollout that has ended', () => {
    const after = change(rollingBack({ state: 'succeeded', endedAt: startedAt }));
    expect(after.rollout).toMatchObject({
      state: 'rollingBack',
      endedAt: null,
      reason: { kind: 'asked', by: 'ann', words: 'logs are lost' },
    });
    expect(decide(after, at).actions).toEqual([{ do: 'beginRollback' }]);
  });

  it('is refused for a rollback, and where no collector was upgraded or may be', () => {
    const refusal = (rollout: RolloutChanges, counts?: Counts) => ask(rollingBack(rollout, counts));
    expect(refusal({ kind: 'rollback', rollback: { original: 'r-1' }, state: 'running' })).toEqual({
      kind: 'refused',
      refusal: { kind: 'isRollback', rollbackOf: 'r-1' },
    });
    expect(refusal({ state: 'paused' }, { pending: 5, failed: 2, deferred: 1 })).toEqual({
      kind: 'refused',
      refusal: { kind: 'nothingUpgraded', isOver: false },
    });
    expect(refusal({ state: 'paused' }, { pending: 5, starting: 1 }).kind).toBe('change');
    expect(refusal({ state: 'aborted' }, { unconfirmed: 1 }).kind).toBe('change');
  });

  it('can allow it outside its windows, also once it is running', () => {
    const asked = change(rollingBack({ state: 'running' }), true);
    expect(asked.rollout).toMatchObject({ state: 'rollingBack', rollback: { anyTime: true } });
    for (const of of [rollingBack(), rollingBack({ kind: 'rollback', state: 'running' })]) {
      const lifted = change(of, true);
      expect(lifted.rollout).toMatchObject({ state: of.rollout.state, rollback: { anyTime: true } });
      expect(ask(lifted, true)).toEqual({ kind: 'unchanged' });
    }
    expect(ask(rollingBack({ kind: 'rollback', state: 'succeeded' }), true).kind).toBe('refused');
  });

  it.each(['pause', 'abort'] as const)('refuses %s and names the rollback', (verb) => {
    for (const rollback of [rollbackId, null])
      expect(judgeVerb(rollingBack({ rollback: { startedAs: rollback } }), { verb }, words)).toMatchObject({
        refusal: { kind: 'rollingBack', rollback },
      });
  });
});

describe('a rollback that leaves some behind', () => {
  const left = [{ why: { kind: 'held' }, count: 1, some: [{ name: 'web-1', had: '19.441-2' }] } as const];

  it.each<[string, string, RolloutChanges, Counts]>([
    [
      'with failures where it leaves some behind',
      'finishedWithFailures',
      { rollback: { leftBehind: left } },
      {},
    ],
    ['with failures where some stay, withdrawn', 'finishedWithFailures', {}, { withdrawn: 1 }],
    [
      'with failures where held ones were given up',
      'finishedWithFailures',
      { strata: { endsWithoutHeld: true } },
      {},
    ],
    ['well where it took all of them back', 'succeeded', {}, {}],
    ['well where it is no rollback', 'succeeded', { kind: 'upgrade' }, { withdrawn: 1 }],
  ])('finishes %s', (_how, state, rollout, counts) => {
    const ending = aViewOf({
      rollout: { kind: 'rollback', ...rollout },
      waves: [{ counts: { succeeded: 8, ...counts }, wave: { state: 'passed' } }],
    });
    expect(decide(ending, at).actions).toEqual([{ do: 'save', change: { kind: 'finished', state } }]);
  });

  it('is named once, and its end ends the rollout', () => {
    const more = [...left, { why: { kind: 'claimed' }, count: 1, some: [] } as const];
    const named = evolveRollout(rollingBack().rollout, { kind: 'rollbackNamed', at, rollbackId, left });
    expect(named).toMatchObject({
      state: 'rollingBack',
      rollback: { startedAs: rollbackId, leftBehind: left },
      endedAt: null,
    });
    const reason = askedFor('by it');
    const over = evolveRollout(named, { kind: 'rolledBack', at, reason, left: more });
    expect(over).toMatchObject({
      state: 'rolledBack',
      reason,
      rollback: { startedAs: rollbackId, leftBehind: more },
      endedAt: at,
    });
    expect(decide({ ...rollingBack(), rollout: over }, at)).toEqual({
      actions: [],
      blockers: [],
      wakeAt: null,
    });
  });
});
