import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PageOf, readWholeList } from '../../src/collector-api/paging.ts';
import type { Answer } from '../../src/orchestrator/ports/answer.ts';

interface Row {
  readonly id: number;
}

interface ListPlay {
  readonly size: number;
  readonly pageSize: number;
  /** For each request, which rows vanish before it and how many appear at the end. */
  readonly changes: ReadonlyArray<{ readonly vanish: readonly number[]; readonly appear: number }>;
  readonly capAt?: number;
}

/** Reads a list that changes between requests. */
async function play({ size, pageSize, changes, capAt = Number.POSITIVE_INFINITY }: ListPlay) {
  const first = Array.from({ length: size }, (_, id) => id);
  let list = first;
  let nextId = size;
  let requests = 0;
  const answer = await readWholeList<Row>({
    idOf: ({ id }) => id,
    pageSize,
    requestsMax: 2_000,
    attemptsMax: 1,
    backoffMs: 1,
    sleep: async () => {},
    readPage: async ({ offset, limit }: PageOf): Promise<Answer<readonly Row[]>> => {
      const change = changes[requests];
      requests += 1;
      if (change !== undefined && requests > 1) {
        const gone = new Set(change.vanish.map((index) => list[index % Math.max(1, list.length)]));
        list = list.filter((id) => !gone.has(id));
        for (let n = 0; n < change.appear; n += 1) {
          list = [...list, nextId];
          nextId += 1;
        }
      }
      return { ok: true, value: list.slice(offset, offset + Math.min(limit, capAt)).map((id) => ({ id })) };
    },
  });
  const end = new Set(list);
  return { answer, stayed: first.filter((id) => end.has(id)), requests };
}

const aPlay: fc.Arbitrary<ListPlay> = fc.record({
  size: fc.nat(120),
  pageSize: fc.integer({ min: 2, max: 60 }),
  changes: fc.array(fc.record({ vanish: fc.array(fc.nat(200), { maxLength: 40 }), appear: fc.nat(3) }), {
    maxLength: 60,
  }),
});

describe('readWholeList', () => {
  it('has every row that stays in the list throughout, and none twice, however the list shrinks', async () => {
    await fc.assert(
      fc.asyncProperty(aPlay, async (list) => {
        const { answer, stayed } = await play(list);
        if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
        const ids = answer.value.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(stayed.filter((id) => !ids.includes(id))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads a list at rest once, with an overlap of a fiftieth', async () => {
    const { answer, requests } = await play({ size: 9_999, pageSize: 1_000, changes: [] });
    expect(answer.ok && answer.value.length).toBe(9_999);
    expect(requests).toBe(11);
  });

  it('ends at an empty list, and at a page that is exactly full', async () => {
    expect((await play({ size: 0, pageSize: 10, changes: [] })).answer).toEqual({ ok: true, value: [] });
    expect((await play({ size: 10, pageSize: 10, changes: [] })).answer).toMatchObject({ ok: true });
  });

  it('is not fooled by a service that caps its pages', async () => {
    const { answer } = await play({ size: 420, pageSize: 1_000, changes: [], capAt: 100 });
    expect(answer.ok && answer.value.length).toBe(420);
  });

  it('gives up with a reason when the list never holds still', async () => {
    let id = 0;
    const answer = await readWholeList<Row>({
      idOf: (row) => row.id,
      pageSize: 10,
      requestsMax: 50,
      attemptsMax: 1,
      backoffMs: 1,
      sleep: async () => {},
      readPage: async ({ limit }) => ({
        ok: true,
        value: Array.from({ length: limit }, () => {
          id += 1;
          return { id };
        }),
      }),
    });
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
  });
});
