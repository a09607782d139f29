import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { judgeVerb, rolloutVerbs } from '../../../../src/rollout/verbs/verbs.ts';
import { anApiBudgetStatus, startedAt } from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';
import { verbSituations } from '../../../support/verb-situations.ts';

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
