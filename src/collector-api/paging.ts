import { invariant } from '../base/assert.ts';
import type { Answer } from '../orchestrator/ports/answer.ts';
import { type Patience, repeatWhilePassing } from './repeat-while-passing.ts';

export interface PageOf {
  readonly offset: number;
  readonly limit: number;
}

export interface PagedList<Row> extends Patience {
  readonly readPage: (page: PageOf) => Promise<Answer<readonly Row[]>>;
  readonly idOf: (row: Row) => number | string;
  /** At least 2. */
  readonly pageSize: number;
  /** Bounds the whole reading, pages that were read again included. */
  readonly requestsMax: number;
}

// Pages overlap by a fiftieth: as many rows may vanish between two pages without one being read twice.
const overlapShare = 1 / 50;

/**
 * Reads a list to its end. The list may shrink meanwhile (field-facts.md, The wire), which moves later rows forward, over
 * the edge of a page already read. So a page counts only when its first row is one that was read before: then nothing
 * lies between them, and every row that stays in the list throughout has been read. Otherwise it steps back.
 * @returns each row once, as it was read last; or the failure, and never a part of the list
 */
export async function readWholeList<Row>(list: PagedList<Row>): Promise<Answer<readonly Row[]>> {
  const { pageSize } = list;
  invariant(pageSize >= 2, 'pages of one row cannot overlap');
  const overlap = Math.max(1, Math.floor(pageSize * overlapShare));
  const rows = new Map<number | string, Row>();
  let offset = 0;
  let stepBack = Math.ceil(pageSize / 2);

  for (let request = 0; request < list.requestsMax; request += 1) {
    const answer = await repeatWhilePassing(() => list.readPage({ offset, limit: pageSize }), list);
    if (!answer.ok) return answer;
    const page = answer.value;
    const first = page[0];
    const isJoined = offset === 0 || (first !== undefined && rows.has(list.idOf(first)));
    if (!isJoined) {
      offset = Math.max(0, offset - stepBack);
      stepBack *= 2;
      continue;
    }
    stepBack = Math.ceil(pageSize / 2);
    const knownBefore = rows.size;
    for (const row of page) rows.set(list.idOf(row), row);
    const isNew = rows.size > knownBefore;
    if (page.length === 0 || (page.length < pageSize && !(isNew && isMaybeCapped(page.length)))) {
      return { ok: true, value: [...rows.values()] };
    }
    offset += page.length - overlap;
  }
  const detail = `The list changed faster than it could be read: no end after ${list.requestsMax} pages.`;
  return { ok: false, failure: { kind: 'unavailable', sent: true, detail } };
}

/** A page shorter than asked for is the last one, unless the service caps pages silently: caps are round numbers. */
function isMaybeCapped(length: number): boolean {
  return length % 50 === 0;
}
