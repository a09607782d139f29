import { describe, expect, it } from 'vitest';
import { wasStopped } from '../../../../src/rollout/decision/after-data-loss.ts';
import { needsStartText } from '../../../../src/rollout/messages/data-loss-texts.ts';
import { type RolloutState, rolloutStates } from '../../../../src/rollout/model/rollout.ts';
import { aRollout, askedFor, aWave, targetBuild } from '../../../support/builders.ts';

const heldStrata = ['arm', 'old'].map((label) => ({
  stratum: 0,
  label: `Linux/${label}`,
  reason: askedFor('noisy'),
  by: 'ann',
  at: 1,
}));

describe('wasStopped', () => {
  /** Which builds a lost rollout of this state stops; a new state has to be decided here. */
  const stops: Readonly<Record<RolloutState, 'every build' | 'its build' | 'none'>> = {
    awaitingApproval: 'every build',
    running: 'none',
    held: 'every build',
    paused: 'every build',
    rollingBack: 'its build',
    succeeded: 'none',
    finishedWithFailures: 'none',
    aborted: 'its build',
    rolledBack: 'its build',
    superseded: 'none',
  };

  it.each(rolloutStates)(
    'decides for a lost rollout that was %s whether it may start again (P4)',
    (state) => {
      const lost = aRollout({ state });
      expect(wasStopped(lost, targetBuild)).toBe(stops[state] !== 'none');
      expect(wasStopped(lost, '99.1-1')).toBe(stops[state] === 'every build');
    },
  );

  it('stops a policy of which a wave awaited approval or a stratum was held, because a new plan could choose them as canaries', () => {
    const waves = [aWave({ state: 'passed' }), aWave({ name: 'rest', state: 'awaitingApproval' })];
    expect(wasStopped(aRollout({ state: 'running', waves }), '99.1-1')).toBe(true);
    expect(wasStopped(aRollout({ state: 'running', strata: { held: heldStrata } }), '99.1-1')).toBe(true);
  });
});

describe('needsStartText', () => {
  it('names what stopped the rollout, and every stratum that an operator has to hold again', () => {
    const words = (state: RolloutState) =>
      needsStartText(
        aRollout({ id: 'night-20260302-1', state, reason: askedFor('wait'), strata: { held: heldStrata } }),
      );
    const both =
      'its stratum Linux/arm was held: by alice: noisy, and its stratum Linux/old was held: by alice: noisy';
    expect(words('paused')).toContain(`night-20260302-1 was paused: by alice: wait, and ${both}`);
    expect(words('running')).toContain(`night-20260302-1 was running, and ${both}`);
  });
});
