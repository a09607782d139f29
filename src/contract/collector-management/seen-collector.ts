import { z } from 'zod';
import { readAsList } from '../operation.ts';
import { Collector, getCollector, getCollectorByName, listCollectors } from './collectors.ts';
import { listUpgradableCollectors } from './upgrades.ts';

const { shape } = Collector;

/** As the specification's, without a check of each entry. */
const Fields = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/**
 * What the loops use of a collector, who write nothing back. A value of another type than the specification's
 * (collector-api.md §2.1) is as good as none, so that one odd value makes no collector unreadable (P13); without a
 * readable name it is empty. Whatever else the service sends is left out.
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

/** Whoever asks for one knows which. */
const One = z.object({ collector: SeenCollector.extend({ id: shape.id.nullable().catch(null) }) });
const one = { status: 200, body: One } as const;

/** The operations that show collectors, for who looks. */
export const seeCollector = { ...getCollector, answer: one };
export const seeCollectorByName = { ...getCollectorByName, answer: one };
export const seeCollectors = readAsList(listCollectors, 'collectors', SeenCollector);

/** What the upgradable list is read for, many times an hour. */
const { id, collectorType, alive, lastSeenAlive, collectorVersion } = SeenCollector.shape;
const ListedCollector = z.object({ id, collectorType, alive, lastSeenAlive, collectorVersion });
export const seeUpgradableCollectors = readAsList(listUpgradableCollectors, 'collectors', ListedCollector);
