import { describe, expect, it } from 'vitest';
import {
  expectedTexts,
  fromText,
  planFacts,
  planWarnings,
  startText,
} from '../../../../src/rollout/messages/plans.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { anApiBudgetStatus, startedAt } from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';
import { aViewOf } from '../../../support/view-cases.ts';

it('warns of a plan to whose build other upgrades were given up', () => {
  const plan = aRolloutStatus({ id: 'web-20260303-1', state: 'awaitingApproval' });
  const past = [
    plan,
    aRolloutStatus({ id: 'web-20260302-2', kind: 'rollback', state: 'aborted' }),
    aRolloutStatus({ id: 'web-20260302-1', state: 'rollingBack', reason: 'by root: it leaks' }),
    aRolloutStatus({ id: 'web-20260301-1', state: 'succeeded' }),
    aRolloutStatus({ id: 'web-20260228-1', state: 'aborted', targetBuild: '19.500-1' }),
  ];
  expect(planWarnings(plan, past)).toEqual([
    'web-20260302-1 to this build is rolling back: by root: it leaks.',
  ]);
});

it('names the builds of a plan, and that there are others', () => {
  const fromBuilds = ['19.441-2', '19.456-3'];
  expect(fromText({ fromBuilds, fromOthers: 0 })).toBe('19.441-2, 19.456-3');
  expect(fromText({ fromBuilds, fromOthers: 3 })).toBe('19.441-2, 19.456-3 and others');
  const plan = { fromBuilds, fromCounts: [2, 1] };
  const view = aViewOf({ waves: [{ wave: { size: 5 } }], rollout: { plan } });
  const { fromOthers } = describeRollout(view, startedAt, anApiBudgetStatus());
  expect(fromOthers).toBe(2);
});

describe('the failures that a plan expects', () => {
  const expected = {
    tried: 4_210,
    failures: 13.6,
    waves: [
      { name: 'canary', failures: 3.4, allowed: 2 },
      { name: 'rest', failures: 10.2, allowed: 50 },
    ],
    riskiest: [
      { label: 'Windows Server 2016', tried: 28, failed: 12, isTriedFirst: true },
      { label: 'Debian 9', tried: 4, failed: 1, isTriedFirst: false },
    ],
  };

  it('are facts before an approval, and warnings where a wave would exceed its limit or a stratum failed before', () => {
    const plan = aRolloutStatus({ planned: 1_023, expectedFailures: expected, leftOut: [], fromBuilds: [] });
    expect(planFacts(plan)).toEqual([
      'About 14 of 1,023 collectors are expected to fail, judging by 4,210 upgrades in ended rollouts.',
      'Wave canary includes Windows Server 2016, where 12 of 28 failed before.',
    ]);
    expect(planWarnings(plan, [])).toEqual([
      'Wave canary is expected to exceed its limit: about 3 failures, 2 allowed.',
      'Wave canary leaves out Debian 9, where 1 of 4 failed before.',
    ]);
  });

  it('may be fewer than one', () => {
    const few = { ...expected, tried: 1, failures: 0.2 };
    expect(expectedTexts(few, 9)[0]).toBe(
      'Fewer than 1 of 9 collectors is expected to fail, judging by 1 upgrade in ended rollouts.',
    );
  });
});

it.each([
  [false, true, 7, 'Upgrades start immediately.'],
  [false, false, 7, 'The window is closed now (frozen). Upgrades start when it opens, at 7:00 UTC.'],
  [false, false, null, 'The window is closed now (frozen). Upgrades start when it opens.'],
  [true, true, 7, 'The plan then waits for your approval.'],
  [
    true,
    false,
    7,
    'The plan then waits for your approval. The window is closed now (frozen). Approved upgrades start when it opens, at 7:00 UTC.',
  ],
])('says when upgrades start (approval: %s, open: %s, until %s)', (approval, isOpen, until, words) => {
  const window = { isOpen, until, reason: 'frozen' };
  expect(startText({ approval, window }, (at) => `${at}:00 UTC`)).toBe(words);
});
