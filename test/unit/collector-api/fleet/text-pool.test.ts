import { describe, expect, it } from 'vitest';
import { makeFleetCollectorReader } from '../../../../src/collector-api/fleet/fleet-collector.ts';
import { makeTextPool } from '../../../../src/collector-api/fleet/text-pool.ts';

describe('the pool of a reading', () => {
  it('has one set of fields for all collectors that have the same ones', () => {
    const read = makeFleetCollectorReader((text) => text, makeTextPool());
    const row = (id: number, fields: Record<string, unknown>) => read({ id, name: `web-${id}`, fields });
    const [first, second, third] = [
      row(1, { team: 'a', rack: 7 }),
      row(2, { team: 'a', rack: 7 }),
      row(3, { rack: 7 }),
    ];
    expect(second.fields).toBe(first.fields);
    expect(first.fields).toEqual({ team: 'a', rack: '7' });
    expect(third.fields).toEqual({ rack: '7' });
  });

  it('keeps a bounded number of texts, and gives back what it has not kept', () => {
    const pool = makeTextPool();
    for (let each = 0; each < 30_000; each += 1) pool.fields({ host: `${each}` });
    const late = { host: '29999' };
    expect(pool.fields(late)).toBe(late);
    expect(pool.fields({ host: '1' })).not.toBe(pool.fields({ host: '29999' }));
  });
});
