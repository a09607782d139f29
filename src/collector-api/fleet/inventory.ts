import type { EpochMs } from '../../base/time.ts';
import { makeTurnBudget, mapInSlices } from '../../base/turn-budget.ts';
import { type SeenCollector, seeCollectors } from '../../contract/collector-management/seen-collector.ts';
import type { ListPage } from '../../contract/operation.ts';
import type { BudgetClass } from '../../orchestrator/ports/api-budget.ts';
import type { Answer, InventoryPage } from '../../orchestrator/ports/fleet-service.ts';
import type { FleetCollector, FleetInventory } from '../../rollout/model/collector.ts';
import { readWholeList } from '../wire/paging.ts';
import { isInstalled, makeFleetCollectorReader } from './fleet-collector.ts';
import { type FleetReadingParts, makeSafeText, pageAttemptsMax, pagesOf } from './fleet-reading.ts';
import { makeTextPool, type TextPool } from './text-pool.ts';

export interface InventoryReading {
  /** Called with each page. null: the whole inventory is needed, so failed pages are retried. */
  readonly onPage: ((page: InventoryPage) => Promise<void>) | null;
  /** Called right before each request is sent. */
  readonly onStart?: () => void;
  readonly signal: AbortSignal | undefined;
}

/** A row of the inventory. Of a hosted collector, which is in the list but not in the fleet, only the id. */
type InventoryRow = FleetCollector | Pick<FleetCollector, 'id'>;

// Of readings with `onPage`, one in ten checks for the end of the list, which costs one more request.
const endCheckedEvery = 10;

/** @param parts.onUnreadable called with each inventory: how many of its rows have no readable id or name */
export function makeReadInventory(
  parts: FleetReadingParts & { readonly onUnreadable?: (rows: number) => void },
): (reading: InventoryReading) => Promise<Answer<FleetInventory>> {
  const { client, clock } = parts;
  /** How many rows the last reading found. */
  let inventoryEnd: number | null = null;
  /** Readings with `onPage` since the end was last checked. */
  let watched = 0;

  async function rowsOf(
    { rows, weight }: ListPage<SeenCollector>,
    pool: TextPool,
  ): Promise<ListPage<InventoryRow>> {
    const collectorOf = makeFleetCollectorReader(makeSafeText(client, 'values'), pool);
    const read = (row: SeenCollector | null): InventoryRow | null => {
      if (row === null) return null;
      return isInstalled(row) ? collectorOf(row) : { id: row.id };
    };
    return { rows: await mapInSlices(rows, makeTurnBudget(clock), read), weight };
  }

  return async ({ onPage, onStart, signal }) => {
    const readAt = clock.now();
    // A watched page replaces many polls and verifications, so it goes before them.
    const budgetClass: BudgetClass = onPage === null ? 'page' : 'verify';
    // The last page's time: compared with it, no heartbeat looks younger than it is.
    let serviceAt: EpochMs | null = null;
    // Rows may have been added after a page that ends the known list.
    watched = onPage === null ? 0 : watched + 1;
    const isEndChecked = watched % endCheckedEvery === 0;
    const pool = makeTextPool();
    const inventory = await readWholeList<InventoryRow>({
      ...pagesOf(parts),
      signal,
      attemptsMax: onPage === null ? pageAttemptsMax : 1,
      // Watched pages are hints, and are read again soon, so the end of the last reading is assumed until it moves.
      lastEnd: isEndChecked ? null : inventoryEnd,
      readPage: async (page) => {
        const query = { filter: 'installed', ...page } as const;
        const answer = await client.call(seeCollectors, { query }, { budgetClass, signal, onSend: onStart });
        if (!answer.ok) return answer;
        serviceAt = answer.value.serviceAt;
        const value = await rowsOf(answer.value.body, pool);
        await onPage?.({ collectors: installedOf(value.rows), serviceAt });
        return { ok: true, value };
      },
    });
    if (!inventory.ok) return inventory;
    inventoryEnd = inventory.value.end;
    const collectors = installedOf(inventory.value.rows);
    parts.onUnreadable?.(inventory.value.unusable + collectors.filter(({ name }) => name === '').length);
    return { ok: true, value: { readAt, serviceAt, collectors } };
  };
}

function installedOf(rows: ReadonlyArray<InventoryRow | null>): readonly FleetCollector[] {
  const collectors: FleetCollector[] = [];
  for (const row of rows) if (row !== null && 'name' in row) collectors.push(row);
  return collectors;
}
