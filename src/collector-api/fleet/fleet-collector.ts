import type { SeenCollector } from '../../contract/collector-management/seen-collector.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';
import { makeTextPool, type TextPool } from './text-pool.ts';

/**
 * False for hosted collectors. `filter=installed` excludes them, but a service that ignores the filter must not get
 * them into a plan.
 */
export function isInstalled(collector: Pick<SeenCollector, 'collectorType'>): boolean {
  return collector.collectorType !== 'Hosted';
}

/**
 * Makes a function that converts rows of the service. Fields that real responses leave out are empty (field-facts.md,
 * The wire).
 * @param safeText makes a text of the service safe to store (P12)
 * @param pool the text pool of the list that is read
 */
export function makeFleetCollectorReader(
  safeText: (text: string) => string,
  pool: TextPool = makeTextPool(),
): (collector: SeenCollector) => FleetCollector {
  const text = (value: string | null | undefined) => safeText(value ?? '');
  const shared = (value: string | null | undefined) => pool.text(text(value));
  return (collector) => ({
    id: collector.id,
    name: text(collector.name),
    category: shared(collector.category),
    hostName: text(collector.hostName),
    osName: shared(collector.osName),
    osArch: shared(collector.osArch),
    build: shared(collector.collectorVersion),
    alive: collector.alive ?? false,
    lastSeenAlive: collector.lastSeenAlive ?? undefined,
    ephemeral: collector.ephemeral ?? false,
    sourceSyncMode: shared(collector.sourceSyncMode),
    timeZone: shared(collector.timeZone),
    fields: pool.fields(textsOf(collector.fields ?? {}, (value) => pool.text(safeText(value)))),
  });
}

function textsOf(
  fields: Readonly<Record<string, unknown>>,
  safeText: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [safeText(key), safeText(textOf(value))]),
  );
}

/** Uses JSON, because an object may have a `toString` of its own. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
