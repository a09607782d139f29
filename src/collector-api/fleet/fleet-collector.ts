import type { SeenCollector } from '../../contract/collector-management/seen-collector.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';

/** `filter=installed` asks for no other; a service that ignores it must not get hosted ones into a plan. */
export function isInstalled(collector: Pick<SeenCollector, 'collectorType'>): boolean {
  return collector.collectorType !== 'Hosted';
}

/**
 * A row of the service in our words; what real answers leave out is empty here (field-facts.md, The wire).
 * @param say makes a text of the service fit to be kept (P12)
 */
export function fleetCollectorOf(collector: SeenCollector, say: (text: string) => string): FleetCollector {
  const text = (value: string | null | undefined) => say(value ?? '');
  return {
    id: collector.id,
    name: text(collector.name),
    category: text(collector.category),
    hostName: text(collector.hostName),
    osName: text(collector.osName),
    osArch: text(collector.osArch),
    build: text(collector.collectorVersion),
    alive: collector.alive ?? false,
    lastSeenAlive: collector.lastSeenAlive ?? undefined,
    ephemeral: collector.ephemeral ?? false,
    sourceSyncMode: text(collector.sourceSyncMode),
    timeZone: text(collector.timeZone),
    fields: textsOf(collector.fields ?? {}, say),
  };
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
