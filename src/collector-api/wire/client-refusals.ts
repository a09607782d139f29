import type {
  collectorErrorCodes,
  createUpgradeCodes,
  sourceErrorCodes,
} from '../../contract/collector-management/errors.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

/** What the client refuses by itself, before anything is sent. */
type ClientRefusalCode =
  /** The service can't be asked for a collector of this name (collector-api.md §4.1, Rules for Get by name). */
  | 'client.name.unsupported'
  /** An update would have to be made without the ETag of a previous GET (collector-api.md §4.4). */
  | 'client.etag.missing'
  /** A field that the service does not let anyone change (collector-api.md §2.1, Access). */
  | 'client.field.fixed';

/** Every code that the interface documents (collector-api.md §7), and the client's own. */
export type KnownCode =
  | (typeof collectorErrorCodes)[number]
  | (typeof sourceErrorCodes)[number]
  | (typeof createUpgradeCodes)[number]
  | 'forbidden'
  | ClientRefusalCode;

/** Whether the answer was a no with this code, under whatever HTTP status. */
export function isRefusedWith(failure: ServiceFailure, code: KnownCode): boolean {
  return (failure.kind === 'refused' || failure.kind === 'notFound') && failure.code === code;
}

/** The name of a stale ETag on the wire (field-facts.md, The wire). The specification names none. */
const staleETagCode = 'service.etagid.mismatch';

/** Someone else changed the resource since it was read. 412 is what HTTP itself has for it. */
export function isConflict(failure: ServiceFailure): boolean {
  return failure.kind === 'refused' && (failure.code === staleETagCode || failure.status === 412);
}

export function refuse(code: ClientRefusalCode, detail: string): Answer<never> & { readonly ok: false } {
  return { ok: false, failure: { kind: 'refused', code, detail } };
}
