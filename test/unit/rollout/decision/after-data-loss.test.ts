import { describe, expect, it } from 'vitest';
import {
  type Standstill,
  standsFor,
  standstillOf,
} from '../../../../src/rollout/decision/after-data-loss.ts';
import { type RolloutState, rolloutStates } from '../../../../src/rollout/model/rollout.ts';
import { aRollout, aWave, targetBuild } from '../../../support/builders.ts';

describe('standstillOf', () => {
  /** Of a rollout that was in this state; a new state has to be thought of here. */
  const outages: Readonly<Record<RolloutState, Standstill | undefined>> = {
    awaitingApproval: { words: 'waited for approval', build: null },
    running: undefined,
    held: { words: 'was held: it leaks', build: null },
    paused: { words: 'was paused: it leaks', build: null },
    rollingBack: { words: 'was rolling back: it leaks', build: targetBuild },
    succeeded: undefined,
    finishedWithFailures: undefined,
    aborted: { words: 'was aborted: it leaks', build: targetBuild },
    rolledBack: { words: 'was rolled back: it leaks', build: targetBuild },
    superseded: undefined,
  };

  it.each(rolloutStates)('knows what stopped a lost rollout that was %s (P4)', (state) => {
    expect(standstillOf(aRollout({ state, reason: 'it leaks' }))).toEqual(outages[state]);
  });

  it('takes a wave or a stratum that waited for a person as one, too: a new plan would make canaries of it', () => {
    const waves = [
      aWave({ name: 'canary', state: 'passed' }),
      aWave({ name: 'rest', state: 'awaitingApproval' }),
    ];
    expect(standstillOf(aRollout({ state: 'running', waves }))?.words).toBe(
      'ran, and wave rest of it waited for approval',
    );
    const heldStrata = [{ stratum: 0, label: 'Linux/arm', reason: '3 of 4 failed', by: 'daemon', at: 1 }];
    expect(standstillOf(aRollout({ state: 'running', heldStrata }))?.words).toBe(
      'ran, and stratum Linux/arm of it was held: 3 of 4 failed',
    );
  });

  it('names all strata that were held, whatever else stopped it: whoever begins it anew holds them again', () => {
    const heldStrata = ['arm', 'old'].map((label) => ({
      stratum: 0,
      label: `Linux/${label}`,
      reason: 'noisy',
      by: 'ann',
      at: 1,
    }));
    const words = (state: RolloutState) =>
      standstillOf(aRollout({ state, reason: 'wait', heldStrata }))?.words;
    const both = 'stratum Linux/arm of it was held: noisy, stratum Linux/old of it was held: noisy';
    expect(words('running')).toBe(`ran, and ${both}`);
    expect(words('paused')).toBe(`was paused: wait, and ${both}`);
    expect(words('held')).toBe(`was held: wait, and ${both}`);
  });
});

describe('standsFor', () => {
  it('lets a newer build go on after an abort, but nothing while a person had stopped the policy', () => {
    expect(standsFor({ words: '', build: targetBuild }, targetBuild)).toBe(true);
    expect(standsFor({ words: '', build: targetBuild }, '99.1-1')).toBe(false);
    expect(standsFor({ words: '', build: null }, '99.1-1')).toBe(true);
  });
});
