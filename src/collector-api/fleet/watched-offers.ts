import { seeUpgradableCollectors } from '../../contract/collector-management/seen-collector.ts';
import type { FleetService } from '../../orchestrator/ports/fleet-service.ts';
import type { FleetReadingParts } from './fleet-reading.ts';

// The largest account, several times over, where a service gives no more than 100 rows a page.
const pagesMax = 300;

/**
 * Reads the upgradable list for the watch: page by page, and not certainly the whole of it. A service may give
 * fewer rows than a page asks for. So a short page is the last one only when a page as long was the whole rest before.
 */
export function makeReadUpgradable({
  client,
  pageSize,
}: Pick<FleetReadingParts, 'client' | 'pageSize'>): FleetService['readUpgradable'] {
  let longestLast = 0;
  let buildBefore = '';
  return async (toBuild, onPage, signal) => {
    if (toBuild !== buildBefore) longestLast = 0;
    buildBefore = toBuild;
    let offset = 0;
    let before = 0;
    for (let pages = 1; pages <= pagesMax; pages += 1) {
      const query = { toVersion: toBuild, offset, limit: pageSize };
      // One page takes the place of many polls, so it goes before them.
      const answer = await client.call(seeUpgradableCollectors, { query }, { budgetClass: 'verify', signal });
      if (!answer.ok) return answer;
      const { rows } = answer.value.body;
      await onPage(rows.flatMap((row) => (row === null ? [] : [row.id])));
      if (rows.length === 0) longestLast = Math.max(longestLast, before);
      if (rows.length < pageSize && rows.length <= longestLast) return { ok: true, value: pages };
      before = rows.length;
      offset += rows.length;
    }
    return { ok: true, value: pagesMax };
  };
}
