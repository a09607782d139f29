import { expect, it } from 'vitest';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import { aRollout, startedAt } from '../../../support/builders.ts';
import { aHouse, freeze, save } from '../../../support/house.ts';

const idOf = (day: number) => `production-2026030${day}-1`;
const aStart = (subject: string, by: string) =>
  ({ at: startedAt, event: 'rollout.started', subject, by, reason: '' }) as const;

async function withStarters(...starters: readonly string[]) {
  const { parts, store } = await aHouse({ rollout: null });
  for (const [day, startedBy] of starters.entries()) {
    const rollout = aRollout({ id: idOf(day), startedBy, createdAt: startedAt });
    await freeze(store, rollout);
    await save(store, rollout, { state: 'succeeded', endedAt: startedAt });
  }
  let reads = 0;
  const register = {
    ...parts.register,
    readAudit: (limit: number) => {
      reads += 1;
      return parts.register.readAudit(limit);
    },
  };
  let now = startedAt;
  const operations = makeOperations({ ...parts, register, clock: { now: () => now } });
  return {
    audit: parts.register.audit,
    reads: () => reads,
    starterOf: async (day: number) => (await operations.rolloutStatus(idOf(day)))?.startedBy,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

it('a status names the operator who started the rollout, as the audit does', async () => {
  const { audit, reads, starterOf } = await withStarters('schedule', 'operator', 'operator');
  await audit(aStart(idOf(1), 'root'));
  await audit(aStart(idOf(2), 'ann'));
  expect(await starterOf(0)).toBe('schedule');
  expect(reads()).toBe(0);
  expect(await Promise.all([starterOf(1), starterOf(2), starterOf(1)])).toEqual(['root', 'ann', 'root']);
  expect(reads()).toBe(1);
});

it('a start that the audit lacks is looked up again for a minute, and then is by an operator', async () => {
  const { audit, reads, starterOf, pass } = await withStarters('operator', 'operator');
  expect(await starterOf(0)).toBe('operator');
  await audit(aStart(idOf(0), 'root'));
  pass(1_000);
  expect(await starterOf(0)).toBe('root');
  pass(60_000);
  expect(await starterOf(1)).toBe('operator');
  const before = reads();
  pass(1_000);
  expect(await starterOf(1)).toBe('operator');
  expect(reads()).toBe(before);
});
