import type { EpochMs } from '../../base/time.ts';
import { sourceNameOf } from '../../contract/collector-management/sources.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';
import { missingField, serviceRefusal } from './refusals.ts';
import type { CollectorSource, SimulatedCollector } from './simulated-collector.ts';
import type { SourceRegistry } from './source-registry.ts';
import { readSourceStatement, type Stated, type StatedUpdate } from './statements.ts';
import { checkIfMatch, sourceETag } from './views.ts';

/** @throws RefusedRequest with a code of collector-api.md §7.4 */
export function createSource(
  registry: SourceRegistry,
  collector: SimulatedCollector,
  stated: Stated,
  now: EpochMs,
): CollectorSource {
  refuseInJsonMode(collector);
  if (Object.hasOwn(stated, 'id')) throw serviceRefusal('createValidationError');
  const kept = readSourceStatement(stated, (type) => registry.isCloudToCloud(type));
  if (registry.needsOAuth(String(kept['sourceType']))) throw serviceRefusal('InvalidSourceType');
  if (registry.isNameTaken(collector, sourceNameOf(kept), now)) throw serviceRefusal('DuplicateResourceName');
  return registry.add(collector, kept, now);
}

/**
 * Replaces a source by the stated fields (collector-api.md §4.4). An optional field that is not stated is removed.
 * @throws RefusedRequest with a code of collector-api.md §7.4, or one of the ETag's
 */
export function updateSource(
  registry: SourceRegistry,
  target: { readonly collector: SimulatedCollector; readonly source: CollectorSource },
  { stated, ifMatch, isStrict, now }: StatedUpdate,
): CollectorSource {
  const { collector, source } = target;
  refuseInJsonMode(collector);
  checkIfMatch(ifMatch, sourceETag(source));
  if (source.stoppedAt !== undefined) {
    throw new RefusedRequest(400, 'service.source.stopping', 'the source is being deleted');
  }
  if (stated['id'] !== source.id) throw serviceRefusal('BadRequestBladeId');
  const kept = readSourceStatement(stated, (type) => registry.isCloudToCloud(type));
  if (kept['sourceType'] !== source.stated['sourceType']) throw serviceRefusal('InvalidSourceType');
  const missing = Object.keys(source.stated).find((field) => !Object.hasOwn(kept, field));
  if (isStrict && missing !== undefined) throw missingField(missing);
  const name = sourceNameOf(kept);
  if (name !== sourceNameOf(source.stated) && registry.isNameTaken(collector, name, now)) {
    throw serviceRefusal('DuplicateResourceName');
  }
  const updated: CollectorSource = { ...source, stated: kept };
  registry.replace(collector, updated, now);
  return updated;
}

/** @throws RefusedRequest `CannotModifySources` for a collector in JSON mode */
export function deleteSource(
  registry: SourceRegistry,
  target: { readonly collector: SimulatedCollector; readonly source: CollectorSource },
  now: EpochMs,
): void {
  refuseInJsonMode(target.collector);
  registry.remove(target.collector, target.source, now);
}

function refuseInJsonMode({ facts }: SimulatedCollector): void {
  if (facts.sourceSyncMode === 'Json') throw serviceRefusal('CannotModifySources');
}
