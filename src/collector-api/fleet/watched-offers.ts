import {
  type SeenCollector,
  seeUpgradableCollectors,
} from '../../contract/collector-management/seen-collector.ts';
import type { FleetService, ListedCollector } from '../../orchestrator/ports/fleet-service.ts';
import { isInstalled } from './fleet-collector.ts';
import { type FleetReadingParts, sayer } from './fleet-reading.ts';

// The largest account, several times over, where a service gives no more than 100 rows a page.
const pagesMax = 300;

// Builds of a rollback, several times over.
const listsMax = 100;

type ListRow = Pick<SeenCollector, 'id' | 'collectorVersion' | 'alive' | 'lastSeenAlive'>;

// Costs a request for each thirty readings of a list that grows.
const endCheckedEvery = 30;

/** What earlier readings showed of where a list ends. */
interface ListEnd {
  /** Rows of the longest page that nothing followed. */
  longestLast: number;
  /** Rows of a page that others followed: all that the service gives at once. */
  pageMax: number;
  readings: number;
}

/**
 * Reads the upgradable list for the watch: page by page, and not certainly the whole of it. A service may give fewer rows
 * than a page asks for. So what follows a short page is asked with the first reading, and now and then of a list that has grown.
 */
export function makeReadUpgradable({
  client,
  pageSize,
}: Pick<FleetReadingParts, 'client' | 'pageSize'>): FleetService['readUpgradable'] {
  const ends = new Map<string, ListEnd>();
  return async (toBuild, onPage, signal) => {
    const say = sayer(client, 'values');
    const end = ends.get(toBuild) ?? { longestLast: 0, pageMax: pageSize, readings: 0 };
    if (ends.size >= listsMax) ends.clear();
    ends.set(toBuild, end);
    const isEndChecked = end.readings % endCheckedEvery === 0;
    end.readings += 1;
    let offset = 0;
    let before = 0;
    for (let pages = 1; pages <= pagesMax; pages += 1) {
      const query = { toVersion: toBuild, offset, limit: pageSize };
      // One page takes the place of many polls, so it goes before them.
      const answer = await client.call(seeUpgradableCollectors, { query }, { budgetClass: 'verify', signal });
      if (!answer.ok) return answer;
      const { body, serviceAt } = answer.value;
      const { length } = body.rows;
      const collectors = body.rows.flatMap((row) =>
        row === null || !isInstalled(row) ? [] : [listedOf(row, say)],
      );
      await onPage({ collectors, serviceAt });
      // A row that came between two pages had made that one look full.
      if (length > end.pageMax) end.pageMax = pageSize;
      if (length === 0) end.longestLast = Math.max(end.longestLast, before);
      else if (offset > 0) end.pageMax = before;
      if (length < end.pageMax && (length <= end.longestLast || !isEndChecked))
        return { ok: true, value: pages };
      before = length;
      offset += length;
    }
    return { ok: true, value: pagesMax };
  };
}

function listedOf(
  { id, collectorVersion, alive, lastSeenAlive }: ListRow,
  say: (text: string) => string,
): ListedCollector {
  return {
    id,
    build: say(collectorVersion ?? ''),
    alive: alive ?? false,
    lastSeenAlive: lastSeenAlive ?? undefined,
  };
}
