import { parseCollectorId } from '../../base/names.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import { pageUpgradeTargets } from '../../contract/collector-management/listed-rows.ts';
import { seeCollector, seeCollectorByName } from '../../contract/collector-management/seen-collector.ts';
import { createUpgradeTask, getUpgradeTask } from '../../contract/collector-management/upgrades.ts';
import { type Answer, type FleetService, sendWithinMs } from '../../orchestrator/ports/fleet-service.ts';
import { requestByName } from '../wire/collector-name.ts';
import type { ServedAnswer } from '../wire/service-call.ts';
import type { ServiceClient } from '../wire/service-client.ts';
import { isInstalled, makeFleetCollectorReader } from './fleet-collector.ts';
import { type FleetReadingParts, makeSafeText, pageAttemptsMax } from './fleet-reading.ts';
import { makeReadInventory } from './inventory.ts';
import { pollCollector, withGoneCollector } from './poll-collector.ts';
import { makeSharedReading } from './shared-reading.ts';
import { makeUpgradableReadings, readUpgradable } from './upgradable-readings.ts';
import { makeReadUpgradable } from './watched-offers.ts';

export interface FleetServiceParts extends Pick<FleetReadingParts, 'client' | 'clock' | 'sleep'> {
  /** Rows per page. Default: the service's default for collectors, which it also accepts for the upgradable list. */
  readonly pageSize?: number;
  /** Called with each inventory: how many of its rows have no readable id or name. */
  readonly onUnreadable: (rows: number) => void;
}

export interface RunningFleetService extends FleetService {
  /** Ends shared readings and closes connections. Calls in progress end as `cancelled`. */
  close(): Promise<void>;
}

/** The Collector Management Service as the port of the loops. */
export function makeFleetService(parts: FleetServiceParts): RunningFleetService {
  const { client } = parts;
  const reading = { ...parts, pageSize: parts.pageSize ?? serviceLimits.collectorPageSizeDefault };
  const closing = new AbortController();
  const readings = makeUpgradableReadings(reading, closing.signal);
  const readInventory = makeReadInventory(reading);
  const shareInventory = makeSharedReading(
    () => 'inventory',
    (_all: null, onStart) => readInventory({ onPage: null, onStart, signal: closing.signal }),
  );
  return {
    listBuilds: (signal) => listBuilds(client, signal),
    readFleet: async (targetBuild, signal) => {
      const inventory = await readInventory({ onPage: null, signal });
      if (!inventory.ok) return inventory;
      // Read after the inventory, so that a collector which registers in between does not look like one that can't be
      // upgraded.
      const upgradable = await readUpgradable(reading, {
        toBuild: targetBuild,
        budgetClass: 'page',
        attemptsMax: pageAttemptsMax,
        signal,
      });
      if (!upgradable.ok) return upgradable;
      // Without a name, exclusions by name can't be checked (P5).
      const collectors = inventory.value.collectors.filter(({ name }) => name !== '');
      const { ids: upgradableIds, offeredAt } = upgradable.value;
      return { ok: true, value: { ...inventory.value, collectors, upgradableIds, offeredAt } };
    },
    // Concurrent checks whether collectors are gone share one reading of the whole inventory.
    readInventory: (onPage, signal) =>
      onPage === null ? shareInventory(null, signal) : readInventory({ onPage, signal }),
    readUpgradable: makeReadUpgradable(reading),
    findCollector: (idOrName, signal) => findCollector(client, idOrName, signal),
    reserveCreate: (task, signal) => reserveCreate(client, task, signal),
    pollTask: (taskId, signal) => pollTask(client, taskId, signal),
    pollCollector: (poll, signal) => pollCollector({ client, readings }, poll, signal),
    close: async () => {
      closing.abort();
      await client.close();
    },
  };
}

type Method<Name extends keyof FleetService> = (
  client: ServiceClient,
  ...args: Parameters<FleetService[Name]>
) => ReturnType<FleetService[Name]>;

const listBuilds: Method<'listBuilds'> = async (client, signal) => {
  const answer = await client.call(pageUpgradeTargets, {}, { budgetClass: 'poll', signal });
  if (!answer.ok) return answer;
  const safeText = makeSafeText(client, 'values');
  const builds = answer.value.body.rows.flatMap((row) =>
    row === null ? [] : [{ version: safeText(row.version), latest: row.latest === true }],
  );
  return { ok: true, value: builds };
};

const findCollector: Method<'findCollector'> = async (client, idOrName, signal) => {
  const id = parseCollectorId(idOrName);
  const budgetClass = 'operator';
  const answer =
    id === undefined
      ? await requestByName(idOrName, ({ params, trailingSlash }) =>
          client.call(seeCollectorByName, { params }, { budgetClass, trailingSlash, signal }),
        )
      : await client.call(seeCollector, { params: { id } }, { budgetClass, signal });
  if (!answer.ok) {
    const gone = withGoneCollector(answer);
    return gone.failure.kind === 'notFound' ? { ok: true, value: undefined } : gone;
  }
  const { collector } = answer.value.body;
  const { id: foundId } = collector;
  if (foundId === null || !isInstalled(collector)) return { ok: true, value: undefined };
  const collectorOf = makeFleetCollectorReader(makeSafeText(client, 'values'));
  return { ok: true, value: collectorOf({ ...collector, id: foundId }) };
};

// A 64-bit number has 20 digits, a UUID 36 characters. A longer text is no id, and a truncated one would name another
// task.
const taskIdLengthMax = 64;

const reserveCreate: Method<'reserveCreate'> = async (client, { collectorId, toBuild }, signal) => {
  const body = { collectorId, toVersion: toBuild };
  const reserved = await client.reserve(
    createUpgradeTask,
    { body },
    { budgetClass: 'create', leaveWithinMs: sendWithinMs, signal },
  );
  if (!reserved.ok) return reserved;
  const { send, giveUp } = reserved.value;
  return { ok: true, value: { giveUp, send: async () => readTaskId(client, await send()) } };
};

function readTaskId(
  client: ServiceClient,
  answer: ServedAnswer<{ readonly id: string }>,
): Answer<{ readonly taskId: string }> {
  if (!answer.ok) return answer;
  const taskId = answer.value.body.id;
  if (taskId.length > taskIdLengthMax || makeSafeText(client, 'values')(taskId) !== taskId) {
    const detail = `createUpgradeTask: returned ${taskId.length} characters that are no valid task id.`;
    return { ok: false, failure: { kind: 'unavailable', sent: true, detail } };
  }
  return { ok: true, value: { taskId } };
}

const pollTask: Method<'pollTask'> = async (client, upgradeTaskId, signal) => {
  const params = { upgradeTaskId };
  const answer = await client.call(getUpgradeTask, { params }, { budgetClass: 'poll', signal });
  if (!answer.ok) return answer;
  const { body, serviceAt } = answer.value;
  const { status } = body.upgrade;
  const message = makeSafeText(client, 'words')(body.upgrade.message ?? '');
  return { ok: true, value: { status, message, serviceAt } };
};
