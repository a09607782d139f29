import { describe, expect, it } from 'vitest';
import {
  describeRolloutChange,
  describeUpgradeChange,
} from '../../../../src/orchestrator/records/describe-change.ts';
import type { UpgradeReason } from '../../../../src/rollout/model/upgrade-reason.ts';
import { anUpgrade, aRollout, startedAt as t } from '../../../support/builders.ts';

describe('an event', () => {
  it('of a rollout carries the kind of its reason beside the sentence', () => {
    const before = aRollout();
    const reason = { kind: 'buildHeld', build: '19.455-2', reason: 'it crashes' } as const;
    const after = { ...before, state: 'held', reason } as const;
    expect(describeRolloutChange(before, after, { kind: 'held', at: t, reason }, 'daemon')).toMatchObject([
      { event: 'rollout.held', reason: 'build 19.455-2 is held: it crashes', reasonKind: 'buildHeld' },
    ]);
  });

  it('of an upgrade carries the kind of its reason beside the sentence', () => {
    const reason: UpgradeReason = { kind: 'gone' };
    const before = anUpgrade({ state: 'pending' });
    const after = anUpgrade({ state: 'withdrawn', endedAt: t, reason, weight: 0, lost: false });
    expect(
      describeUpgradeChange(aRollout(), before, after, { kind: 'withdrawn', at: t, reason }),
    ).toMatchObject([{ event: 'upgrade.withdrawn', reasonKind: 'gone' }]);
  });

  it('of a success names the build that the collector had, which the page draws as it goes', () => {
    const after = anUpgrade({
      state: 'succeeded',
      endedAt: t,
      weight: 0,
      lost: false,
      reason: { kind: 'gone' },
    });
    const [event] = describeUpgradeChange(aRollout(), anUpgrade({ state: 'pending' }), after, {
      kind: 'withdrawn',
      at: t,
      reason: { kind: 'gone' },
    });
    expect(event).toMatchObject({ event: 'upgrade.succeeded', fromBuild: after.identity.fromBuild });
  });
});
