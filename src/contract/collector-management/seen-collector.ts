import { z } from 'zod';
import { readAsList } from '../operation.ts';
import { Collector, getCollector, getCollectorByName, listCollectors } from './collectors.ts';
import { listUpgradableCollectors } from './upgrades.ts';

const { shape } = Collector;

/** An object as specified, without checking each entry. */
const Fields = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/**
 * The fields of a collector that the loops read. A value of another type than specified (collector-api.md §2.1) counts as
 * absent, so that one invalid value makes no collector unreadable (P13). An unreadable name is empty. Other fields are
 * dropped.
 */
export const SeenCollector = z.object({
  id: shape.id,
  name: shape.name.catch(''),
  collectorType: shape.collectorType.catch(undefined),
  category: shape.category.catch(undefined),
  hostName: shape.hostName.catch(undefined),
  timeZone: shape.timeZone.catch(undefined),
  fields: Fields.nullish().catch(undefined),
  ephemeral: shape.ephemeral.catch(undefined),
  sourceSyncMode: shape.sourceSyncMode.catch(undefined),
  alive: shape.alive.catch(undefined),
  lastSeenAlive: shape.lastSeenAlive.catch(undefined),
  collectorVersion: shape.collectorVersion.catch(undefined),
  osName: shape.osName.catch(undefined),
  osArch: shape.osArch.catch(undefined),
});
export type SeenCollector = z.infer<typeof SeenCollector>;

/** The id may be unreadable, because the request already names the collector. */
const One = z.object({ collector: SeenCollector.extend({ id: shape.id.nullable().catch(null) }) });
const one = { status: 200, body: One } as const;

/** The operations that return collectors, for code that only reads. */
export const seeCollector = { ...getCollector, answer: one };
export const seeCollectorByName = { ...getCollectorByName, answer: one };
export const seeCollectors = readAsList(listCollectors, 'collectors', SeenCollector);

/** The fields of the upgradable list, which is read many times an hour. */
const { id, collectorType, alive, lastSeenAlive, collectorVersion } = SeenCollector.shape;
const ListedCollector = z.object({ id, collectorType, alive, lastSeenAlive, collectorVersion });
export const seeUpgradableCollectors = readAsList(listUpgradableCollectors, 'collectors', ListedCollector);
