import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { refusalWords } from '../../../../src/rollout/messages/refusals.ts';
import { findStratum } from '../../../../src/rollout/model/plan-groups.ts';
import {
  isRolloutEnd,
  type Rollout,
  type RolloutState,
  type RolloutView,
  rolloutStates,
  type WaveState,
} from '../../../../src/rollout/model/rollout.ts';
import {
  judgeVerb,
  type RolloutVerb,
  rolloutVerbs,
  type VerbJudgement,
} from '../../../../src/rollout/verbs/verbs.ts';
import {
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';

const at = startedAt + 3_600_000;
const words = { by: 'ann', reason: 'storage team asked', at };

function view(rollout: Partial<Rollout> = {}, changes: Partial<RolloutView> = {}): RolloutView {
  return aView({
    rollout: aRollout({
      endedAt: rollout.state !== undefined && isRolloutEnd(rollout.state) ? startedAt : null,
      ...rollout,
    }),
    ...changes,
  });
}

const failedOnes = { waves: [aSummary({ succeeded: 8, failed: 2 }, { weight: 2 })] };
const judge = (of: RolloutView, verb: RolloutVerb) => judgeVerb(of, asShown(of, verb), words);

type Kind = VerbJudgement['kind'];

describe('the verbs of an operator', () => {
  /** What each does in each state; what is not named is refused. */
  const table: Readonly<Record<RolloutVerb, Partial<Record<RolloutState, Kind>>>> = {
    pause: { running: 'change', paused: 'unchanged' },
    resume: { paused: 'change', held: 'change', running: 'unchanged' },
    approve: { awaitingApproval: 'change' },
    skipSoak: {
      running: 'change',
      paused: 'change',
      held: 'change',
      awaitingApproval: 'change',
    },
    abort: {
      awaitingApproval: 'change',
      running: 'change',
      held: 'change',
      paused: 'change',
      aborted: 'unchanged',
    },
    rollback: {
      running: 'change',
      held: 'change',
      paused: 'change',
      succeeded: 'change',
      finishedWithFailures: 'change',
      aborted: 'change',
      superseded: 'change',
      rollingBack: 'unchanged',
      rolledBack: 'unchanged',
    },
    retry: {
      finishedWithFailures: 'change',
      running: 'retry',
      held: 'retry',
      paused: 'retry',
    },
  };
  const soaking = { waves: [aWave({ state: 'soaking', soakEndsAt: at })] };

  describe.each(rolloutVerbs)('%s', (verb) => {
    it.each(rolloutStates)('of a rollout that is %s', (state) => {
      const judgement = judge(view({ state, ...soaking }, failedOnes), verb);
      expect(judgement.kind).toBe(table[verb][state] ?? 'refused');
      if (judgement.kind === 'refused') expect(refusalWords(judgement.refusal).trim()).not.toBe('');
    });
  });

  it('do not say of a rollout that it is over when it is not', () => {
    for (const verb of rolloutVerbs) {
      for (const state of rolloutStates) {
        if (isRolloutEnd(state)) continue;
        const judgement = judge(view({ state, ...soaking }), verb);
        if (judgement.kind === 'refused') expect(judgement.refusal.kind, `${verb} ${state}`).not.toBe('over');
      }
    }
  });
});

describe('resume', () => {
  const buildHold = { build: '19.536-4', by: 'ann', reason: 'breaks logs', at };

  it('is refused while the build is held, and says what to do first', () => {
    expect(judge(view({ state: 'held' }, { buildHold }), 'resume')).toEqual({
      kind: 'refused',
      refusal: { kind: 'buildHeld', build: '19.536-4', reason: 'breaks logs' },
    });
  });

  it('ends the hold that was shown, and no later one (P15)', () => {
    const begin = (of: Rollout, reason: string) =>
      evolveRollout(of, { kind: 'held', at, reason: because(reason) });
    const first = view(begin(aRollout({ rev: 16 }), 'canary: failures 3'));
    const asked = asShown(first, 'resume');
    expect(asked).toEqual({ verb: 'resume', hold: 17 });
    const trusted = { at, size: 10, missing: 0 };
    const later = evolveRollout(first.rollout, { kind: 'inventoryTrusted', at, inventory: trusted });
    expect(judgeVerb(view(later), asked, words).kind).toBe('change');
    const resumed = evolveRollout(later, { kind: 'resumed', at, reason: because(''), view: first });
    expect(resumed).not.toHaveProperty('hold');
    expect(judgeVerb(view(resumed), asked, words).kind).toBe('unchanged');
    const second = view(begin(resumed, 'the build is gone'));
    expect(judgeVerb(second, asked, words)).toEqual({
      kind: 'refused',
      refusal: {
        kind: 'otherHold',
        state: 'held',
        hold: 20,
        asked: 17,
        reason: because('the build is gone'),
      },
    });
    expect(judge(second, 'resume').kind).toBe('change');
  });

  it('does not take a plan that waits for approval for a held one', () => {
    expect(judge(view({ state: 'awaitingApproval' }), 'resume')).toMatchObject({
      refusal: { kind: 'notStarted' },
    });
  });
});

describe('skip-soak', () => {
  it('is refused while nothing soaks', () => {
    expect(judge(view(), 'skipSoak')).toMatchObject({
      kind: 'refused',
      refusal: { kind: 'notSoaking', soaking: null },
    });
  });

  it('changes nothing the second time', () => {
    const skipped = { waves: [aWave({ state: 'soaking', soakEndsAt: at, soakSkippedAt: startedAt })] };
    expect(judge(view(skipped), 'skipSoak').kind).toBe('unchanged');
  });

  it('means the wave that soaks, and no other (P15)', () => {
    const second = {
      waves: [
        aWave({ name: 'canary', state: 'passed' }),
        aWave({ name: 'rest', state: 'soaking', soakEndsAt: at }),
      ],
    };
    expect(judgeVerb(view(second), { verb: 'skipSoak', wave: 'rest' }, words)).toMatchObject({
      fact: { kind: 'soakSkipped', wave: 1, at },
    });
    const first = { verb: 'skipSoak', wave: 'canary' } as const;
    expect(judgeVerb(view(second), first, words)).toEqual({
      kind: 'refused',
      refusal: { kind: 'notSoaking', asked: 'canary', soaking: 'rest' },
    });
  });
});

describe('retry', () => {
  it('is refused when nothing has failed', () => {
    expect(judge(view({ state: 'finishedWithFailures' }), 'retry').kind).toBe('refused');
  });

  it('is refused when more have failed than were shown (P15)', () => {
    const of = view({ state: 'running' }, failedOnes);
    expect(judgeVerb(of, { verb: 'retry', failed: 1 }, words)).toEqual({
      kind: 'refused',
      refusal: { kind: 'moreFailed', failed: 2, asked: 1 },
    });
  });

  it('can be repeated after a crash between its records and the rollout', () => {
    const halfway = { waves: [aSummary({ succeeded: 8, retrying: 2 })] };
    expect(judge(view({ state: 'finishedWithFailures' }, halfway), 'retry').kind).toBe('change');
  });

  it('opens a rollout again that had finished with failures', () => {
    const over = view({ state: 'finishedWithFailures' }, failedOnes);
    const judgement = judge(over, 'retry');
    if (judgement.kind !== 'change') throw new Error('retry was refused');
    expect(evolveRollout(over.rollout, judgement.fact)).toMatchObject({ state: 'running', endedAt: null });
  });
});

describe('verbs in general', () => {
  const waves = fc.tuple(
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom<WaveState>('waiting', 'awaitingApproval', 'open', 'soaking'),
  );
  const views = fc
    .record({
      state: fc.constantFrom(...rolloutStates),
      kind: fc.constantFrom('upgrade' as const, 'rollback' as const),
      at: waves,
      isApproved: fc.boolean(),
      wantsApproval: fc.boolean(),
      isSkipped: fc.boolean(),
      failed: fc.integer({ min: 0, max: 2 }),
      isBuildHeld: fc.boolean(),
      rollbackId: fc.constantFrom(null, 'production-20260302-2'),
      isOver: fc.boolean(),
    })
    .map(
      ({
        state,
        kind,
        at: [passed, current],
        isApproved,
        wantsApproval,
        isSkipped,
        failed,
        isBuildHeld,
        rollbackId,
        isOver,
      }) => {
        // A rollout whose plan waits has no wave that has got anywhere.
        const isPlan = state === 'awaitingApproval';
        // Only a wave whose rule asks for it waits for approval.
        const now = current === 'awaitingApproval' && !wantsApproval ? 'waiting' : current;
        const stateOf = (wave: number): WaveState =>
          isPlan || wave > passed ? 'waiting' : wave < passed ? 'passed' : now;
        const rules = ['canary', 'early', 'rest'].map((name) => aWaveRule({ name, approval: wantsApproval }));
        return view(
          {
            state,
            kind,
            rollbackOf: kind === 'rollback' ? 'production-20260302-0' : null,
            rollbackId: state === 'rollingBack' || state === 'rolledBack' ? rollbackId : null,
            endedAt: isRolloutEnd(state) && isOver ? startedAt : null,
            policy: aPolicy({ waves: rules, approval: state === 'awaitingApproval' || wantsApproval }),
            waves: rules.map(({ name }, wave) =>
              aWave({
                name,
                state: stateOf(wave),
                soakEndsAt: stateOf(wave) === 'soaking' ? at : null,
                soakSkippedAt: isSkipped && stateOf(wave) === 'soaking' ? startedAt : null,
                approvedAt: isApproved && !isPlan && wave <= passed ? startedAt : null,
              }),
            ),
          },
          {
            waves: [
              aSummary({ succeeded: 5, failed: isPlan ? 0 : failed }, { weight: failed }),
              aSummary({ pending: 5 }),
              aSummary({ pending: 5 }),
            ],
            buildHold: isBuildHeld ? { build: '19.536-4', by: 'ann', reason: '', at } : null,
          },
        );
      },
    );

  it('repeated change nothing more, leave a rollout that is over alone but for rollback and retry, and say why they are refused', () => {
    let changes = 0;
    fc.assert(
      fc.property(views, fc.constantFrom(...rolloutVerbs), (of, verb) => {
        const asked = asShown(of, verb);
        const judgement = judgeVerb(of, asked, words);
        if (judgement.kind === 'refused') expect(refusalWords(judgement.refusal).length).toBeGreaterThan(5);
        if (judgement.kind !== 'change') return;
        changes += 1;
        expect(isRolloutEnd(of.rollout.state) && verb !== 'rollback' && verb !== 'retry').toBe(false);
        const rollout = evolveRollout(of.rollout, judgement.fact);
        expect(rollout.rev).toBe(of.rollout.rev + 1);
        // A rollout that was opened again: its failed upgrades have changed before.
        const { kind } = judgeVerb({ ...of, rollout }, asked, words);
        expect(kind).toBe(judgement.fact.kind === 'reopened' && kind === 'retry' ? 'retry' : 'unchanged');
      }),
      { numRuns: 800 },
    );
    expect(changes).toBeGreaterThan(100);
  });
});

describe('a stratum named by an operator', () => {
  const groups = someGroups({
    strata: [
      { label: 'Linux / amd64', sizes: [5] },
      { label: 'Windows / amd64', sizes: [5] },
    ],
  });

  it('is found whatever the case and the blanks', () => {
    expect(findStratum(groups.strata, 'windows/AMD64')).toEqual({
      kind: 'found',
      stratum: 1,
      label: 'Windows / amd64',
    });
    expect(findStratum(groups.strata, ' Linux  /amd64 ')).toMatchObject({ stratum: 0 });
  });

  it('is not found by a part of its name', () => {
    expect(findStratum(groups.strata, 'linux')).toEqual({ kind: 'none' });
    expect(findStratum(groups.strata, '')).toEqual({ kind: 'none' });
  });
});
