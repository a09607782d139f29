import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { rolloutReasonWords } from '../../../../src/rollout/messages/rollout-reasons.ts';
import type { Rollout, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { isEnd, upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import { judgeVerb } from '../../../../src/rollout/verbs/verbs.ts';
import { aRollout, aSummary, aView, aWave, because, startedAt } from '../../../support/builders.ts';

const at = startedAt + 3_600_000;
const words = { by: 'ann', reason: 'logs are lost', at };

function rollingBack(changes: Partial<RolloutView> = {}, rollout: Partial<Rollout> = {}): RolloutView {
  return aView({
    rollout: aRollout({ state: 'rollingBack', reason: because('by ann'), ...rollout }),
    waves: [aSummary({ succeeded: 8, failed: 2 })],
    ...changes,
  });
}

const its = (changes: Partial<NonNullable<RolloutView['rollback']>> = {}) => ({
  id: 'production-20260302-2',
  state: 'running' as const,
  reason: because(''),
  endedAt: null,
  ...changes,
});

describe('a rollout that is taken back', () => {
  it.each(['pending', 'retrying', 'deferred'] as const)('first withdraws what is %s', (state) => {
    const decision = decide(
      rollingBack({ waves: [aSummary({ succeeded: 8, [state]: 1, upgrading: 1 })] }),
      at,
    );
    const reason = { kind: 'rolloutOver', state: 'rollingBack' };
    expect(decision.actions).toEqual([{ do: 'withdrawWaiting', reason }]);
  });

  it.each(
    upgradeStates.filter((state) => !isEnd(state) && !['pending', 'retrying', 'deferred'].includes(state)),
  )('then watches what is %s to its end', (state) => {
    const decision = decide(
      rollingBack({ waves: [aSummary({ succeeded: 8, [state]: 2 })], overdue: [3] }),
      at,
    );
    expect(decision).toEqual({
      actions: [{ do: 'deliver', collectorIds: [3] }],
      blockers: [{ kind: 'watching', upgrades: 2, until: null }],
      wakeAt: null,
    });
  });

  it('waits while it is on its way, and says how it does', () => {
    const decision = decide(rollingBack({ rollback: its({ state: 'held' }) }), at);
    expect(decision).toMatchObject({
      actions: [],
      blockers: [{ kind: 'rollback', rollback: 'production-20260302-2', state: 'held', until: null }],
    });
  });

  it.each([
    ['succeeded', 'by production-20260302-2, which succeeded'],
    ['finishedWithFailures', 'by production-20260302-2, which finished with failures'],
    ['aborted', 'by production-20260302-2, which was aborted'],
  ] as const)('is over when its rollback is %s', (state, words) => {
    const reason = { kind: 'rollbackEnded', rollback: 'production-20260302-2', state } as const;
    expect(rolloutReasonWords(reason)).toBe(words);
    const over = rollingBack(
      { rollback: its({ state, endedAt: at }) },
      { rollbackId: 'production-20260302-2' },
    );
    expect(decide(over, at).actions).toEqual([{ do: 'endRollback', reason }]);
  });
});

describe('asking for a rollback', () => {
  const ask = (of: RolloutView) => judgeVerb(of, { verb: 'rollback' }, words);

  it('opens a rollout again that was over', () => {
    const over = rollingBack({}, { state: 'succeeded', endedAt: startedAt });
    const judgement = ask(over);
    if (judgement.kind !== 'change') throw new Error('rollback was refused');
    const rollout = evolveRollout(over.rollout, judgement.fact);
    expect(rollout).toMatchObject({
      state: 'rollingBack',
      endedAt: null,
      reason: { kind: 'asked', by: 'ann', words: 'logs are lost' },
    });
    expect(decide({ ...over, rollout }, at).actions).toEqual([{ do: 'beginRollback' }]);
  });

  it('is refused for a rollback, and for a plan of which nothing has started', () => {
    const back = { kind: 'rollback', rollbackOf: 'production-20260302-1' } as const;
    expect(ask(rollingBack({}, { ...back, state: 'running' }))).toEqual({
      kind: 'refused',
      refusal: { kind: 'isRollback', rollbackOf: 'production-20260302-1' },
    });
    expect(ask(rollingBack({}, { state: 'awaitingApproval' }))).toMatchObject({ kind: 'refused' });
  });

  it('is refused where nothing was upgraded, nor may be', () => {
    const nothing = { waves: [aSummary({ pending: 5, failed: 2, deferred: 1 })] };
    expect(ask(rollingBack(nothing, { state: 'paused' }))).toEqual({
      kind: 'refused',
      refusal: { kind: 'nothingUpgraded', isOver: false },
    });
    expect(
      ask(rollingBack({ waves: [aSummary({ pending: 5, starting: 1 })] }, { state: 'paused' })).kind,
    ).toBe('change');
    expect(ask(rollingBack({ waves: [aSummary({ unconfirmed: 1 })] }, { state: 'aborted' })).kind).toBe(
      'change',
    );
  });

  it('can let it start outside its windows, also once it runs', () => {
    const now = (of: RolloutView) => judgeVerb(of, { verb: 'rollback', now: true }, words);
    const asked = now(rollingBack({}, { state: 'running' }));
    if (asked.kind !== 'change') throw new Error('rollback was refused');
    expect(evolveRollout(aRollout(), asked.fact)).toMatchObject({ state: 'rollingBack', anyTime: true });
    for (const of of [rollingBack(), rollingBack({}, { kind: 'rollback', state: 'running' })]) {
      const lifted = now(of);
      if (lifted.kind !== 'change') throw new Error('it was refused');
      const rollout = evolveRollout(of.rollout, lifted.fact);
      expect(rollout).toMatchObject({ state: of.rollout.state, anyTime: true });
      expect(now({ ...of, rollout })).toEqual({ kind: 'unchanged' });
    }
    expect(now(rollingBack({}, { kind: 'rollback', state: 'succeeded' }))).toMatchObject({ kind: 'refused' });
  });

  it('points pause and abort to the rollback itself', () => {
    const named = rollingBack({}, { rollbackId: 'production-20260302-2' });
    expect(judgeVerb(named, { verb: 'pause' }, words)).toMatchObject({
      refusal: { kind: 'rollingBack', rollback: 'production-20260302-2' },
    });
    expect(judgeVerb(named, { verb: 'abort' }, words)).toMatchObject({
      refusal: { kind: 'rollingBack', rollback: 'production-20260302-2' },
    });
    expect(judgeVerb(rollingBack(), { verb: 'abort' }, words)).toMatchObject({
      refusal: { kind: 'rollingBack', rollback: null },
    });
  });
});

describe('a rollback that leaves some behind', () => {
  const ending = (rollout: Partial<Rollout>, counts: Parameters<typeof aSummary>[0] = { succeeded: 8 }) =>
    decide(
      aView({
        rollout: aRollout({ waves: [aWave({ state: 'passed' })], ...rollout }),
        waves: [aSummary(counts)],
      }),
      at,
    ).actions;
  const left = [{ why: { kind: 'held' }, count: 1, some: [{ name: 'web-1', had: '19.441-2' }] } as const];
  const finished = [{ do: 'finish', state: 'finishedWithFailures' }];

  it('finishes with failures, though each of its upgrades succeeded', () => {
    expect(ending({ kind: 'rollback', leftBehind: left })).toEqual(finished);
    expect(ending({ kind: 'rollback' })).toEqual([{ do: 'finish', state: 'succeeded' }]);
  });

  it('does so for whom it withdrew: they stay on the build', () => {
    const counts = { succeeded: 8, withdrawn: 1 };
    expect(ending({ kind: 'rollback' }, counts)).toEqual(finished);
    expect(ending({}, counts)).toEqual([{ do: 'finish', state: 'succeeded' }]);
  });
});

describe('the facts of a rollback', () => {
  it('name it once, and end the rollout', () => {
    const left = [{ why: { kind: 'held' }, count: 1, some: [{ name: 'web-1', had: '19.441-2' }] } as const];
    const more = [...left, { why: { kind: 'claimed' }, count: 1, some: [] } as const];
    const named = evolveRollout(rollingBack().rollout, {
      kind: 'rollbackNamed',
      at,
      rollbackId: 'r-2',
      left,
    });
    expect(named).toMatchObject({ state: 'rollingBack', rollbackId: 'r-2', endedAt: null, leftBehind: left });
    const over = evolveRollout(named, { kind: 'rolledBack', at, reason: because('by r-2'), left: more });
    expect(over).toMatchObject({
      state: 'rolledBack',
      rollbackId: 'r-2',
      endedAt: at,
      reason: because('by r-2'),
      leftBehind: more,
    });
    expect(decide(rollingBack({ rollout: over }), at)).toEqual({ actions: [], blockers: [], wakeAt: null });
  });
});
