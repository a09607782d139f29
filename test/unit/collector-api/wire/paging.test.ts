import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PageOf, readWholeList } from '../../../../src/collector-api/wire/paging.ts';
import type { ListPage } from '../../../../src/contract/operation.ts';
import type { Answer } from '../../../../src/orchestrator/ports/fleet-service.ts';

interface Row {
  readonly id: number;
}

interface ListPlay {
  readonly size: number;
  readonly pageSize: number;
  /** For each request, which rows vanish before it and how many appear at the end. */
  readonly changes: ReadonlyArray<{ readonly vanish: readonly number[]; readonly appear: number }>;
  /** How many rows the service gives at most, whatever is asked for. */
  readonly capAt?: number | undefined;
  readonly isOffsetIgnored?: boolean;
  readonly lastEnd?: number | null;
}

/** Reads a list that changes between requests. */
async function play({
  size,
  pageSize,
  changes,
  capAt = Number.POSITIVE_INFINITY,
  isOffsetIgnored = false,
  lastEnd,
}: ListPlay) {
  const first = Array.from({ length: size }, (_, id) => id);
  let list = first;
  let nextId = size;
  let requests = 0;
  const answer = await readWholeList<Row>({
    idOf: ({ id }) => id,
    pageSize,
    requestsMax: 2_000,
    lastEnd: lastEnd ?? null,
    attemptsMax: 1,
    backoffMs: 1,
    sleep: async () => {},
    readPage: async ({ offset: askedOffset, limit }: PageOf): Promise<Answer<ListPage<Row>>> => {
      const offset = isOffsetIgnored ? 0 : askedOffset;
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
      const rows = list.slice(offset, offset + Math.min(limit, capAt)).map((id) => ({ id }));
      return { ok: true, value: { rows, weight: 0 } };
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
  capAt: fc.option(fc.integer({ min: 2, max: 60 }), { nil: undefined }),
});

describe('readWholeList', () => {
  it('has every row that stays in the list throughout, and none twice, however the list shrinks', async () => {
    await fc.assert(
      fc.asyncProperty(aPlay, async (list) => {
        const { answer, stayed } = await play(list);
        if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
        const ids = answer.value.rows.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(stayed.filter((id) => !ids.includes(id))).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
  });

  it('reads a list at rest once, with an overlap of a fiftieth', async () => {
    const { answer, requests } = await play({ size: 9_999, pageSize: 1_000, changes: [] });
    expect(answer.ok && answer.value.rows.length).toBe(9_999);
    expect(requests).toBe(11);
  });

  it('ends at an empty list, and at a page that is exactly full', async () => {
    const none = await play({ size: 0, pageSize: 10, changes: [] });
    expect(none.answer).toMatchObject({ ok: true, value: { rows: [] } });
    expect((await play({ size: 10, pageSize: 10, changes: [] })).answer).toMatchObject({ ok: true });
  });

  it.each([
    [420, 100],
    [400, 100],
    [41, 20],
    [40, 20],
    [20, 20],
    [9_999, 20],
  ])('reads all of %i rows of a service that caps its pages at %i', async (size, capAt) => {
    const { answer } = await play({ size, pageSize: 1_000, changes: [], capAt });
    expect(answer.ok && answer.value.rows.length).toBe(size);
  });

  it('costs one request more where no page is full, and none where the end is where it was', async () => {
    expect((await play({ size: 200, pageSize: 1_000, changes: [] })).requests).toBe(2);
    expect((await play({ size: 200, pageSize: 1_000, changes: [], lastEnd: 200 })).requests).toBe(1);
    expect((await play({ size: 201, pageSize: 1_000, changes: [], lastEnd: 200 })).requests).toBe(2);
  });

  it.each([
    [2_000, 1_000],
    [1_000, 1_000],
    [40, 20],
    [2, 2],
  ])('fails, and soon, when the offset is ignored: %i rows, pages of %i', async (size, capAt) => {
    const { answer, requests } = await play({
      size,
      pageSize: 1_000,
      changes: [],
      capAt,
      isOffsetIgnored: true,
    });
    expect(answer).toMatchObject({
      ok: false,
      failure: { kind: 'unavailable', detail: expect.stringContaining('ignore the offset') },
    });
    expect(requests).toBe(2);
  });

  it('ends when a service shows its first page alone, and nothing behind it', async () => {
    let requests = 0;
    const answer = await readWholeList<Row>({
      idOf: ({ id }) => id,
      pageSize: 1_000,
      attemptsMax: 1,
      backoffMs: 1,
      sleep: async () => {},
      readPage: async ({ offset }) => {
        requests += 1;
        return { ok: true, value: { rows: offset === 0 ? [{ id: 1 }, { id: 2 }] : [], weight: 0 } };
      },
    });
    expect(answer).toMatchObject({ ok: true, value: { rows: [{ id: 1 }, { id: 2 }] } });
    expect(requests).toBe(4);
  });

  it('fails when rows come again instead of others', async () => {
    const answer = await readWholeList<Row>({
      idOf: ({ id }) => id,
      pageSize: 10,
      attemptsMax: 1,
      backoffMs: 1,
      sleep: async () => {},
      // 30 rows, of which the second half shows the first again.
      readPage: async ({ offset, limit }) => ({
        ok: true,
        value: {
          rows: Array.from({ length: Math.min(limit, 30 - offset) }, (_, at) => ({ id: (offset + at) % 15 })),
          weight: 0,
        },
      }),
    });
    expect(answer).toMatchObject({
      ok: false,
      failure: { detail: expect.stringContaining('repeats 15 rows') },
    });
  });

  it('counts each row that can not be used once, by its place', async () => {
    const list = Array.from({ length: 100 }, (_, id) => (id % 10 === 0 ? null : { id }));
    const answer = await readWholeList<Row>({
      idOf: ({ id }) => id,
      pageSize: 30,
      attemptsMax: 1,
      backoffMs: 1,
      sleep: async () => {},
      readPage: async ({ offset, limit }) => ({
        ok: true,
        value: { rows: list.slice(offset, offset + limit), weight: 0 },
      }),
    });
    expect(answer).toMatchObject({ ok: true, value: { unusable: 10, end: 100 } });
    expect(answer.ok && answer.value.rows.length).toBe(90);
  });

  it('gives up a list that takes more memory than any fleet', async () => {
    let pages = 0;
    const answer = await readWholeList<Row>({
      idOf: ({ id }) => id,
      pageSize: 2,
      attemptsMax: 1,
      backoffMs: 1,
      sleep: async () => {},
      readPage: async ({ offset }) => {
        pages += 1;
        return {
          ok: true,
          value: { rows: [{ id: offset }, { id: offset + 1 }], weight: 30 * 1024 * 1024 },
        };
      },
    });
    expect(answer).toMatchObject({ ok: false, failure: { detail: expect.stringContaining('96 MiB') } });
    expect(pages).toBe(4);
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
        value: {
          rows: Array.from({ length: limit }, () => {
            id += 1;
            return { id };
          }),
          weight: 0,
        },
      }),
    });
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
  });
});
