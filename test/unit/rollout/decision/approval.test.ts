import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { driftText } from '../../../../src/rollout/messages/plans.ts';
import type { PlanDrift, RolloutView, Wave } from '../../../../src/rollout/model/rollout.ts';
import { judgeVerb } from '../../../../src/rollout/verbs/judge-verb.ts';
import { askedFor, type RolloutChanges, startedAt } from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';
import { afterFact, aViewOf, waiting } from '../../../support/view-cases.ts';

const at = startedAt + 3_600_000;
const words = { by: 'ann', reason: '', at };

/** A canary that has passed, and the rest, which needs an approval. */
function view(rollout: RolloutChanges = {}, rest: Partial<Wave> = {}, approval = false): RolloutView {
  return aViewOf({
    waves: [
      { name: 'canary', counts: { succeeded: 5 }, wave: { state: 'passed' } },
      { counts: { pending: 20 }, rule: { approval: true }, wave: { ...waiting, ...rest } },
    ],
    rollout,
    candidates: [{ lane: 0, retries: [], pending: [] }],
    ...(approval && { policy: { approval } }),
  });
}

function approve(of: RolloutView): RolloutView {
  const judgement = judgeVerb(of, asShown(of, 'approve'), words);
  if (judgement.kind !== 'change') throw new Error('approve changed nothing');
  return afterFact(of, judgement.fact);
}

describe('a plan that waits for approval', () => {
  const drift = { from: '1a2b', joined: 1, left: 0, change: { target: null, joined: [], left: [] } };
  const plan = view(
    { state: 'awaitingApproval', reason: askedFor('the policy asks for it'), plan: { drift } },
    {},
    true,
  );

  it('runs once it is approved, and a second approval changes nothing', () => {
    const approved = approve(plan);
    expect(approved.rollout).toMatchObject({
      state: 'running',
      reason: { kind: 'asked', by: 'ann' },
      plan: { drift: null },
    });
    expect(judgeVerb(approved, asShown(plan, 'approve'), words).kind).toBe('unchanged');
  });

  it.each([
    [{ planHash: 'dead' }, { kind: 'otherPlan', planHash: '7f3a', asked: 'dead' }],
    [{ wave: 'rest' }, { kind: 'waveNotAwaiting', asked: 'rest' }],
  ])('is approved by its hash alone, not by %j (P15)', (what, refusal) => {
    expect(judgeVerb(plan, { verb: 'approve', ...what }, words)).toEqual({
      kind: 'refused',
      refusal: { ...refusal, awaited: { kind: 'plan', planHash: '7f3a' } },
    });
  });
});

describe('a wave that waits for approval', () => {
  const awaiting = view({}, { state: 'awaitingApproval' });

  it('is not opened before it is approved', () => {
    expect(decide(view(), at).actions).toEqual([
      { do: 'save', change: { kind: 'waveAwaitsApproval', wave: 1 } },
    ]);
    expect(decide(awaiting, at)).toEqual({
      actions: [],
      blockers: [{ kind: 'waveApproval', wave: 'rest', until: null }],
      wakeAt: null,
    });
  });

  it('is opened once it is approved, and a second approval changes nothing', () => {
    const approved = approve(awaiting);
    expect(approved.rollout.waves[1]).toMatchObject({ approvedAt: at, state: 'awaitingApproval' });
    expect(decide(approved, at).actions).toEqual([{ do: 'save', change: { kind: 'waveOpened', wave: 1 } }]);
    for (const of of [approved, view({}, { state: 'open', approvedAt: at })])
      expect(judgeVerb(of, asShown(awaiting, 'approve'), words).kind).toBe('unchanged');
  });

  it.each([
    [{ planHash: 'dead' }, 'otherPlan'],
    [{ planHash: '7f3a' }, 'noApprovalNeeded'],
    [{ wave: 'canary' }, 'waveNotAwaiting'],
    [{ wave: 'half' }, 'unknownWave'],
  ])('is approved by its own name alone, not by %j (P15)', (what, kind) => {
    expect(judgeVerb(awaiting, { verb: 'approve', ...what }, words)).toMatchObject({
      kind: 'refused',
      refusal: { kind, awaited: { kind: 'wave', wave: 'rest' } },
    });
  });

  it.each([
    ['it has been approved already', { approvedAt: startedAt }],
    ['it has no members', { size: 0 }],
  ])('needs no approval when %s', (_case, rest) => {
    expect(decide(view({}, rest), at).actions).toEqual([
      { do: 'save', change: { kind: 'waveOpened', wave: 1 } },
    ]);
  });
});

describe('how a plan moved since it was shown', () => {
  const none = { target: null, joined: [], left: [] } as const;
  const names = ['a', 'b', 'c', 'd', 'e'];

  it.each<[string, PlanDrift]>([
    [
      '2 joined (a, b), 1 left (c)',
      { from: '1a2b', joined: 2, left: 1, change: { ...none, joined: ['a', 'b'], left: ['c'] } },
    ],
    [
      '7 joined (a, b, c, d, e and 2 more)',
      { from: '1a2b', joined: 7, left: 0, change: { ...none, joined: names } },
    ],
    [
      'the target is 19.540-1 now, its waves changed',
      { from: '1a2b', joined: 0, left: 0, change: { ...none, target: '19.540-1' } },
    ],
  ])('is written as a sentence: %s', (words, drift) => {
    expect(driftText(drift)).toBe(words);
  });
});
