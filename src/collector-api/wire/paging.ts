import { invariant } from '../../base/assert.ts';
import type { ListPage } from '../../contract/operation.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { type RetryBounds, repeatWhileTransient } from './repeat-while-transient.ts';

export interface PageOf {
  readonly offset: number;
  readonly limit: number;
}

export interface PagedList<Row> extends RetryBounds {
  readonly readPage: (page: PageOf) => Promise<Answer<ListPage<Row>>>;
  readonly idOf: (row: Row) => number;
  /** At least 2. */
  readonly pageSize: number;
  /** Bounds the whole reading, pages that were read again included. */
  readonly requestsMax?: number;
  /** How many rows an earlier reading had found to be all: a page that ends just there is not asked about again. */
  readonly lastEnd?: number | null;
}

export interface WholeList<Row> {
  readonly rows: readonly Row[];
  /** Rows that can't be used: without a readable id, or no object at all. */
  readonly unusable: number;
  /** How many rows the service had at the end of the reading. */
  readonly end: number;
}

// The largest account (10,000 collectors) in pages of 20, where a service gives no more at once.
const requestsMaxDefault = 600;

// Pages overlap by a fiftieth: as many rows may vanish between two pages without one being read twice.
const overlapShare = 1 / 50;

// Several times what 100,000 collectors take. Beyond it the list is nothing that can be planned, or has no end.
const weightMax = 96 * 1024 * 1024;

/**
 * Reads a list to its end. The list may shrink meanwhile (field-facts.md, The wire), which moves later rows forward, over
 * the edge of a page already read. So a page counts only when its first row is one that was read before: then nothing
 * lies between them, and every row that stays in the list throughout has been read. Otherwise it steps back.
 *
 * A service may give fewer rows than a page asks for, and not say so. A short page is the last one when a page of the same
 * reading was full; else one more page has to show that nothing follows its last row. Where rows are repeated, since
 * something on the way ignores the offset, nothing shows an end: that is a failure.
 * @returns each row once, as it was read last; or the failure, and never a part of the list
 */
export async function readWholeList<Row>(list: PagedList<Row>): Promise<Answer<WholeList<Row>>> {
  const { pageSize, requestsMax = requestsMaxDefault } = list;
  invariant(pageSize >= 2, 'pages of one row cannot overlap');
  const rows = new Map<number | string, Row | null>();
  let offset = 0;
  let stepBack = Math.ceil(pageSize / 2);
  let weight = 0;
  let isPageSizeGiven = false;
  let firstKey: number | string | undefined;
  let emptyAt: number | undefined;

  for (let request = 0; request < requestsMax; request += 1) {
    const answer = await repeatWhileTransient(() => list.readPage({ offset, limit: pageSize }), list);
    if (!answer.ok) return answer;
    const page = answer.value;
    const { length } = page.rows;
    // A row without an id is identified by its place in the list.
    const keys = page.rows.map((row, index) => (row === null ? `#${offset + index}` : list.idOf(row)));
    const [first] = keys;
    if (offset === 0) firstKey = first;
    else if (first !== undefined && first === firstKey) return repeats(offset);
    const isJoined = offset === 0 || (first !== undefined && rows.has(first));
    if (!isJoined) {
      // Empty where the last row of a short page was: rows vanished, or the service shows nothing but its first page. What
      // was there then has been read by now.
      if (length === 0 && offset === emptyAt) return wholeOf(rows, rows.size);
      if (length === 0 && !isPageSizeGiven) emptyAt = offset;
      offset = Math.max(0, offset - stepBack);
      stepBack *= 2;
      continue;
    }
    stepBack = Math.ceil(pageSize / 2);
    weight += page.weight;
    if (weight > weightMax)
      return failure(`The list is larger than ${weightMax / 1024 / 1024} MiB: it is given up.`);
    for (const [index, key] of keys.entries()) rows.set(key, page.rows[index] ?? null);
    const end = offset + length;
    const isShort = length < pageSize;
    isPageSizeGiven ||= !isShort;
    // The row that was last before, or a list of one or none: nothing follows.
    const isOver = length <= 1 || isPageSizeGiven;
    if ((isShort && isOver) || end === list.lastEnd) return wholeOf(rows, end);
    offset = end - (isShort ? 1 : Math.max(1, Math.floor(length * overlapShare)));
  }
  return failure(
    `The list changed faster than it could be read, or has no end: given up after ${requestsMax} pages.`,
  );
}

function wholeOf<Row>(read: ReadonlyMap<number | string, Row | null>, end: number): Answer<WholeList<Row>> {
  // A few are those that moved back behind a new row while the list was read.
  const repeated = end - read.size;
  if (repeated > Math.max(1, read.size * overlapShare)) {
    return repeats(repeated);
  }
  const rows: Row[] = [];
  for (const row of read.values()) if (row !== null) rows.push(row);
  return { ok: true, value: { rows, unusable: read.size - rows.length, end } };
}

function repeats(count: number): Answer<never> {
  return failure(
    `The service repeats ${count} rows of the list: does something on the way ignore the offset of a page?`,
  );
}

function failure(detail: string): Answer<never> {
  return { ok: false, failure: { kind: 'unavailable', sent: false, detail } };
}
