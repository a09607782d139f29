import {
  type SeenCollector,
  seeUpgradableCollectors,
} from '../../contract/collector-management/seen-collector.ts';
import type { FleetService, ListedCollector } from '../../orchestrator/ports/fleet-service.ts';
import { isInstalled } from './fleet-collector.ts';
import { type FleetReadingParts, makeSafeText } from './fleet-reading.ts';

// Several times the largest account, for a service that returns at most 100 rows per page.
const pagesMax = 300;

// Several times the number of builds of a rollback.
const listsMax = 100;

type ListRow = Pick<SeenCollector, 'id' | 'collectorVersion' | 'alive' | 'lastSeenAlive'>;

// One reading in thirty checks for the end of a list that grows, which costs one more request.
const endCheckedEvery = 30;

/** What earlier readings showed about the end of a list. */
interface ListEnd {
  /** Rows of the longest page that was the last one. */
  longestLast: number;
  /** Rows of a page with more rows after it: the most that the service returns at once. */
  pageMax: number;
  readings: number;
}

/**
 * Reads the upgradable list for the watch, page by page; the end may be missing. A service may return fewer rows than
 * requested. So the first reading, and now and then a later one of a longer list, also requests what follows a short
 * page. Rows that are repeated show that the list has no stable order (decision 52), so that others are missing.
 */
export function makeReadUpgradable({
  client,
  pageSize,
}: Pick<FleetReadingParts, 'client' | 'pageSize'>): FleetService['readUpgradable'] {
  const ends = new Map<string, ListEnd>();
  return async (toBuild, onPage, signal) => {
    const safeText = makeSafeText(client, 'values');
    const end = ends.get(toBuild) ?? { longestLast: 0, pageMax: pageSize, readings: 0 };
    if (ends.size >= listsMax) ends.clear();
    ends.set(toBuild, end);
    const isEndChecked = end.readings % endCheckedEvery === 0;
    end.readings += 1;
    let offset = 0;
    let before: readonly unknown[] = [];
    const read = new Set<unknown>();
    let isInOrder = true;
    for (let pages = 1; pages <= pagesMax; pages += 1) {
      const query = { toVersion: toBuild, offset, limit: pageSize };
      // A page replaces many polls, so it goes before them.
      const answer = await client.call(seeUpgradableCollectors, { query }, { budgetClass: 'verify', signal });
      if (!answer.ok) return answer;
      const { body, serviceAt } = answer.value;
      const { length } = body.rows;
      const collectors = body.rows.flatMap((row) =>
        row === null || !isInstalled(row) ? [] : [listedOf(row, safeText)],
      );
      await onPage({ collectors, serviceAt });
      const ids = body.rows.map((row) => row?.id ?? null);
      if (ids.slice(countMoved(before, ids)).some((id) => id !== null && read.has(id))) isInOrder = false;
      for (const id of ids) read.add(id);
      // Rows were added between two pages, so the earlier page size was wrong.
      if (length > end.pageMax) end.pageMax = pageSize;
      if (length === 0) end.longestLast = Math.max(end.longestLast, before.length);
      else if (offset > 0) end.pageMax = before.length;
      if (length < end.pageMax && (length <= end.longestLast || !isEndChecked))
        return { ok: true, value: { pages, isInOrder } };
      before = ids;
      offset += length;
    }
    return { ok: true, value: { pages: pagesMax, isInOrder: false } };
  };
}

/** How many rows of a page moved to the next one, because as many were added before them. */
function countMoved(before: readonly unknown[], ids: readonly unknown[]): number {
  const from = before.indexOf(ids[0]);
  const moved = from < 0 ? [] : before.slice(from);
  return moved.every((id, index) => id === ids[index]) ? moved.length : 0;
}

function listedOf(
  { id, collectorVersion, alive, lastSeenAlive }: ListRow,
  safeText: (text: string) => string,
): ListedCollector {
  return {
    id,
    build: safeText(collectorVersion ?? ''),
    alive: alive ?? false,
    lastSeenAlive: lastSeenAlive ?? undefined,
  };
}
