import { isSameBuild } from '../../base/build-version.ts';
import { parseCollectorId } from '../../base/names.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { makeTurnBudget, mapInSlices } from '../../base/turn-budget.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import { pageUpgradeTargets } from '../../contract/collector-management/listed-rows.ts';
import {
  type SeenCollector,
  seeCollector,
  seeCollectorByName,
  seeCollectors,
  seeUpgradableCollectors,
} from '../../contract/collector-management/seen-collector.ts';
import { createUpgradeTask, getUpgradeTask } from '../../contract/collector-management/upgrades.ts';
import type { ListPage } from '../../contract/operation.ts';
import type { BudgetClass } from '../../orchestrator/ports/api-budget.ts';
import {
  type Answer,
  type FleetService,
  type InventoryPage,
  sendWithinMs,
} from '../../orchestrator/ports/fleet-service.ts';
import type { FleetCollector, FleetInventory } from '../../rollout/model/collector.ts';
import type { CollectorObservation } from '../../rollout/upgrade/facts.ts';
import { askByName } from '../wire/collector-name.ts';
import { readWholeList } from '../wire/paging.ts';
import type { ServiceClient } from '../wire/service-client.ts';
import type { TextKind } from '../wire/service-text.ts';
import { boundText } from '../wire/service-text.ts';
import { fleetCollectorOf, isInstalled } from './fleet-collector.ts';
import { makeSharedReading } from './shared-reading.ts';
import { makeUpgradableReadings, type Upgradable } from './upgradable-readings.ts';

export interface FleetServiceParts {
  readonly client: ServiceClient;
  readonly clock: Clock;
  readonly sleep: (durationMs: DurationMs, signal?: AbortSignal) => Promise<void>;
  /** Rows a page; the service's default page for collectors, which it also takes for the upgradable list. */
  readonly pageSize?: number;
  /** The first wait before a page that failed in passing is read again. */
  readonly backoffMs?: DurationMs;
  /** Told with each inventory: how many of its rows have no id or no name that we can read. */
  readonly onUnreadable?: (rows: number) => void;
}

export interface RunningFleetService extends FleetService {
  /** Ends shared readings and cuts what is open; those calls end as `cancelled`. */
  close(): Promise<void>;
}

// A scan comes back in minutes by itself, so a page is tried for half a minute at most: 1 + 2 + 4 + 8 s.
const pageAttemptsMax = 5;
const backoffMsDefault = 1_000;

// A 64-bit number has 20 digits, a UUID 36 characters. A cut one would name another task, so a longer one is none.
const taskIdLengthMax = 64;

// The header tells whole seconds, and the answer may be from any instant of its second.
const dateStepMs = 1_000;

type Say = (text: string) => string;

/** A row of the inventory; a hosted collector is in the list, and not in the fleet. */
interface InventoryRow {
  readonly id: number;
  readonly collector: FleetCollector | undefined;
}

