import { invariant } from '../../base/assert.ts';
import type { ListPage } from '../../contract/operation.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { ListUnion } from './list-union.ts';
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

// Three passes, and 20 for short lists: a list of 200 in random order takes up to seven passes in pages of 50.
const passesMax = 3;
const requestsMore = 20;

// Three passes over the largest account (10,000 collectors) in pages of 20, for a service that returns no more at once.
const requestsMax = 1_600;

// Pages overlap by a fiftieth. So many rows may vanish between two pages without a page being read twice.
const overlapShare = 1 / 50;

// Several times the size of 100,000 collectors. A larger list can't be planned, or has no end.
const weightMax = 96 * 1024 * 1024;

// The service accepts it (field-facts.md, The wire).
const longPageSize = 10_000;

/**
 * Reads a whole list. The list may shrink meanwhile (field-facts.md, The wire), which moves rows forward into a page
 * that was already read. So a page counts only when its first row was read before. Then no row lies between them, and
 * every row that stays in the list has been read. Otherwise it steps back.
 *
 * The specification promises no order. In a list that only shrinks no row moves back, and no row changes places with
 * another. Where one does, rows may have moved past the reading unread: further passes unite the rows by id until a pass
 * adds none (decision 52).
 *
 * A service may return fewer rows than requested, without saying so. A short page is the last one when an earlier page
 * was full. Otherwise one more request checks that nothing follows its last rows. When rows are repeated, because
 * something on the way ignores the offset, the end can't be found: that is a failure.
 * @returns each row once, as it was read last; or the failure, and never a part of the list
 */
export async function readWholeList<Row>(list: PagedList<Row>): Promise<Answer<WholeList<Row>>> {
  const { pageSize } = list;
  invariant(pageSize >= 2, 'pages of one row cannot overlap');
  const union = new ListUnion(list.idOf);
  let limit = pageSize;
  let limitMax = longPageSize;
  let offset = 0;
  let stepsBack = 0;
  let isPageSizeGiven = false;
  let emptyAt: number | undefined;
  let end = 0;
  let knownEnd = list.lastEnd ?? null;

  for (let requests = 0; requests < requestsMaxOf(union); requests += 1) {
    // A longer page that fails is replaced by usual ones.
    const bounds = limit > pageSize ? { ...list, attemptsMax: 1 } : list;
    const answer = await repeatWhileTransient(() => list.readPage({ offset, limit }), bounds);
    if (!answer.ok) {
      if (limit === pageSize || answer.failure.kind === 'cancelled') return answer;
      limit = pageSize;
      limitMax = pageSize;
      isPageSizeGiven = false;
      continue;
    }
    const { rows, weight } = answer.value;
    const { length } = rows;
    // A list of one row is whole, although the offset was ignored.
    if (union.isFirstPageAgain(rows, offset)) return length > 1 ? repeats(offset) : wholeOf(union, 1);
    if (union.confirmsOrder(rows, offset)) return wholeOf(union, knownEnd ?? union.size);
    const isJoined = union.join(rows, offset);
    // Nothing follows a page whose end was requested.
    const isEnd = length === 0 && offset === end;
    if (!isJoined && !isEnd && union.isInOrder) {
      // Nothing at the last row of a short page: rows vanished, or the service returns only its first page. All rows
      // have been read.
      if (length === 0 && offset === emptyAt) return wholeOf(union, union.size);
      if (length === 0 && !isPageSizeGiven) emptyAt = offset;
      offset = Math.max(0, offset - Math.ceil(union.longest / 2) * 2 ** stepsBack);
      stepsBack += 1;
      continue;
    }
    stepsBack = 0;
    const longestBefore = union.longest;
    const fresh = union.add(rows, offset, weight);
    if (union.weight > weightMax)
      return failure(`The list is larger than ${weightMax / 1024 / 1024} MiB. Reading stopped.`);
    end = offset + length;
    const isShort = length < limit;
    isPageSizeGiven ||= !isShort;
    // Rows of an earlier page alone, and fewer than the service returns at once: nothing follows.
    const isRepeat = fresh === 0 && length < longestBefore;
    const isLast = isShort && (length === 0 || isRepeat || isPageSizeGiven);
    if (!isLast && end !== knownEnd) {
      offset = union.nextOffset(offset, length, overlapOf(length));
      continue;
    }
    if (union.isComplete(end)) return wholeOf(union, end);
    // One page that holds the whole list has no rows between pages. The service's own limit may be lower.
    if (isPageSizeGiven && !union.isInOrder) limit = Math.max(pageSize, Math.min(limitMax, 2 * end));
    isPageSizeGiven = false;
    knownEnd = end;
    offset = 0;
    union.beginPass();
  }
  return failure(union.isInOrder ? unending : unstable(union.size));
}

function requestsMaxOf<Row>({ length, longest }: ListUnion<Row>): number {
  const pages = Math.ceil(length / Math.max(1, longest - overlapOf(longest)));
  return Math.min(requestsMax, passesMax * pages + requestsMore);
}

function overlapOf(length: number): number {
  return length <= 1 ? 0 : Math.max(1, Math.floor(length * overlapShare));
}

function wholeOf<Row>(union: ListUnion<Row>, end: number): Answer<WholeList<Row>> {
  // The service itself may list a few rows twice.
  const repeated = end - union.size;
  if (repeated > Math.max(1, end * overlapShare)) return repeats(repeated);
  return { ok: true, value: { ...union.rows(), end } };
}

function repeats(count: number): Answer<never> {
  return failure(`The service repeats ${count} rows of the list. A proxy may ignore the offset of a page.`);
}

const unending = 'The list changed faster than it could be read, or has no end. Reading stopped.';

const unstable = (rows: number) =>
  `The order of the list is not stable. Pages repeated rows and skipped others, and ${rows} rows may not be all. ` +
  'Check whether a load balancer sends the requests to replicas that differ.';

function failure(detail: string): Answer<never> {
  return { ok: false, failure: { kind: 'unavailable', sent: false, detail } };
}
