import { describe, expect, it } from 'vitest';
import { type PageOf, readWholeList } from '../../../../src/collector-api/wire/paging.ts';

/** A list as one wire shows it. Before each request it may change. */
interface Wire {
  readonly size: number;
  readonly pageSize: number;
  /** How many rows the service returns at most. */
  readonly capAt?: number;
  /** The list at this request. */
  readonly listAt: (list: readonly number[], request: number, random: Random) => readonly number[];
}

type Random = () => number;

// A small generator, so that a run can be repeated (mulberry32).
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const from = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);

function shuffled(list: readonly number[], random: Random): readonly number[] {
  return list
    .map((id) => ({ id, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ id }) => id);
}

/** Rows that were seen last come first, as in a list by `lastSeenAlive`. */
function moved(list: readonly number[], count: number, random: Random): readonly number[] {
  const first = new Set(from(0, count).map(() => list[Math.floor(random() * list.length)] ?? 0));
  return [...first, ...list.filter((id) => !first.has(id))];
}

async function read(wire: Wire, seed: number) {
  const random = seeded(seed);
  let list: readonly number[] = from(0, wire.size);
  let common = new Set(list);
  let requests = 0;
  const answer = await readWholeList<{ readonly id: number }>({
    idOf: ({ id }) => id,
    pageSize: wire.pageSize,
    attemptsMax: 1,
    backoffMs: 1,
    sleep: async () => {},
    readPage: async ({ offset, limit }: PageOf) => {
      list = wire.listAt(list, requests, random);
      requests += 1;
      const now = new Set(list);
      common = new Set([...common].filter((id) => now.has(id)));
      const rows = list.slice(offset, offset + Math.min(limit, wire.capAt ?? limit)).map((id) => ({ id }));
      return { ok: true, value: { rows, weight: 0 } };
    },
  });
  const ids = new Set(answer.ok ? answer.value.rows.map(({ id }) => id) : []);
  const lost = answer.ok ? [...common].filter((id) => !ids.has(id)).length : 0;
  const detail = answer.ok || !('detail' in answer.failure) ? '' : answer.failure.detail;
  return { isRead: answer.ok, detail, lost, requests };
}

const whole = from(0, 200);
const asIs: Wire['listAt'] = (list) => list;
const shuffle: Wire['listAt'] = (list, _request, random) => shuffled(list, random);
const reverse: Wire['listAt'] = (_list, request) => (request % 2 === 1 ? whole.toReversed() : whole);
const replicas: Wire['listAt'] = (_list, request) =>
  request % 2 === 1 ? whole.filter((id) => id % 20 !== 3) : whole;
const byLastSeen =
  (moves: number, vanish = 0): Wire['listAt'] =>
  (list, _request, random) =>
    moved(list.slice(vanish), moves, random);
const capped = { pageSize: 1_000, capAt: 50 };

interface Row {
  readonly name: string;
  readonly wire: Wire;
  /** Of these many tries, how many read the list. The others fail. */
  readonly reads: readonly [number, number];
  readonly requestsMax: number;
}

