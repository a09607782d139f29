import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalText } from '../../../../src/rollout/messages/refusal-texts.ts';
import { findStratum } from '../../../../src/rollout/model/plan-groups.ts';
import { isRolloutEnd, type RolloutState, rolloutStates } from '../../../../src/rollout/model/rollout.ts';
import {
  judgeVerb,
  type RolloutVerb,
  rolloutVerbs,
  type VerbJudgement,
} from '../../../../src/rollout/verbs/judge-verb.ts';
import { askedFor, startedAt } from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';
import { verbSituations } from '../../../support/verb-situations.ts';
import { afterFact, aViewOf, resumed, type ViewCase, type WaveCase } from '../../../support/view-cases.ts';

const at = startedAt + 3_600_000;
const words = { by: 'ann', reason: 'storage team asked', at };

const someFailed: WaveCase = { counts: { succeeded: 8, failed: 2 } };
const soaking: WaveCase = { ...someFailed, wave: { state: 'soaking', soakEndsAt: at } };

/** A rollout in this state, over if it is an end. */
const view = (state: RolloutState, waves: readonly WaveCase[] = [{}], changes: ViewCase = {}) =>
  aViewOf({ waves, ...changes, rollout: { state, endedAt: isRolloutEnd(state) ? startedAt : null } });
const judge = (of: ReturnType<typeof view>, verb: RolloutVerb) => judgeVerb(of, asShown(of, verb), words);

type Kind = VerbJudgement['kind'];

describe('the verbs of an operator', () => {
  const live = ['awaitingApproval', 'running', 'held', 'paused'] as const;
  const stoppable = ['running', 'held', 'paused'] as const;
  const ends = ['succeeded', 'finishedWithFailures', 'aborted', 'superseded'] as const;

  /** In which states each brings which judgement; in all others it is refused. */
  const table: Readonly<Record<RolloutVerb, Partial<Record<Kind, readonly RolloutState[]>>>> = {
    pause: { change: ['running'], unchanged: ['paused'] },
    resume: { change: ['paused', 'held'], unchanged: ['running'] },
    approve: { change: ['awaitingApproval'] },
    skipSoak: { change: live },
    abort: { change: live, unchanged: ['aborted'] },
    rollback: { change: [...stoppable, ...ends], unchanged: ['rollingBack', 'rolledBack'] },
    retry: { change: ['finishedWithFailures'], retry: stoppable },
  };
  const judgementOf = (verb: RolloutVerb, state: RolloutState) =>
    Object.entries(table[verb]).find(([, states]) => states.includes(state))?.[0] ?? 'refused';

  describe.each(rolloutVerbs)('%s', (verb) => {
    it.each(rolloutStates)('of a rollout that is %s', (state) => {
      expect(judge(view(state, [soaking]), verb).kind).toBe(judgementOf(verb, state));
    });

    it('is refused as over only by a rollout that has ended', () => {
      for (const state of rolloutStates.filter((each) => !isRolloutEnd(each))) {
        const judgement = judge(view(state, [{ ...soaking, counts: {} }]), verb);
        if (judgement.kind === 'refused') expect(judgement.refusal.kind, state).not.toBe('over');
      }
    });
  });

  it('change nothing when repeated, change an ended rollout only by rollback or retry, and explain a refusal', () => {
    let changes = 0;
    fc.assert(
      fc.property(verbSituations, fc.constantFrom(...rolloutVerbs), (of, verb) => {
        const asked = asShown(of, verb);
        const judgement = judgeVerb(of, asked, words);
        if (judgement.kind === 'refused') expect(refusalText(judgement.refusal).length).toBeGreaterThan(5);
        if (judgement.kind !== 'change') return;
        changes += 1;
        expect(isRolloutEnd(of.rollout.state) && verb !== 'rollback' && verb !== 'retry').toBe(false);
        const after = afterFact(of, judgement.fact);
        expect(after.rollout.rev).toBe(of.rollout.rev + 1);
        // A rollout that was opened again: its failed upgrades have changed before.
        const { kind } = judgeVerb(after, asked, words);
        expect(kind).toBe(judgement.fact.kind === 'reopened' && kind === 'retry' ? 'retry' : 'unchanged');
      }),
      { numRuns: 800 },
    );
    expect(changes).toBeGreaterThan(100);
  });
});

