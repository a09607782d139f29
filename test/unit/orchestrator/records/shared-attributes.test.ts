import { describe, expect, it } from 'vitest';
import { makeSharedAttributes } from '../../../../src/orchestrator/records/shared-attributes.ts';
import { sharedAttributeText } from '../../../../src/rollout/messages/stop-causes.ts';
import type { RolloutView } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import {
  anUpgrade,
  anUpgradingOne,
  aRollout,
  aSummary,
  aView,
  because,
  startedAt,
} from '../../../support/builders.ts';
import { anEndedOne, aRetryingOne } from '../../../support/upgrade-cases.ts';
import { aHeldStratum } from '../../../support/view-cases.ts';

const ids = Array.from({ length: 60 }, (_, index) => index + 1);
const table = {
  ids,
  columns: [{ key: 'fields.rack', values: ['r7', 'r8', 'r9'], cells: ids.map((id) => id % 3) }],
};

/** Every third collector fails, up to so many. */
function aStore(failures: number) {
  const failed = new Set(ids.filter((id) => id % 3 === 0).slice(0, failures));
  const reads = { tables: 0, outcomes: 0 };
  return {
    reads,
    loadAttributes: async () => {
      reads.tables += 1;
      return table;
    },
    listOutcomes: async () => {
      reads.outcomes += 1;
      return { failed, succeeded: new Set(ids.filter((id) => !failed.has(id))) };
    },
  };
}

const seen = (failed: number, succeeded: number, more: Partial<RolloutView['rollout']> = {}): RolloutView =>
  aView({ rollout: aRollout(more), waves: [aSummary({ failed, succeeded })] });

const r7 = [{ key: 'fields.rack', value: 'r7' }];

