import { describe, expect, it } from 'vitest';
import { AdminClientFault } from '../../../../src/admin-api/client/admin-client-fault.ts';
import { listRollouts } from '../../../../src/cli/rollouts/choose-rollout.ts';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import { makePolicyClaims } from '../../../../src/orchestrator/records/policy-claims.ts';
import { aRollout, startedAt } from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';
import { aHouse, freeze, save } from '../../../support/house.ts';
import { countingStore } from '../../../support/store/counting-store.ts';

const aConfigOf = (policy: string) => ({ policy, hash: '', generation: 1 });

/** So many rollouts of one policy, the last of which runs. */
async function withKept(count: number) {
  const { parts, store } = await aHouse({ rollout: null });
  for (let index = 1; index <= count; index += 1) {
    const rollout = aRollout({ id: `production-20260302-${index}`, createdAt: startedAt + index });
    await freeze(store, rollout);
    if (index < count) await save(store, rollout, { state: 'succeeded', endedAt: startedAt });
  }
  const counted = countingStore(store);
  const operations = makeOperations({ ...parts, store: counted.store });
  const current = async () => (await operations.listRollouts()).map(({ id }) => id);
  return { counted, operations, current };
}

describe('the list of current rollouts', () => {
  it('takes as few calls to the store with 1,000 kept rollouts as with two', async () => {
    const [few, many] = [await withKept(2), await withKept(1_000)];
    expect(await few.current()).toEqual(['production-20260302-2', 'production-20260302-1']);
    expect(await many.current()).toEqual(['production-20260302-1000', 'production-20260302-999']);
    expect(many.counted.total()).toBe(few.counted.total());
  });

  it('has a rollout whose policy the config lacks, which needs a person, unless another daemon has it', async () => {
    const { parts } = await aHouse();
    await parts.scans.note({ policy: 'production', outcome: 'started', at: 0, reason: '', overdueAt: 0 });
    const listOf = async (policies: readonly string[]) => {
      const other = { followsSchedule: true, account: '', beatAt: 0, configs: policies.map(aConfigOf) };
      const living = () => ({ account: '', others: [other] });
      const configs = {
        living,
        statuses: () => new Map(),
        settings: () => undefined,
        versionOf: () => undefined,
        beat: async () => undefined,
      };
      const renamed = { ...parts, policies: () => ['renamed'], configs };
      return makeOperations({ ...renamed, claims: makePolicyClaims(renamed) }).listRollouts();
    };
    const [rollout] = await listOf([]);
    expect(rollout).toMatchObject({
      headline: { kind: 'policyMissing', needsPerson: true },
      eta: { kind: 'unknown', reason: 'policyMissing' },
      blockers: [{ kind: 'policyMissing' }],
    });
    expect(await listOf(['production'])).toEqual([]);
  });

  it('has pages for the rest of the history', async () => {
    const { operations } = await withKept(5);
    const first = await operations.pageRollouts({ limit: 3 });
    expect([first?.rollouts.length, first?.next]).toEqual([3, 'production-20260302-3']);
    const second = await operations.pageRollouts({ before: 'production-20260302-3', limit: 3 });
    expect([second?.rollouts.length, second?.next]).toEqual([2, null]);
    expect(await operations.pageRollouts({ before: 'production-20260302-9', limit: 3 })).toBeUndefined();
  });
});

describe('a command that names a rollout', () => {
  it('finds it in the history, which it reads only when the rollout is not current', async () => {
    const current = aRolloutStatus({ id: 'production-20260302-9' });
    const old = aRolloutStatus({ id: 'production-20260101-1', state: 'succeeded', endedAt: startedAt });
    const asked: string[] = [];
    const client = {
      listRollouts: async () => [current],
      rolloutStatus: async (id: string) => {
        asked.push(id);
        if (id === old.id) return old;
        throw new AdminClientFault('notFound', `no rollout ${id}`);
      },
    };
    const idsFor = async (named?: string) => (await listRollouts(client, named)).map(({ id }) => id);
    for (const named of [undefined, 'production', current.id])
      expect(await idsFor(named)).toEqual([current.id]);
    expect(asked).toEqual([]);
    expect(await idsFor(old.id)).toEqual([current.id, old.id]);
    expect(await idsFor('production-20250101-1')).toEqual([current.id]);
    expect(asked).toEqual([old.id, 'production-20250101-1']);
  });
});
