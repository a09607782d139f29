import { describe, expect, it } from 'vitest';
import {
  describeRolloutChange,
  describeUpgradeChange,
} from '../../../../src/orchestrator/records/describe-change.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../../../src/rollout/model/upgrade-reason.ts';
import { anUpgrade, aRollout, startedAt as t } from '../../../support/builders.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

const reason: UpgradeReason = { kind: 'gone' };
const pending = anUpgrade({ state: 'pending' });

/** The events of a pending upgrade that changes to this. */
const changeTo = (after: Upgrade) =>
  describeUpgradeChange(aRollout(), pending, after, { kind: 'withdrawn', at: t, reason });

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
    expect(changeTo(anEndedOne('withdrawn', { reason }))).toMatchObject([
      { event: 'upgrade.withdrawn', reasonKind: 'gone' },
    ]);
  });

  it('of a retry is by the operator who asked for it', () => {
    const before = anEndedOne('failed', { reason });
    const why = { kind: 'retryAsked', by: 'ann', words: '' } as const;
    const after = anUpgrade({ state: 'retrying', dueAt: t, reason: why });
    const fact = { kind: 'retryAsked', at: t, reason: why } as const;
    expect(describeUpgradeChange(aRollout(), before, after, fact)).toMatchObject([
      { event: 'upgrade.retrying', by: 'ann' },
    ]);
  });

  it('of a success names the build that the collector had', () => {
    const after = anEndedOne('succeeded', { reason });
    const { fromBuild } = after.identity;
    expect(changeTo(after)).toMatchObject([{ event: 'upgrade.succeeded', fromBuild }]);
  });
});