it.each([
  ['approve', 'awaitingApproval'],
  ['resume', 'held'],
] as const)('%s is refused while the build is held: the rollout would stop at once', (verb, state) => {
  const buildHold = { build: '19.536-4', by: 'ann', reason: 'breaks logs', at };
  expect(judge(view(state, [{}], { buildHold }), verb)).toEqual({
    kind: 'refused',
    refusal: { kind: 'buildHeld', build: '19.536-4', reason: 'breaks logs' },
  });
});

describe('resume', () => {
  it('ends the hold that was shown, and no later one (P15)', () => {
    const hold = (of: ReturnType<typeof view>, reason: string) =>
      afterFact(of, { kind: 'held', at, reason: askedFor(reason) });
    const first = hold(aViewOf({ rollout: { rev: 16 } }), 'canary: failures 3');
    const asked = asShown(first, 'resume');
    expect(asked).toEqual({ verb: 'resume', hold: 17 });
    const trusted = { at, size: 10, missing: 0 };
    const later = afterFact(first, { kind: 'inventoryTrusted', at, inventory: trusted });
    expect(judgeVerb(later, asked, words).kind).toBe('change');
    const running = resumed(later, at);
    expect(running.rollout.hold).toBeNull();
    expect(judgeVerb(running, asked, words).kind).toBe('unchanged');
    const reason = askedFor('the build is gone');
    const second = hold(running, reason.words);
    expect(judgeVerb(second, asked, words)).toEqual({
      kind: 'refused',
      refusal: { kind: 'otherHold', state: 'held', hold: 20, asked: 17, reason },
    });
    expect(judge(second, 'resume').kind).toBe('change');
  });

  it('does not treat a plan that waits for approval as held', () => {
    expect(judge(view('awaitingApproval'), 'resume')).toMatchObject({ refusal: { kind: 'notStarted' } });
  });
});

describe('skip-soak', () => {
  it('is refused while nothing soaks', () => {
    expect(judge(view('running'), 'skipSoak')).toMatchObject({
      refusal: { kind: 'notSoaking', soaking: null },
    });
  });

  it('applies only to the wave that soaks (P15)', () => {
    const second = view('running', [{ name: 'canary', wave: { state: 'passed' } }, soaking]);
    expect(judgeVerb(second, { verb: 'skipSoak', wave: 'rest' }, words)).toMatchObject({
      fact: { kind: 'soakSkipped', wave: 1, at },
    });
    expect(judgeVerb(second, { verb: 'skipSoak', wave: 'canary' }, words)).toEqual({
      kind: 'refused',
      refusal: { kind: 'notSoaking', asked: 'canary', soaking: 'rest' },
    });
  });
});

describe('retry', () => {
  it('is refused when nothing has failed', () => {
    expect(judge(view('finishedWithFailures'), 'retry').kind).toBe('refused');
  });

  it('is refused when more have failed than were shown (P15)', () => {
    expect(judgeVerb(view('running', [someFailed]), { verb: 'retry', failed: 1 }, words)).toEqual({
      kind: 'refused',
      refusal: { kind: 'moreFailed', failed: 2, asked: 1 },
    });
  });

  it.each([
    ['that had finished with failures', { succeeded: 8, failed: 2 }],
    ['after a crash between its records and the rollout', { succeeded: 8, retrying: 2 }],
  ])('reopens a rollout %s', (_when, counts) => {
    const over = view('finishedWithFailures', [{ counts }]);
    const judgement = judge(over, 'retry');
    if (judgement.kind !== 'change') throw new Error('retry was refused');
    expect(afterFact(over, judgement.fact).rollout).toMatchObject({ state: 'running', endedAt: null });
  });
});

describe('a stratum named by an operator', () => {
  const strata = ['Linux / amd64', 'Windows / amd64'].map((label) => ({ label, sizes: [5] }));

  it('is found whatever the case and the spaces', () => {
    expect(findStratum(strata, 'windows/AMD64')).toEqual({
      kind: 'found',
      stratum: 1,
      label: 'Windows / amd64',
    });
    expect(findStratum(strata, ' Linux  /amd64 ')).toMatchObject({ stratum: 0 });
  });

  it.each(['linux', ''])('is not found by "%s", which is no whole name', (name) => {
    expect(findStratum(strata, name)).toEqual({ kind: 'none' });
  });
});