/** The Collector Management Service behind the port that the loops know. */
export function makeFleetService(parts: FleetServiceParts): RunningFleetService {
  const { client, clock } = parts;
  const closing = new AbortController();
  const turn = makeTurnBudget();
  const pages = {
    pageSize: parts.pageSize ?? serviceLimits.collectorPageSizeDefault,
    sleep: parts.sleep,
    backoffMs: parts.backoffMs ?? backoffMsDefault,
    idOf: ({ id }: { readonly id: number }) => id,
  };
  /** How many rows the last reading of the inventory found. */
  let inventoryEnd: number | null = null;

  async function readUpgradable(
    reading: { readonly toBuild: string; readonly budgetClass: BudgetClass; readonly attemptsMax: number },
    onStart: () => void,
    signal: AbortSignal | undefined,
  ): Promise<Answer<Upgradable>> {
    let serviceAt: EpochMs | null = null;
    const list = await readWholeList<{ readonly id: number }>({
      ...pages,
      signal,
      attemptsMax: reading.attemptsMax,
      readPage: async (page) => {
        const answer = await client.call(
          seeUpgradableCollectors,
          { query: { toVersion: reading.toBuild, ...page } },
          {
            budgetClass: reading.budgetClass,
            signal,
            beforeSend: async () => {
              onStart();
              return true;
            },
          },
        );
        if (!answer.ok) return answer;
        serviceAt = answer.value.serviceAt;
        return { ok: true, value: answer.value.body };
      },
    });
    if (!list.ok) return list;
    const ids = new Set(list.value.rows.map(({ id }) => id));
    return { ok: true, value: { ids, offeredAt: serviceAt === null ? null : serviceAt + dateStepMs } };
  }

  // A look that fails comes back by itself, so its pages are tried once.
  const readings = makeUpgradableReadings(clock, ({ toBuild, isUrgent }, onStart) =>
    readUpgradable(
      { toBuild, budgetClass: isUrgent ? 'verify' : 'look', attemptsMax: 1 },
      onStart,
      closing.signal,
    ),
  );

  const sharedInventory = makeSharedReading((onStart) => readInventory(null, onStart, closing.signal));

  return {
    async listBuilds(signal) {
      const answer = await client.call(pageUpgradeTargets, {}, { budgetClass: 'look', signal });
      if (!answer.ok) return answer;
      const say = sayer('values');
      const builds = answer.value.body.rows.flatMap((row) =>
        row === null ? [] : [{ version: say(row.version), latest: row.latest === true }],
      );
      return { ok: true, value: builds };
    },

    async readFleet(targetBuild, signal) {
      const inventory = await readInventory(null, undefined, signal);
      if (!inventory.ok) return inventory;
      // Read after the inventory, so that one who registered in between is not taken for one who can't be upgraded.
      const upgradable = await readUpgradable(
        { toBuild: targetBuild, budgetClass: 'page', attemptsMax: pageAttemptsMax },
        () => {},
        signal,
      );
      if (!upgradable.ok) return upgradable;
      // Without its name nobody can tell whether it is excluded (P5).
      const collectors = inventory.value.collectors.filter(({ name }) => name !== '');
      const { ids: upgradableIds, offeredAt } = upgradable.value;
      return { ok: true, value: { ...inventory.value, collectors, upgradableIds, offeredAt } };
    },

    // Whoever judges whether a collector is gone reads the whole inventory: all that do so at once read it once.
    readInventory: (onPage, signal) =>
      onPage === null ? sharedInventory(signal) : readInventory(onPage, undefined, signal),

    async findCollector(idOrName, signal) {
      const id = parseCollectorId(idOrName);
      const answer =
        id === undefined
          ? await askByName(idOrName, ({ params, trailingSlash }) =>
              client.call(seeCollectorByName, { params }, { budgetClass: 'operator', trailingSlash, signal }),
            )
          : await client.call(seeCollector, { params: { id } }, { budgetClass: 'operator', signal });
      if (!answer.ok) {
        const gone = withGoneCollector(answer);
        return !gone.ok && gone.failure.kind === 'notFound' ? { ok: true, value: undefined } : gone;
      }
      const { collector } = answer.value.body;
      const { id: foundId } = collector;
      if (foundId === null || !isInstalled(collector)) return { ok: true, value: undefined };
      return { ok: true, value: fleetCollectorOf({ ...collector, id: foundId }, sayer('values')) };
    },

    async createTask({ collectorId, toBuild }, beforeSend, signal) {
      const body = { collectorId, toVersion: toBuild };
      const answer = await client.call(
        createUpgradeTask,
        { body },
        { budgetClass: 'create', beforeSend, leaveWithinMs: sendWithinMs, signal },
      );
      if (!answer.ok) return answer;
      const taskId = answer.value.body.id;
      if (taskId.length > taskIdLengthMax || sayer('values')(taskId) !== taskId) {
        const detail = `createUpgradeTask: answered ${taskId.length} characters that can be no id of a task.`;
        return { ok: false, failure: { kind: 'unavailable', sent: true, detail } };
      }
      return { ok: true, value: { taskId } };
    },

    async pollTask(upgradeTaskId, signal) {
      const params = { upgradeTaskId };
      const answer = await client.call(getUpgradeTask, { params }, { budgetClass: 'look', signal });
      if (!answer.ok) return answer;
      const { body, serviceAt } = answer.value;
      return {
        ok: true,
        value: {
          status: body.upgrade.status,
          message: sayer('words')(body.upgrade.message ?? ''),
          serviceAt,
        },
      };
    },

    async pollCollector({ collectorId, upgradableTo, urgent, listedSince }, signal) {
      const budgetClass = urgent ? 'verify' : 'look';
      const answer = await client.call(
        seeCollector,
        { params: { id: collectorId } },
        { budgetClass, signal },
      );
      if (!answer.ok) return withGoneCollector(answer);
      const { collector } = answer.value.body;
      const sighting = {
        build: sayer('values')(collector.collectorVersion ?? ''),
        alive: collector.alive ?? false,
        lastSeenAlive: collector.lastSeenAlive ?? null,
        serviceAt: answer.value.serviceAt,
      };
      if (upgradableTo === null) return { ok: true, value: { ...sighting, upgradable: null } };
      // The list leaves out who is offline, and who has the build, so neither needs a reading of it.
      const isThere = isSameBuild(sighting.build, upgradableTo);
      if (collector.alive === false || isThere)
        return { ok: true, value: { ...sighting, upgradable: false } };
      const shown =
        listedSince === undefined ? undefined : readings.shown(collectorId, upgradableTo, listedSince);
      if (shown !== undefined) return { ok: true, value: { ...sighting, ...offered(shown) } };
      const upgradable = await askUpgradable(upgradableTo, urgent, signal);
      // 400: a parameter is invalid (collector-api.md §4.3), and only the build can be: it is no longer on offer.
      if (!upgradable.ok && upgradable.failure.kind === 'refused' && upgradable.failure.status === 400)
        return { ok: true, value: { ...sighting, upgradable: false } };
      if (!upgradable.ok) return upgradable;
      const isOffered = upgradable.value.ids.has(collectorId);
      return {
        ok: true,
        value: { ...sighting, ...(isOffered ? offered(upgradable.value) : { upgradable: false }) },
      };
    },

    close: async () => {
      closing.abort();
      await client.close();
    },
  };

  async function readInventory(
    onPage: ((page: InventoryPage) => Promise<void>) | null,
    onStart: (() => void) | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Answer<FleetInventory>> {
    const readAt = clock.now();
    // One page that is watched takes the place of many looks and proofs, so it goes before them.
    const budgetClass: BudgetClass = onPage === null ? 'page' : 'verify';
    // The last page's: against it no heartbeat looks younger than it is.
    let serviceAt: EpochMs | null = null;
    const inventory = await readWholeList<InventoryRow>({
      ...pages,
      signal,
      attemptsMax: onPage === null ? pageAttemptsMax : 1,
      // Pages that are watched are hints, and come again soon: where their end was, it still is until it moves.
      lastEnd: onPage === null ? null : inventoryEnd,
      readPage: async (page) => {
        const query = { filter: 'installed', ...page } as const;
        const answer = await client.call(
          seeCollectors,
          { query },
          {
            budgetClass,
            signal,
            ...(onStart === undefined
              ? {}
              : {
                  beforeSend: async () => {
                    onStart();
                    return true;
                  },
                }),
          },
        );
        if (!answer.ok) return answer;
        serviceAt = answer.value.serviceAt;
        const { rows, weight } = await inventoryRowsOf(answer.value.body);
        await onPage?.({ collectors: installedOf(rows), serviceAt });
        return { ok: true, value: { rows, weight } };
      },
    });
    if (!inventory.ok) return inventory;
    inventoryEnd = inventory.value.end;
    const collectors = installedOf(inventory.value.rows);
    parts.onUnreadable?.(inventory.value.unusable + collectors.filter(({ name }) => name === '').length);
    return { ok: true, value: { readAt, serviceAt, collectors } };
  }

  async function inventoryRowsOf({ rows, weight }: ListPage<SeenCollector>): Promise<ListPage<InventoryRow>> {
    const say = sayer('values');
    const read = (row: SeenCollector | null): InventoryRow | null => {
      if (row === null) return null;
      return { id: row.id, collector: isInstalled(row) ? fleetCollectorOf(row, say) : undefined };
    };
    return { rows: await mapInSlices(rows, turn, read), weight };
  }

  /** Makes a text of an answer fit to be kept (P12). */
  function sayer(kind: TextKind): Say {
    const hide = client.hider(kind);
    return (text) => boundText(hide(text));
  }

  async function askUpgradable(
    toBuild: string,
    isUrgent: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Answer<Upgradable>> {
    try {
      return await readings.ask(toBuild, isUrgent, signal);
    } catch (error) {
      if (signal?.aborted === true) return { ok: false, failure: { kind: 'cancelled', sent: false } };
      throw error;
    }
  }
}

function installedOf(rows: ReadonlyArray<InventoryRow | null>): readonly FleetCollector[] {
  const collectors: FleetCollector[] = [];
  for (const row of rows) if (row?.collector !== undefined) collectors.push(row.collector);
  return collectors;
}

function offered({ offeredAt }: Upgradable): Pick<CollectorObservation, 'upgradable' | 'offeredAt'> {
  return { upgradable: true, ...(offeredAt === null ? {} : { offeredAt }) };
}

/** The status that comes with this code is not documented (collector-api.md §7.4); what it says is "no such collector". */
function withGoneCollector<T>(answer: Answer<T> & { readonly ok: false }): Answer<never> {
  const { failure } = answer;
  if (failure.kind !== 'refused' || failure.code !== 'InvalidCollector') return answer;
  return { ok: false, failure: { kind: 'notFound', detail: failure.detail } };
}
