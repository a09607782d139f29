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
  /** Limits the requests of the whole reading, including pages that are read again. */
  readonly requestsMax?: number;
  /** The number of rows of an earlier reading: a page that ends there needs no further request. */
  readonly lastEnd?: number | null;
}

export interface WholeList<Row> {
  readonly rows: readonly Row[];
  /** Unusable rows: without a readable id, or no object at all. */
  readonly unusable: number;
  /** The number of rows at the end of the reading. */
  readonly end: number;
}

// The largest account (10,000 collectors) in pages of 20, for a service that returns no more at once.
const requestsMaxDefault = 600;

// Pages overlap by a fiftieth. So many rows may vanish between two pages without a page being read twice.
const overlapShare = 1 / 50;

// Several times the size of 100,000 collectors. A larger list can't be planned, or has no end.
const weightMax = 96 * 1024 * 1024;

/**
 * Reads a whole list. The list may shrink meanwhile (field-facts.md, The wire), which moves rows forward into a page
 * that was already read. So a page counts only when its first row was read before. Then no row lies between them, and
 * every row that stays in the list has been read. Otherwise it steps back.
 *
 * A service may return fewer rows than requested, without saying so. A short page is the last one when an earlier page
 * was full. Otherwise one more request checks that nothing follows its last rows. When rows are repeated, because
 * something on the way ignores the offset, the end can't be found: that is a failure.
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
  let longest = 0;
  let firstKey: number | string | undefined;
  let emptyAt: number | undefined;

  for (let request = 0; request < requestsMax; request += 1) {
    const answer = await repeatWhileTransient(() => list.readPage({ offset, limit: pageSize }), list);
    if (!answer.ok) return answer;
    const page = answer.value;
    const { length } = page.rows;
    // A row without an id is identified by its position.
    const keys = page.rows.map((row, index) => (row === null ? `#${offset + index}` : list.idOf(row)));
    const [first] = keys;
    if (offset === 0) firstKey = first;
    else if (first !== undefined && first === firstKey) return repeats(offset);
    const isJoined = offset === 0 || (first !== undefined && rows.has(first));
    if (!isJoined) {
      // Nothing at the last row of a short page: rows vanished, or the service returns only its first page. All rows
      // have been read.
      if (length === 0 && offset === emptyAt) return wholeOf(rows, rows.size);
      if (length === 0 && !isPageSizeGiven) emptyAt = offset;
      offset = Math.max(0, offset - stepBack);
      stepBack *= 2;
      continue;
    }
    stepBack = Math.ceil(pageSize / 2);
    weight += page.weight;
    if (weight > weightMax)
      return failure(`The list is larger than ${weightMax / 1024 / 1024} MiB. Reading stopped.`);
    const readBefore = rows.size;
    for (const [index, key] of keys.entries()) rows.set(key, page.rows[index] ?? null);
    const end = offset + length;
    const isShort = length < pageSize;
    isPageSizeGiven ||= !isShort;
    // Rows of an earlier page alone, and fewer than the service returns at once: nothing follows.
    const isRepeat = rows.size === readBefore && length < longest;
    longest = Math.max(longest, length);
    const isLast = isShort && (length <= 1 || isRepeat || isPageSizeGiven);
    if (isLast || end === list.lastEnd) return wholeOf(rows, end);
    offset = end - Math.max(1, Math.floor(length * overlapShare));
  }
  return failure(
    `The list changed faster than it could be read, or has no end. Reading stopped after ${requestsMax} pages.`,
  );
}

function wholeOf<Row>(read: ReadonlyMap<number | string, Row | null>, end: number): Answer<WholeList<Row>> {
  // A few rows may have moved back while the list was read.
  const repeated = end - read.size;
  if (repeated > Math.max(1, read.size * overlapShare)) {
    return repeats(repeated);
  }
  const rows: Row[] = [];
  for (const row of read.values()) if (row !== null) rows.push(row);
  return { ok: true, value: { rows, unusable: read.size - rows.length, end } };
}

function repeats(count: number): Answer<never> {
  return failure(`The service repeats ${count} rows of the list. A proxy may ignore the offset of a page.`);
}

function failure(detail: string): Answer<never> {
  return { ok: false, failure: { kind: 'unavailable', sent: false, detail } };
}
