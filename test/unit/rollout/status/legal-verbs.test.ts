import { describe, expect, it } from 'vitest';
import {
  isRolloutEnd,
  type RolloutState,
  type RolloutView,
  rolloutStates,
  type WaveState,
} from '../../../../src/rollout/model/rollout.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { judgeVerb, rolloutVerbs } from '../../../../src/rollout/verbs/verbs.ts';
import {
  anApiBudgetStatus,
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  startedAt,
} from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';

const waveStates: readonly WaveState[] = ['waiting', 'awaitingApproval', 'open', 'soaking', 'passed'];
const words = { by: 'alice', reason: '', at: startedAt };

interface Case {
  readonly state: RolloutState;
  readonly wave: WaveState;
  readonly approvedAt: number | null;
  readonly kind: 'upgrade' | 'rollback';
  readonly failed: number;
  readonly retrying: number;
  readonly buildHeld: boolean;
}

function viewOf({ state, wave, approvedAt, kind, failed, retrying, buildHeld }: Case): RolloutView {
  const rules = [aWaveRule({ name: 'canary' }), aWaveRule({ approval: true })];
  const waves = [aWave({ name: 'canary', state: 'passed' }), aWave({ state: wave, approvedAt })];
  const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: startedAt };
  return aView({
    rollout: aRollout({
      state,
      kind,
      rollbackOf: kind === 'rollback' ? 'production-20260301-1' : null,
      policy: aPolicy({ waves: rules }),
      waves,
      endedAt: isRolloutEnd(state) ? startedAt : null,
    }),
    waves: [
      aSummary({ succeeded: 10 }),
      aSummary({ pending: 10 - failed - retrying, unconfirmed: failed, retrying }),
    ],
    buildHold: buildHeld ? buildHold : null,
  });
}

function legal(view: RolloutView) {
  return describeRollout(view, startedAt, anApiBudgetStatus()).verbs;
}

const ordinary: Case = {
  state: 'running',
  wave: 'open',
  approvedAt: null,
  kind: 'upgrade',
  failed: 0,
  retrying: 0,
  buildHeld: false,
};

const cases: readonly Case[] = rolloutStates.flatMap((state) =>
  waveStates.flatMap((wave) =>
    [null, startedAt].flatMap((approvedAt) =>
      (['upgrade', 'rollback'] as const).flatMap((kind) =>
        [0, 2].flatMap((failed) =>
          [0, 1].flatMap((retrying) =>
            [false, true].map((buildHeld) => ({
              state,
              wave,
              approvedAt,
              kind,
              failed,
              retrying,
              buildHeld,
            })),
          ),
        ),
      ),
    ),
  ),
);

describe('legalVerbs', () => {
  it('offers retry once something has failed, also when it is over with failures', () => {
    expect(legal(viewOf({ ...ordinary, failed: 1 }))).toContain('retry');
    expect(legal(viewOf({ ...ordinary, failed: 1, state: 'finishedWithFailures' }))).toContain('retry');
    expect(legal(viewOf({ ...ordinary, failed: 1, state: 'aborted' }))).not.toContain('retry');
    expect(legal(viewOf(ordinary))).not.toContain('retry');
    expect(legal(viewOf({ ...ordinary, retrying: 1 }))).not.toContain('retry');
  });

  it('agrees with the judgement of every verb in every situation', () => {
    for (const each of cases) {
      const view = viewOf(each);
      const status = describeRollout(view, startedAt, anApiBudgetStatus());
      for (const verb of rolloutVerbs) {
        const judged = judgeVerb(view, asShown(status, verb), words).kind;
        const where = `${verb} in ${JSON.stringify(each)}`;
        expect(status.verbs.includes(verb), where).toBe(judged === 'change' || judged === 'retry');
      }
    }
  });
});
