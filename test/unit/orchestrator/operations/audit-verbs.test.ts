import { expect, it } from 'vitest';
import type { RetriedFailures } from '../../../../src/orchestrator/operations/apply-verb.ts';
import { auditVerb } from '../../../../src/orchestrator/operations/audit-verbs.ts';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import type { AskedVerb } from '../../../../src/rollout/verbs/judge-verb.ts';
import { aRollout, startedAt } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';

it('the audit has an entry for each verb that changed something, and none for a verb that changed nothing', async () => {
  const { parts } = await aHouse();
  const operations = makeOperations(parts);
  const asked = { rolloutId: aRollout().id, by: 'ann', reason: 'lunch' } as const;
  await operations.apply({ ...asked, verb: 'pause' });
  await operations.apply({ ...asked, verb: 'pause' });
  await operations.apply({ ...asked, verb: 'approve', wave: 'none' });
  expect(await operations.readAudit(9)).toEqual([
    { at: startedAt, event: 'rollout.paused', subject: asked.rolloutId, by: 'ann', reason: 'lunch' },
  ]);
});

it.each([
  [{ verb: 'approve', planHash: '02e8b060' }, 'plan 02e8b060'],
  [{ verb: 'approve', wave: 'rest' }, 'wave rest'],
  [{ verb: 'skipSoak', wave: 'canary' }, 'wave canary'],
  // Of 18 that were shown, one had been retried since.
  [{ verb: 'retry', failed: 18 }, '17 failures', { chosen: 17, failed: 17 }],
  [
    { verb: 'retry', failed: 18, cause: 'disabled' },
    '3 of 17 failures ("disabled")',
    { chosen: 3, failed: 17 },
  ],
  [{ verb: 'retry', failed: 18, collectorIds: [7] }, '1 of 17 failures', { chosen: 1, failed: 17 }],
] as const satisfies ReadonlyArray<readonly [AskedVerb, string, RetriedFailures?]>)(
  'the audit names what %o confirmed, and what was done (P15)',
  async (asked, what, retried?: RetriedFailures) => {
    const { parts } = await aHouse();
    await auditVerb(parts, { ...asked, rolloutId: 'web-20260302-1', by: 'ann', reason: '' }, retried);
    expect(await parts.register.readAudit(1)).toMatchObject([{ subject: `web-20260302-1 ${what}` }]);
  },
);

it('a filter of the audit reads beyond the newest entries', async () => {
  const { parts } = await aHouse();
  const entry = { at: startedAt, event: 'build.held', subject: '19.455-2', by: 'ann', reason: '' } as const;
  await parts.register.audit({ ...entry, by: 'bob' });
  for (let count = 0; count < 9; count += 1) await parts.register.audit(entry);
  const operations = makeOperations(parts);
  expect(await operations.readAudit(2)).toEqual([entry, entry]);
  expect(await operations.readAudit(2, { by: 'bob' })).toEqual([{ ...entry, by: 'bob' }]);
});
