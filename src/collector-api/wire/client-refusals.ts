import type {
  collectorErrorCodes,
  createUpgradeCodes,
  sourceErrorCodes,
} from '../../contract/collector-management/errors.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

/** What this client refuses before it sends anything. */
type ClientRefusalCode =
  /** The API can't express a collector's name (collector-api.md §4.1, Rules for Get by name). */
  | 'client.name.unsupported'
  /** There is no ETag of a previous GET for an update (collector-api.md §4.4). */
  | 'client.etag.missing'
  /** A field that can't be changed (collector-api.md §2.1, Access). */
  | 'client.field.fixed';

/** Every documented error code (collector-api.md §7), and this client's own. */
export type KnownCode =
  | (typeof collectorErrorCodes)[number]
  | (typeof sourceErrorCodes)[number]
  | (typeof createUpgradeCodes)[number]
  | 'forbidden'
  | ClientRefusalCode;

/** True for a refusal with this code, whatever its HTTP status. */
export function isRefusedWith(failure: ServiceFailure, code: KnownCode): boolean {
  return (failure.kind === 'refused' || failure.kind === 'notFound') && failure.code === code;
}

/** The code for a stale ETag on the wire (field-facts.md, The wire). The specification names none. */
const staleETagCode = 'service.etagid.mismatch';

/** True when someone else changed the resource since it was read. HTTP's own status for it is 412. */
export function isConflict(failure: ServiceFailure): boolean {
  return failure.kind === 'refused' && (failure.code === staleETagCode || failure.status === 412);
}

export function refuseUnsent(
  code: ClientRefusalCode,
  detail: string,
): Answer<never> & { readonly ok: false } {
  return { ok: false, failure: { kind: 'refused', code, detail } };
}
