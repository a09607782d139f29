import { expect, it } from 'vitest';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
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

it('a filter of the audit reads beyond the newest entries', async () => {
  const { parts } = await aHouse();
  const entry = { at: startedAt, event: 'build.held', subject: '19.455-2', by: 'ann', reason: '' } as const;
  await parts.register.audit({ ...entry, by: 'bob' });
  for (let count = 0; count < 9; count += 1) await parts.register.audit(entry);
  const operations = makeOperations(parts);
  expect(await operations.readAudit(2)).toEqual([entry, entry]);
  expect(await operations.readAudit(2, { by: 'bob' })).toEqual([{ ...entry, by: 'bob' }]);
});
