import { describe, expect, it } from 'vitest';
import { repairUpgrade } from '../../../../src/rollout/upgrade/repair-upgrade.ts';
import { aRollout, someGroups, startedAt } from '../../../support/builders.ts';
import { afterFacts, collectorSeen } from '../../../support/upgrade-cases.ts';

const of = { rollout: aRollout(), groups: someGroups(), at: startedAt };
const corrupt = {
  collectorId: 7,
  wave: 0,
  order: 3,
  lane: 0,
  mayRun: true,
  text: '{"collectorName":"w\\u00e4b',
};

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

  it('is watched and keeps its slot when it may be running, and gets no other task (P1, P2)', () => {
    const upgrade = repairUpgrade(corrupt, 'watch', of);
    expect(upgrade.progress).toMatchObject({ state: 'upgrading', taskId: null });
    const leftOut = collectorSeen({ upgradable: false }, startedAt + 1_000);
    const seen = collectorSeen({ upgradable: true }, startedAt + 2_000);
    // The heartbeat may be the last one before its restart, so the second poll shows that it is over.
    const over = afterFacts(upgrade, leftOut, seen, seen);
    expect(over.progress.state).toBe('failed');
  });
});
