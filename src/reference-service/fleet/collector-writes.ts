import { isDeepStrictEqual } from 'node:util';
import type { EpochMs } from '../../base/time.ts';
import type { CollectorRegistry } from './collector-registry.ts';
import { fixedField, invalidField, missingField, serviceRefusal } from './refusals.ts';
import type { SimulatedCollector } from './simulated-collector.ts';
import { modifiableFields, readCollectorStatement, type Stated, type StatedUpdate } from './statements.ts';
import { checkIfMatch, collectorETag, collectorView } from './views.ts';

/**
 * Creates a Hosted Collector (collector-api.md §4.1); Installed ones register themselves.
 * @throws RefusedRequest with a code of collector-api.md §7.3
 */
export function createHostedCollector(
  registry: CollectorRegistry,
  stated: Stated,
  now: EpochMs,
): SimulatedCollector {
  if (Object.hasOwn(stated, 'id')) throw serviceRefusal('createValidationError');
  if (stated['collectorType'] !== 'Hosted') throw serviceRefusal('InvalidCollectorType');
  const { modifiable, unknown } = readCollectorStatement(stated, 'Hosted');
  const { name } = modifiable;
  if (name === undefined) throw missingField('name');
  if (registry.named(name, now) !== undefined) throw serviceRefusal('DuplicateResourceName');
  if (registry.isFull(now)) throw serviceRefusal('service.collectors.exceeded');
  const relative = readRelativeTime(stated['cutoffRelativeTime']);
  return registry.createHosted(
    {
      description: null,
      category: null,
      hostName: null,
      timeZone: null,
      targetCpu: null,
      cutoffTimestamp: 0,
      ephemeral: false,
      ...modifiable,
      ...(relative === undefined
        ? {}
        : { cutoffRelativeTime: relative.text, cutoffTimestamp: now + relative.offsetMs }),
      name,
      unknown,
    },
    now,
  );
}

/** Fields that can't be changed and are not transient, except `id` and `collectorType`, which have their own codes. */
const fixedFields = ['osName', 'osVersion', 'osArch', 'cutoffRelativeTime'] as const;

/** What an update clears that does not state them: clients leave out what is empty. */
const clearedFields = {
  description: null,
  category: null,
  hostName: null,
  timeZone: null,
  fields: {},
} as const;

/** Fields that every update must state. */
const leastFields = ['name'];

/**
 * According to the letter of collector-api.md §4.4, an update states each of these that a GET shows, including transient
 * ones.
 */
const wholeFields = [...modifiableFields, 'alive', 'collectorVersion', 'osName', 'osVersion', 'osArch'];

/**
 * Updates a collector by the rules of collector-api.md §4.4. Stated fields are checked. Optional texts and fields
 * that are not stated are cleared, unless the scenario keeps them. What else is not stated stays as it is.
 * @throws RefusedRequest with a code of collector-api.md §7.3, or one of the ETag's
 */
export function updateCollector(
  registry: CollectorRegistry,
  collector: SimulatedCollector,
  { stated, ifMatch, isStrict, clearsUnstated, now }: StatedUpdate,
): void {
  checkIfMatch(ifMatch, collectorETag(collector));
  const { facts } = collector;
  if (stated['id'] !== facts.id) throw serviceRefusal('BadRequestCollectorId');
  if (stated['collectorType'] !== undefined && stated['collectorType'] !== facts.collectorType) {
    throw serviceRefusal('InvalidCollectorType');
  }
  const current: Stated = collectorView(collector, now);
  const missing = (isStrict ? wholeFields : leastFields).find(
    (field) => current[field] !== undefined && stated[field] === undefined,
  );
  if (missing !== undefined) throw missingField(missing);
  const changed = fixedFields.find(
    (field) => stated[field] !== undefined && !isDeepStrictEqual(stated[field], facts[field] ?? null),
  );
  if (changed !== undefined) throw fixedField(changed);
  const { modifiable, unknown } = readCollectorStatement(stated, facts.collectorType);
  const name = modifiable.name ?? facts.name;
  if (name !== facts.name && registry.named(name, now) !== undefined)
    throw serviceRefusal('DuplicateResourceName');
  const cleared = clearsUnstated ? clearedFields : {};
  const kept = { ...facts, ...cleared, ...modifiable };
  registry.change(collector, { ...kept, unknown: { ...facts.unknown, ...unknown } });
}

const hourMs = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs };

/** A negative offset in hours, days or weeks, such as `-1d` (collector-api.md §2.1). */
function readRelativeTime(stated: unknown): { readonly text: string; readonly offsetMs: number } | undefined {
  if (stated === undefined || stated === null) return undefined;
  const match = typeof stated === 'string' ? /^-(\d{1,6})([hdw])$/.exec(stated) : null;
  const oneMs = unitMs[match?.[2] ?? ''];
  if (match === null || oneMs === undefined) throw invalidField('cutoffRelativeTime');
  return { text: match[0], offsetMs: -Number(match[1]) * oneMs };
}
