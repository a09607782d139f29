import { z } from 'zod';

/** The documented error body (collector-api.md §7.1). */
export const FlatErrorBody = z
  .looseObject({
    status: z.number().optional().describe('The HTTP status.'),
    id: z.string().optional().describe('Identifies this occurrence of the error.'),
    code: z.string().describe('For programs; an open set.'),
    message: z.string().optional().describe('For people.'),
  })
  .meta({
    id: 'ServiceError',
    examples: [
      {
        status: 429,
        id: '4XJQ1-A7K2P-09QLM',
        code: 'rate.limit.exceeded',
        message: 'Too many requests. Slow down.',
      },
    ],
  });

/** A gateway's error body (field-facts.md, The wire). Only its first error is used. */
const ListErrorBody = z.object({ id: z.string().optional(), errors: z.array(z.unknown()) });
const ListedError = z.object({ code: z.string(), message: z.string().optional() });

/** An error in a common form, whichever of the three body shapes it had. HTML has no code. */
export interface ServiceErrorInfo {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly instanceId: string | undefined;
}

/**
 * Parses an error body: flat, `errors[]`, or anything else (HTML, empty), which has no code (P13). Codes on the wire are
 * mapped to the documented names.
 */
export function parseServiceError(body: unknown): ServiceErrorInfo {
  const flat = FlatErrorBody.safeParse(body);
  if (flat.success) {
    return { code: documentedCode(flat.data.code), message: flat.data.message, instanceId: flat.data.id };
  }
  const list = ListErrorBody.safeParse(body);
  const first = ListedError.safeParse(list.data?.errors[0]).data;
  if (first !== undefined)
    return { code: documentedCode(first.code), message: first.message, instanceId: list.data?.id };
  return { code: undefined, message: undefined, instanceId: undefined };
}

/** Other names of documented codes on the wire. */
export const wireCodes: Readonly<Record<string, string>> = {
  // Seen in the field (field-facts.md, The wire).
  'collectors.validation.name.duplicate': 'DuplicateResourceName',
  'collectors.collector.invalid': 'InvalidCollector',
  'collectors.collector.forbidden': 'CannotModifyCollector',
  'collectors.collector.request.id.invalid': 'BadRequestCollectorId',
  'collectors.source.request.id.invalid': 'BadRequestBladeId',
  'collectors.collector.type.invalid': 'InvalidCollectorType',
  'collectors.source.type.invalid': 'InvalidSourceType',
  // Not seen: derived from the pattern of the others.
  'collectors.validation.name.toolong': 'CollectorNameTooLong',
  'collectors.validation.description.toolong': 'CollectorDescriptionTooLong',
  'collectors.validation.id.invalid': 'createValidationError',
  'collectors.source.type.empty': 'EmptySourceType',
  'collectors.source.forbidden': 'CannotModifySources',
};

function documentedCode(code: string): string {
  return Object.hasOwn(wireCodes, code) ? (wireCodes[code] ?? code) : code;
}

/** The five codes of a refused create (collector-api.md §7.5), all with status 400. */
export const createUpgradeCodes = [
  'collector.invalid',
  'collector.type.invalid',
  'collector.not.alive',
  'collector.in.upgrading',
  'collector.version.invalid',
] as const;

/** The codes of the Collector endpoints (collector-api.md §7.3). */
export const collectorErrorCodes = [
  'BadRequestCollectorId',
  'CannotModifyCollector',
  'CollectorDescriptionTooLong',
  'CollectorNameTooLong',
  'createValidationError',
  'DuplicateResourceName',
  'InvalidCollector',
  'InvalidCollectorType',
] as const;

/** The codes of the Source endpoints (collector-api.md §7.4). */
export const sourceErrorCodes = [
  'BadRequestBladeId',
  'CannotModifySources',
  'CollectorDescriptionTooLong',
  'CollectorNameTooLong',
  'createValidationError',
  'DuplicateResourceName',
  'EmptySourceType',
  'InvalidSourceType',
] as const;
