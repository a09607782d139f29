import { describe, expect, it } from 'vitest';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import { repairUpgrade } from '../../../../src/rollout/upgrade/repair-upgrade.ts';
import { aPolicy, aRollout, aWave, someGroups, startedAt } from '../../../support/builders.ts';

const policy = aPolicy();
const rollout = aRollout({ policy, waves: [aWave({ state: 'open' })] });
const of = { rollout, groups: someGroups(), at: startedAt };
const corrupt = {
  collectorId: 7,
  wave: 0,
  order: 3,
  lane: 0,
  mayRun: true,
  text: '{"collectorName":"w\\u00e4b',
};
const context = { policy, answerWithinMs: 35_000, jitter: 0 };
const seen = { build: '19.1-1', alive: true, lastSeenAlive: startedAt, serviceAt: startedAt };

describe('an upgrade in the place of a corrupt record', () => {
  it.each([
    ['withdraw', true],
    ['withdraw', false],
    ['watch', false],
  ] as const)('is withdrawn, and counts as no failure: %s, may run: %s', (settlement, mayRun) => {
    expect(repairUpgrade({ ...corrupt, mayRun }, settlement, of)).toMatchObject({
      identity: { collectorName: 'collector 7' },
      progress: { state: 'withdrawn', weight: 0 },
    });
  });

  it('is watched with its slot where it may run, and gets no other task (P1, P2)', () => {
    const upgrade = repairUpgrade(corrupt, 'watch', of);
    expect(upgrade.progress).toMatchObject({ state: 'upgrading', taskId: null });
    const look = { kind: 'collectorSeen', at: startedAt + 1_000, ...seen, upgradable: true } as const;
    // The heartbeat may be the last one before its restart, so the second poll shows that it is over.
    const over = evolve(evolve(upgrade, look, context), look, context);
    expect(over.progress.state).toBe('failed');
  });
});
