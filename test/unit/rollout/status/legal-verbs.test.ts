import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { askedNow } from '../../../../src/rollout/status/legal-verbs.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { judgeVerb, rolloutVerbs } from '../../../../src/rollout/verbs/judge-verb.ts';
import { anApiBudgetStatus, startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, countsOf } from '../../../support/fake-operations.ts';
import { asShown } from '../../../support/night/as-shown.ts';
import { verbSituations } from '../../../support/verb-situations.ts';
import { aViewOf } from '../../../support/view-cases.ts';

it('a status offers exactly the verbs that would change something', () => {
  const words = { by: 'alice', reason: '', at: startedAt };
  const offered = new Set<string>();
  fc.assert(
    fc.property(verbSituations, (view) => {
      const status = describeRollout(view, startedAt, anApiBudgetStatus());
      const legal = rolloutVerbs.filter((verb) => {
        const { kind } = judgeVerb(view, asShown(status, verb), words);
        return kind === 'change' || kind === 'retry';
      });
      expect(status.verbs).toEqual(legal);
      for (const verb of legal) offered.add(verb);
    }),
    { numRuns: 1_000 },
  );
  expect(offered).toEqual(new Set(rolloutVerbs));
});

it('the skip of a soak is offered until the soak ends, and not while its last check is awaited', () => {
  const view = aViewOf({
    waves: [
      { name: 'canary', counts: { succeeded: 5 }, wave: { state: 'soaking', soakEndsAt: startedAt } },
      { name: 'rest', counts: { pending: 5 } },
    ],
  });
  const verbsAt = (now: number) => describeRollout(view, now, anApiBudgetStatus()).verbs;
  expect(verbsAt(startedAt - 1)).toContain('skipSoak');
  expect(verbsAt(startedAt)).not.toContain('skipSoak');
});

it('a running rollback is offered to start outside its window only while the window is closed', () => {
  const asked = (changes: Partial<RolloutStatus>) =>
    askedNow(aRolloutStatus({ kind: 'rollback', ...changes }), 'rollback');
  const window = (isOpen: boolean) => ({ isOpen, until: null, reason: '', timeZone: 'UTC', ownZones: false });
  expect(asked({ window: window(false) })).toEqual({ verb: 'rollback', now: true });
  expect(asked({ window: window(true) })).toEqual({ verb: 'rollback', now: false });
  expect(asked({ window: null })).toEqual({ verb: 'rollback', now: false });
  expect(asked({ kind: 'upgrade', window: window(false) })).toEqual({ verb: 'rollback', now: false });
});

it('a retry is offered while failed upgrades wait for a retry, too, and not without any', () => {
  const asked = (counts: Parameters<typeof countsOf>[0]) =>
    askedNow(aRolloutStatus({ counts: countsOf(counts) }), 'retry');
  expect(asked({ failed: 1, timedOut: 1 })).toEqual({ verb: 'retry', failed: 2 });
  expect(asked({ retrying: 1 })).toEqual({ verb: 'retry', failed: 0 });
  expect(asked({ succeeded: 3 })).toBeUndefined();
});