// The seeds are fixed, and so are these figures.
const rows: readonly Row[] = [
  { name: 'a stable order', wire: { size: 200, pageSize: 50, listAt: asIs }, reads: [1, 1], requestsMax: 5 },
  { name: 'pages capped at 50', wire: { size: 200, ...capped, listAt: asIs }, reads: [1, 1], requestsMax: 6 },
  {
    name: 'pages capped at 20',
    wire: { size: 200, pageSize: 1_000, capAt: 20, listAt: asIs },
    reads: [1, 1],
    requestsMax: 12,
  },
  { name: 'one row', wire: { size: 1, pageSize: 1_000, listAt: asIs }, reads: [1, 1], requestsMax: 2 },
  {
    name: 'pages of one row',
    wire: { size: 60, pageSize: 1_000, capAt: 1, listAt: asIs },
    reads: [1, 1],
    requestsMax: 121,
  },
  {
    name: 'a row vanishes at each request, one page',
    wire: { size: 300, pageSize: 1_000, listAt: byLastSeen(0, 1) },
    reads: [1, 1],
    requestsMax: 2,
  },
  {
    name: 'a row vanishes at each request, two pages',
    wire: { size: 1_200, pageSize: 1_000, listAt: byLastSeen(0, 1) },
    reads: [1, 1],
    requestsMax: 3,
  },
  {
    name: 'a row vanishes at each request, pages capped at 50',
    wire: { size: 200, ...capped, listAt: byLastSeen(0, 1) },
    reads: [1, 1],
    requestsMax: 16,
  },
  {
    name: 'a new row at the end at each request',
    wire: { size: 200, pageSize: 50, listAt: (list, at) => [...list, 1_000 + at] },
    reads: [1, 1],
    requestsMax: 5,
  },
  {
    name: 'a new row at the beginning, once',
    wire: { size: 200, pageSize: 50, listAt: (list, at) => (at === 2 ? [1_000, ...list] : list) },
    reads: [1, 1],
    requestsMax: 6,
  },
  {
    name: 'shuffled, one page',
    wire: { size: 200, pageSize: 1_000, listAt: shuffle },
    reads: [30, 30],
    requestsMax: 2,
  },
  { name: 'shuffled', wire: { size: 200, pageSize: 50, listAt: shuffle }, reads: [30, 30], requestsMax: 6 },
  {
    name: 'shuffled, 1,200',
    wire: { size: 1_200, pageSize: 1_000, listAt: shuffle },
    reads: [30, 30],
    requestsMax: 3,
  },
  {
    name: 'shuffled, 1,200, pages capped at 1,000',
    wire: { size: 1_200, pageSize: 1_000, capAt: 1_000, listAt: shuffle },
    reads: [30, 30],
    requestsMax: 12,
  },
  {
    name: 'shuffled, 9,999',
    wire: { size: 9_999, pageSize: 1_000, listAt: shuffle },
    reads: [3, 3],
    requestsMax: 12,
  },
  // A try that fails is repeated with the next scan.
  {
    name: 'shuffled, pages capped at 50',
    wire: { size: 200, ...capped, listAt: shuffle },
    reads: [26, 30],
    requestsMax: 35,
  },
  { name: 'reversed', wire: { size: 200, pageSize: 50, listAt: reverse }, reads: [1, 1], requestsMax: 9 },
  {
    name: 'reversed, pages capped at 50',
    wire: { size: 200, ...capped, listAt: reverse },
    reads: [1, 1],
    requestsMax: 17,
  },
  {
    name: 'two replicas in turn',
    wire: { size: 200, pageSize: 50, listAt: replicas },
    reads: [1, 1],
    requestsMax: 15,
  },
  {
    name: 'by lastSeenAlive',
    wire: { size: 1_200, pageSize: 1_000, listAt: byLastSeen(22) },
    reads: [30, 30],
    requestsMax: 3,
  },
  {
    name: 'by lastSeenAlive, one move',
    wire: { size: 1_200, pageSize: 1_000, listAt: byLastSeen(1) },
    reads: [30, 30],
    requestsMax: 3,
  },
  {
    name: 'by lastSeenAlive, capped',
    wire: { size: 1_200, pageSize: 1_000, capAt: 1_000, listAt: byLastSeen(22) },
    reads: [30, 30],
    requestsMax: 6,
  },
  {
    name: 'by lastSeenAlive, shrinking',
    wire: { size: 1_200, pageSize: 1_000, capAt: 1_000, listAt: byLastSeen(6, 5) },
    reads: [30, 30],
    requestsMax: 10,
  },
];

describe('readWholeList', () => {
  it.each(rows)(
    'loses no row, and sends at most $requestsMax requests: $name',
    async ({ wire, reads, requestsMax }) => {
      const [, tries] = reads;
      const runs = [];
      for (let seed = 1; seed <= tries; seed += 1) runs.push(await read(wire, seed));
      expect(runs.filter(({ lost }) => lost > 0)).toEqual([]);
      expect([runs.filter(({ isRead }) => isRead).length, tries]).toEqual(reads);
      expect(Math.max(...runs.map(({ requests }) => requests))).toBe(requestsMax);
    },
  );

  it('names the cause when an order does not settle', async () => {
    const { detail, requests } = await read({ size: 60, pageSize: 1_000, capAt: 1, listAt: shuffle }, 1);
    expect(detail).toContain('The order of the list is not stable.');
    // Three passes, and 20.
    expect(requests).toBe(200);
  });

  it('does not take the page of a replica without rows for the whole list', async () => {
    const listAt: Wire['listAt'] = (list, request, random) => (request === 7 ? [] : shuffled(list, random));
    expect(await read({ size: 200, ...capped, listAt }, 3)).toMatchObject({ isRead: true, lost: 0 });
  });
});
