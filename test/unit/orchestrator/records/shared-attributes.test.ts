import { describe, expect, it } from 'vitest';
import { makeSharedAttributes } from '../../../../src/orchestrator/records/shared-attributes.ts';
import type { RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { aRollout, aSummary, aView } from '../../../support/builders.ts';

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
  it('is computed again only when failures change, or a tenth more upgrades have ended; the table is read once', async () => {
    const sharedAttributes = makeSharedAttributes();
    const store = aStore(20);
    expect(await sharedAttributes.of(store, seen(2, 40))).toBeUndefined();
    expect(store.reads).toEqual({ tables: 0, outcomes: 0 });
    expect(await sharedAttributes.of(store, seen(20, 40))).toMatchObject({
      attributes: r7,
      failed: 20,
      tried: 20,
    });
    await sharedAttributes.of(store, seen(20, 45));
    expect(store.reads).toEqual({ tables: 1, outcomes: 1 });
    await sharedAttributes.of(store, seen(20, 60));
    await sharedAttributes.of(store, seen(21, 60));
    expect(store.reads).toEqual({ tables: 1, outcomes: 3 });
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
