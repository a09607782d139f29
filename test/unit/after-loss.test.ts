import { describe, expect, it } from 'vitest';
import { standsFor, standstillOf } from '../../src/rollout/after-loss.ts';
import { type RolloutState, rolloutStates } from '../../src/rollout/rollout.ts';
import { aRollout, aWave, targetBuild } from '../support/builders.ts';

describe('standstillOf', () => {
  it.each<readonly [RolloutState, string | undefined, string | null]>([
    ['planned', undefined, null],
    ['awaitingApproval', 'waited for approval', null],
    ['running', undefined, null],
    ['held', 'was held: it leaks', null],
    ['paused', 'was paused: it leaks', null],
    ['rollingBack', 'was rolling back: it leaks', targetBuild],
    ['succeeded', undefined, null],
    ['finishedWithFailures', undefined, null],
    ['aborted', 'was aborted: it leaks', targetBuild],
    ['rolledBack', 'was rolled back: it leaks', targetBuild],
    ['superseded', undefined, null],
  ])('knows what stopped a lost rollout that was %s (P4)', (state, words, build) => {
    const standstill = standstillOf(aRollout({ state, reason: 'it leaks' }));
    expect(standstill).toEqual(words === undefined ? undefined : { words, build });
  });

  it('knows every state', () => {
    for (const state of rolloutStates) expect(() => standstillOf(aRollout({ state }))).not.toThrow();
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
});

describe('standsFor', () => {
  it('lets a newer build go on after an abort, but nothing while a person had stopped the policy', () => {
    expect(standsFor({ words: '', build: targetBuild }, targetBuild)).toBe(true);
    expect(standsFor({ words: '', build: targetBuild }, '99.1-1')).toBe(false);
    expect(standsFor({ words: '', build: null }, '99.1-1')).toBe(true);
  });
});
