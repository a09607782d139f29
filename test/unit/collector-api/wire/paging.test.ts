import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PageOf, readWholeList } from '../../../../src/collector-api/wire/paging.ts';
import type { ListPage } from '../../../../src/contract/operation.ts';

interface Row {
  readonly id: number;
}

/** Reads a whole list without rests. @returns also how many requests that took */
async function readAll(
  readPage: (page: PageOf) => ListPage<Row>,
  changes: {
    readonly pageSize?: number;
    readonly lastEnd?: number | null;
  } = {},
) {
  let requests = 0;
  const answer = await readWholeList<Row>({
    idOf: ({ id }) => id,
    pageSize: 1_000,
    attemptsMax: 1,
    backoffMs: 1,
    sleep: async () => {},
    readPage: async (page) => {
      requests += 1;
      return { ok: true, value: readPage(page) };
    },
    ...changes,
  });
  return { answer, requests };
}

const rowsOf = (ids: readonly number[]) => ({ rows: ids.map((id) => ({ id })), weight: 0 });
const from = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);

interface ListPlay {
  readonly size: number;
  readonly pageSize?: number;
  /** For each request, which rows vanish before it and how many appear at the end. */
  readonly changes?: ReadonlyArray<{ readonly vanish: readonly number[]; readonly appear: number }>;
  /** How many rows the service gives at most, whatever is asked for. */
  readonly capAt?: number | undefined;
  readonly isOffsetIgnored?: boolean;
  readonly lastEnd?: number | null;
}

/** Reads a list that changes between requests. */
async function play({
  size,
  pageSize = 1_000,
  changes = [],
  capAt = Number.POSITIVE_INFINITY,
  isOffsetIgnored = false,
  lastEnd = null,
}: ListPlay) {
  const first = from(0, size);
  let list = first;
  let nextId = size;
  let turn = -1;
  const { answer, requests } = await readAll(
    ({ offset: askedOffset, limit }) => {
      turn += 1;
      const offset = isOffsetIgnored ? 0 : askedOffset;
      const change = changes[turn];
      if (change !== undefined && turn > 0) {
        const gone = new Set(change.vanish.map((index) => list[index % Math.max(1, list.length)]));
        list = [...list.filter((id) => !gone.has(id)), ...from(nextId, change.appear)];
        nextId += change.appear;
      }
      return rowsOf(list.slice(offset, offset + Math.min(limit, capAt)));
    },
    { pageSize, lastEnd },
  );
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

  it('reads an unchanged list once, with an overlap of a fiftieth', async () => {
    const { answer, requests } = await play({ size: 9_999 });
    expect(answer.ok && answer.value.rows.length).toBe(9_999);
    expect(requests).toBe(11);
  });

  it.each([
    [811, 2],
    [300, 2],
    [30, 3],
  ])('reads a list of %i that loses a row between any two requests in %i', async (size, most) => {
    const changes = Array.from({ length: size }, () => ({ vanish: [0], appear: 0 }));
    const { answer, requests } = await play({ size, changes });
    expect([answer.ok, requests]).toEqual([true, most]);
  });

  it('ends at an empty list, and at a page that is exactly full', async () => {
    expect((await play({ size: 0, pageSize: 10 })).answer).toMatchObject({ ok: true, value: { rows: [] } });
    expect((await play({ size: 10, pageSize: 10 })).answer).toMatchObject({ ok: true });
  });

  it.each([
    [420, 100],
    [400, 100],
    [41, 20],
    [40, 20],
    [20, 20],
    [9_999, 20],
  ])('reads all of %i rows of a service that caps its pages at %i', async (size, capAt) => {
    const { answer } = await play({ size, capAt });
    expect(answer.ok && answer.value.rows.length).toBe(size);
  });

  it.each([
    [200, null, 2],
    [200, 200, 1],
    [201, 200, 2],
    // Full pages, whose end shows nothing by itself.
    [1_000, null, 2],
    [1_000, 1_000, 1],
  ])('takes %i rows, where the list ended at %s before, in %i requests', async (size, lastEnd, requests) => {
    expect((await play({ size, lastEnd })).requests).toBe(requests);
  });

  it.each([
    [2_000, 1_000],
    [1_000, 1_000],
    [40, 20],
    [2, 2],
  ])('fails, and soon, when the offset is ignored: %i rows, pages of %i', async (size, capAt) => {
    const { answer, requests } = await play({ size, capAt, isOffsetIgnored: true });
    const detail = expect.stringContaining('ignore the offset');
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'unavailable', detail } });
    expect(requests).toBe(2);
  });

  it('ends when a service shows its first page alone, and nothing behind it', async () => {
    const { answer, requests } = await readAll(({ offset }) => rowsOf(offset === 0 ? [1, 2] : []));
    expect(answer).toMatchObject({ ok: true, value: { rows: [{ id: 1 }, { id: 2 }] } });
    expect(requests).toBe(4);
  });

  it('fails when rows come again instead of others', async () => {
    // 30 rows, of which the second half shows the first again.
    const again = ({ offset, limit }: PageOf) =>
      rowsOf(from(offset, Math.min(limit, 30 - offset)).map((at) => at % 15));
    const { answer } = await readAll(again, { pageSize: 10 });
    const detail = expect.stringContaining('repeats 15 rows');
    expect(answer).toMatchObject({ ok: false, failure: { detail } });
  });

  it('counts each row that cannot be used once, by its place', async () => {
    const list = from(0, 100).map((id) => (id % 10 === 0 ? null : { id }));
    const readPage = ({ offset, limit }: PageOf) => ({ rows: list.slice(offset, offset + limit), weight: 0 });
    const { answer } = await readAll(readPage, { pageSize: 30 });
    expect(answer).toMatchObject({ ok: true, value: { unusable: 10, end: 100 } });
    expect(answer.ok && answer.value.rows.length).toBe(90);
  });

  it('gives up a list that takes more memory than any fleet', async () => {
    const heavy = ({ offset }: PageOf) => ({ ...rowsOf(from(offset, 10)), weight: 30 * 1024 * 1024 });
    const { answer, requests } = await readAll(heavy, { pageSize: 10 });
    expect(answer).toMatchObject({ ok: false, failure: { detail: expect.stringContaining('96 MiB') } });
    expect(requests).toBe(4);
  });

  it('fails with a reason when the list keeps changing', async () => {
    let next = 0;
    const { answer } = await readAll(
      ({ limit }) => {
        next += limit;
        return rowsOf(from(next, limit));
      },
      { pageSize: 10 },
    );
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
  });
});
