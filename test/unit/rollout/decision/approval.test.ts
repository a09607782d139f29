import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import type { Rollout, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { judgeVerb } from '../../../../src/rollout/verbs/verbs.ts';
import {
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  startedAt,
} from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';

const at = startedAt + 3_600_000;
const words = { by: 'ann', reason: '', at };

function view(rollout: Partial<Rollout> = {}): RolloutView {
  const waves = [aWaveRule({ name: 'canary' }), aWaveRule({ name: 'rest', approval: true })];
  return aView({
    rollout: aRollout({
      policy: aPolicy({ waves }),
      waves: [
        aWave({ name: 'canary', size: 5, state: 'passed' }),
        aWave({ name: 'rest', size: 20, state: 'waiting' }),
      ],
      ...rollout,
    }),
    waves: [aSummary({ succeeded: 5 }), aSummary({ pending: 20 })],
    candidates: [{ lane: 0, retries: [], pending: [] }],
  });
}

function approve(of: RolloutView): RolloutView {
  const judgement = judgeVerb(of, asShown(of, 'approve'), words);
  if (judgement.kind !== 'change') throw new Error('approve changed nothing');
  return { ...of, rollout: evolveRollout(of.rollout, judgement.fact) };
}

const withRest = (of: RolloutView, changes: Parameters<typeof aWave>[0]): RolloutView => {
  const waves = of.rollout.waves.map((wave, index) => (index === 1 ? { ...wave, ...changes } : wave));
  return { ...of, rollout: { ...of.rollout, waves } };
};

describe('a plan that waits for approval', () => {
  const drift = { from: '1a2b', joined: 1, left: 0, words: 'one more' };
  const plan = view({ state: 'awaitingApproval', reason: because('the policy asks for it'), drift });

  it('runs once it is approved, and its drift is seen', () => {
    expect(approve(plan).rollout).toMatchObject({
      state: 'running',
      reason: { kind: 'asked', by: 'ann' },
      drift: null,
    });
  });

  it('is not approved twice', () => {
    const waves = plan.rollout.policy.waves;
    const asking = { ...plan, rollout: { ...plan.rollout, policy: aPolicy({ approval: true, waves }) } };
    const approved = approve(asking);
    expect(judgeVerb(approved, asShown(asking, 'approve'), words).kind).toBe('unchanged');
  });

  it('is approved by its hash alone (P15)', () => {
    const awaited = { kind: 'plan', planHash: '7f3a' };
    expect(judgeVerb(plan, { verb: 'approve', planHash: 'dead' }, words)).toEqual({
      kind: 'refused',
      refusal: { kind: 'otherPlan', planHash: '7f3a', asked: 'dead', awaited },
    });
    expect(judgeVerb(plan, { verb: 'approve', wave: 'rest' }, words)).toEqual({
      kind: 'refused',
      refusal: { kind: 'waveNotAwaiting', asked: 'rest', awaited },
    });
  });
});

describe('a wave that waits for approval', () => {
  it('is not opened before, though its turn has come', () => {
    expect(decide(view(), at).actions).toEqual([{ do: 'awaitApproval', wave: 1 }]);
    const waiting = withRest(view(), { state: 'awaitingApproval' });
    expect(decide(waiting, at)).toEqual({
      actions: [],
      blockers: [{ kind: 'waveApproval', wave: 'rest', until: null }],
      wakeAt: null,
    });
  });

  it('is opened once it is approved', () => {
    const waiting = withRest(view(), { state: 'awaitingApproval' });
    const approved = approve(waiting);
    expect(approved.rollout.waves[1]).toMatchObject({ approvedAt: at, state: 'awaitingApproval' });
    expect(decide(approved, at).actions).toEqual([{ do: 'openWave', wave: 1 }]);
    expect(judgeVerb(approved, asShown(waiting, 'approve'), words).kind).toBe('unchanged');
    const open = withRest(approved, { state: 'open' });
    expect(judgeVerb(open, asShown(waiting, 'approve'), words).kind).toBe('unchanged');
  });

  it.each([
    [{ planHash: 'dead' }, 'otherPlan'],
    [{ planHash: '7f3a' }, 'noApprovalNeeded'],
    [{ wave: 'canary' }, 'waveNotAwaiting'],
    [{ wave: 'half' }, 'unknownWave'],
  ])('is approved by its own name alone, not by %j (P15)', (what, kind) => {
    const waiting = withRest(view(), { state: 'awaitingApproval' });
    expect(judgeVerb(waiting, { verb: 'approve', ...what }, words)).toMatchObject({
      kind: 'refused',
      refusal: { kind, awaited: { kind: 'wave', wave: 'rest' } },
    });
  });

  it('needs no second one', () => {
    expect(decide(withRest(view(), { approvedAt: startedAt }), at).actions).toEqual([
      { do: 'openWave', wave: 1 },
    ]);
  });

  it('needs none when it has no members', () => {
    expect(decide(withRest(view(), { size: 0 }), at).actions).toEqual([{ do: 'openWave', wave: 1 }]);
  });
});
