import type { SeenCollector } from '../../contract/collector-management/seen-collector.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';
import { makeTextPool, type TextPool } from './text-pool.ts';

/** `filter=installed` asks for no other; a service that ignores it must not get hosted ones into a plan. */
export function isInstalled(collector: Pick<SeenCollector, 'collectorType'>): boolean {
  return collector.collectorType !== 'Hosted';
}

/**
 * Reads rows of the service in our words; what real answers leave out is empty here (field-facts.md, The wire).
 * @param say makes a text of the service fit to be kept (P12)
 * @param pool of the reading that the rows belong to
 */
export function makeFleetCollectorReader(
  say: (text: string) => string,
  pool: TextPool = makeTextPool(),
): (collector: SeenCollector) => FleetCollector {
  const text = (value: string | null | undefined) => say(value ?? '');
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
    fields: pool.fields(textsOf(collector.fields ?? {}, (value) => pool.text(say(value)))),
  });
}

function textsOf(
  fields: Readonly<Record<string, unknown>>,
  say: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [say(key), say(textOf(value))]));
}

/** As JSON, since an object may bring a `toString` of its own. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