describe('the shared attribute of failures', () => {
  it('is computed again when failures change, or a tenth more upgrades have ended; the table is read once', async () => {
    const sharedAttributes = makeSharedAttributes();
    const store = aStore(20);
    expect(await sharedAttributes.of(store, seen(2, 40))).toBeUndefined();
    expect(store.reads).toEqual({ tables: 0, outcomes: 0 });
    expect(await sharedAttributes.of(store, seen(20, 40))).toMatchObject({
      attributes: r7,
      failed: 20,
      tried: 20,
    });
    const readsAfter = async (...counts: Parameters<typeof seen>) => {
      await sharedAttributes.of(store, seen(...counts));
      return store.reads.outcomes;
    };
    expect(await readsAfter(20, 40)).toBe(1);
    // Figures of few collectors are those that stand beside them.
    expect(await readsAfter(20, 41)).toBe(2);
    expect(await readsAfter(20, 2_000)).toBe(3);
    expect(await readsAfter(20, 2_100)).toBe(3);
    expect(await readsAfter(20, 2_300)).toBe(4);
    expect(await readsAfter(21, 2_300)).toBe(5);
    expect(store.reads.tables).toBe(1);
  });

  it('counts no member of a held group, and shows that (P16)', async () => {
    const isDatabase = (id: number) => id % 3 !== 0 && id % 4 === 0;
    const categories = {
      key: 'category',
      values: ['web', 'db'],
      cells: ids.map((id) => (isDatabase(id) ? 1 : 0)),
    };
    const failed = new Set(ids.filter((id) => id % 3 === 0 || isDatabase(id)));
    const store = {
      loadAttributes: async () => ({ ids, columns: [...table.columns, categories] }),
      listOutcomes: async () => ({ failed, succeeded: new Set(ids.filter((id) => !failed.has(id))) }),
    };
    const held = [{ ...aHeldStratum(0), label: 'fields.rack=r7', attributes: r7 }];
    const strata = { ...aRollout().strata, held };
    const found = await makeSharedAttributes().of(store, seen(failed.size, 30, { strata }));
    expect(found).toMatchObject({ failed: 10, elsewhere: { failed: 0, tried: 30 }, apartFromHeld: true });
    expect(found && sharedAttributeText(found)).toBe(
      'all 10 failures outside of held groups have category=db (10 of 10 there, 0 of 30 elsewhere)',
    );
  });

  it('of one cause is found while its failed attempts are retried', async () => {
    const retried = ids.filter((id) => id % 3 === 0).slice(0, 12);
    const upgrades = retried.map((collectorId) => aRetryingOne(startedAt, 'disk is full', { collectorId }));
    const store = {
      ...aStore(0),
      listOutcomes: async () => ({ failed: new Set<number>(), succeeded: rest }),
    };
    const rest = new Set(ids.filter((id) => !retried.includes(id)));
    const view = aView({ waves: [aSummary({ retrying: 12, succeeded: 48 })] });
    const sharedAttributes = makeSharedAttributes();
    const of = (retrying: readonly Upgrade[]) => sharedAttributes.ofCauses(store, view, { retrying });
    const found = await of(upgrades);
    expect(found).toMatchObject({ attributes: r7, cause: { of: 'retrying', text: 'disk is full' } });
    expect(found && sharedAttributeText(found)).toBe(
      'all 12 failed attempts with "disk is full" have fields.rack=r7 (12 of 20 there, 0 of 40 elsewhere)',
    );
    // Those that have failed count with those that are retried.
    const ended = retried
      .slice(6)
      .map((collectorId) => anEndedOne('failed', { reason: because('disk is full') }, { collectorId }));
    const both = await makeSharedAttributes().ofCauses(store, view, {
      failed: ended,
      retrying: upgrades.slice(0, 6),
    });
    expect(both).toMatchObject({ failed: 12, cause: { of: 'retrying' } });
    expect(await of(upgrades.slice(0, 2))).toBeUndefined();
    // While their next attempt runs, the one before is evidence still.
    const again = retried.slice(1).map((collectorId) => {
      const failed = { state: 'retrying', at: startedAt, reason: because('disk is full') } as const;
      const tasks = [
        { taskId: '1', startedAt, ended: failed },
        { taskId: '2', startedAt },
      ];
      return anUpgradingOne({ taskId: '2' }, { collectorId, tasks });
    });
    expect(
      await makeSharedAttributes().ofCauses(store, view, {
        retrying: upgrades.slice(0, 1),
        inFlight: again,
      }),
    ).toMatchObject({ failed: 12, cause: { text: 'disk is full' } });
    // One fault with several reasons, none of them often.
    const reasons = ['disk is full', 'no such file', 'permission denied', 'read-only', 'busy', 'too old'];
    const apart = retried.map((collectorId, index) =>
      aRetryingOne(startedAt, reasons[index % reasons.length] ?? '', { collectorId }),
    );
    const together = await makeSharedAttributes().ofCauses(store, view, { retrying: apart });
    expect(together).toMatchObject({ failed: 12, cause: { of: 'retrying', text: '' } });
    expect(together && sharedAttributeText(together)).toContain('all 12 failed attempts have fields.rack=r7');
    const over = retried.map((collectorId, index) =>
      anEndedOne('failed', { reason: because(reasons[index % reasons.length] ?? '') }, { collectorId }),
    );
    const ofAll = await makeSharedAttributes().ofCauses(store, view, { failed: over });
    expect(ofAll && sharedAttributeText(ofAll)).toContain('all 12 failures have fields.rack=r7');
    const held = {
      kind: 'stratumHeld',
      label: 'AIX',
      reason: { kind: 'asked', by: 'ann', words: '' },
    } as const;
    const putBack = retried.map((collectorId) =>
      anUpgrade({ state: 'retrying', dueAt: startedAt, reason: held }, { collectorId }),
    );
    expect(await of(putBack)).toBeUndefined();
  });

  it('of the cause that stopped a held rollout stays, whatever is retried since', async () => {
    const failing = ids.filter((id) => id % 3 === 0).slice(0, 8);
    const failed = failing.map((collectorId) =>
      anEndedOne('failed', { reason: because('disk is full') }, { collectorId }),
    );
    const others = ids.filter((id) => id % 3 !== 0);
    const retrying = ['timed out', 'connection lost'].flatMap((reason, index) =>
      others
        .slice(index * 10, index * 10 + 10)
        .map((collectorId) => aRetryingOne(startedAt, reason, { collectorId })),
    );
    const store = {
      ...aStore(0),
      listOutcomes: async () => ({ failed: new Set(failing), succeeded: new Set(others.slice(20)) }),
    };
    const view = aView({
      rollout: aRollout({ state: 'held' }),
      waves: [aSummary({ failed: 8, retrying: 20, succeeded: 20 })],
    });
    const found = await makeSharedAttributes().ofCauses(store, view, { failed, retrying });
    expect(found).toMatchObject({ attributes: r7, cause: { of: 'failed', text: 'disk is full' } });
  });

  it('is unknown while the attributes are unreadable', async () => {
    const store = { ...aStore(20), loadAttributes: async () => undefined };
    expect(await makeSharedAttributes().of(store, seen(20, 40))).toBeUndefined();
  });

  it('is computed again after Redis was unreachable', async () => {
    const sharedAttributes = makeSharedAttributes();
    const store = aStore(20);
    const away = { ...store, listOutcomes: () => Promise.reject(new Error('away')) };
    await expect(sharedAttributes.of(away, seen(20, 40))).rejects.toThrow('away');
    expect(await sharedAttributes.of(store, seen(20, 40))).toMatchObject({ attributes: r7 });
  });
});
