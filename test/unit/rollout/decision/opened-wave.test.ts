import { describe, expect, it } from 'vitest';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import type { WaveRule } from '../../../../src/rollout/model/policy.ts';
import { aPolicy, aRollout, aWaveRule, startedAt } from '../../../support/builders.ts';

describe('a wave that opens', () => {
  const changesWith = (calendar: Pick<WaveRule, 'windows' | 'notBefore'>, wave = 1): number => {
    const waves = [aWaveRule({ name: 'canary' }), { ...aWaveRule({ name: 'rest' }), ...calendar }];
    const rollout = aRollout({ policy: aPolicy({ waves }) });
    return evolveRollout(rollout, { kind: 'waveOpened', wave, at: startedAt }).config.changes;
  };

  it('ends the turns of upgrades that the calendar of the wave before it allowed (P7)', () => {
    expect(changesWith({ windows: [] })).toBe(1);
    expect(changesWith({ notBefore: '2026-03-03T22:00' })).toBe(1);
  });

  it('keeps the turns where the calendar stays the same', () => {
    expect(changesWith({})).toBe(0);
    expect(changesWith({ windows: [] }, 0)).toBe(0);
  });
});
