import { serviceLimits } from '../../contract/collector-management/limits.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';

/**
 * The documented codes of collectors and sources. Most statuses are our choice, because the specification has none
 * (collector-api.md §7.3–7.5, end). Those seen in real services are the same here (field-facts.md, The wire).
 */
const refusals = {
  BadRequestCollectorId: [400, 'the request body contains an invalid collector ID'],
  BadRequestBladeId: [400, 'the request body contains an invalid source ID'],
  CannotModifyCollector: [403, 'the user is not authorized to modify the collector'],
  CannotModifySources: [
    403,
    'the collector is in JSON mode: its sources cannot be created, deleted or updated through the API',
  ],
  CollectorDescriptionTooLong: [400, 'the maximum description length is 1024 characters'],
  CollectorNameTooLong: [400, 'the maximum name length is 128 characters'],
  createValidationError: [400, 'the specified ID is invalid'],
  DuplicateResourceName: [400, 'a resource with the same name already exists'],
  EmptySourceType: [400, 'a source type must be specified'],
  InvalidCollector: [404, 'the specified collector ID is invalid'],
  InvalidCollectorType: [400, 'invalid collector type for the requested operation'],
  InvalidSourceType: [400, 'invalid source type for the requested operation'],
  /** Not documented: our choice. */
  'service.collectors.exceeded': [400, `an account has at most ${serviceLimits.collectorsMax} collectors`],
  forbidden: [403, 'the operation is not allowed for this user or account type'],
  /** For the ETags of collector-api.md §4.4: codes as seen, statuses our choice. */
  'service.ifthen.missing': [400, 'an update needs an If-Match header with the ETag of a previous GET'],
  'service.ifthen.notquoted': [400, 'the ETag in If-Match must be quoted, as in the GET'],
  'service.etagid.mismatch': [412, 'the resource has changed since the GET with this ETag'],
  /** The five codes of a create (collector-api.md §7.5). */
  'collector.invalid': [400, 'the collector ID is missing or does not exist'],
  'collector.type.invalid': [400, 'the collector is hosted, not installed'],
  'collector.not.alive': [400, 'the collector is not running'],
  'collector.in.upgrading': [400, 'the collector is currently being upgraded'],
  'collector.version.invalid': [400, 'the version is missing or not valid'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export function serviceRefusal(code: keyof typeof refusals): RefusedRequest {
  const [status, message] = refusals[code];
  return new RefusedRequest(status, code, message);
}

/** A field with a wrong type or out of its bounds, without a documented code. */
export function invalidField(field: string): RefusedRequest {
  return new RefusedRequest(400, `service.${field}.invalid`, `invalid value for "${field}"`);
}

/** A field that the request must state (collector-api.md §4.4, rule 3). */
export function missingField(field: string): RefusedRequest {
  return new RefusedRequest(400, `service.${field}.missing`, `"${field}" must be stated`);
}

/** A field that must equal the stored one (collector-api.md §2.1, Access). */
export function fixedField(field: string): RefusedRequest {
  return new RefusedRequest(400, `service.${field}.notmodifiable`, `"${field}" cannot be modified`);
}
