import type { AdminErrorBody } from '../../contract/admin/api.ts';
import type { HttpAnswer } from '../../http/operation-handlers.ts';

/** Every kind of refusal of the admin API, with its HTTP status. */
export const adminFaultStatuses = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  refused: 409,
  tooLarge: 413,
  tooManyAttempts: 429,
  internal: 500,
  unavailable: 503,
} as const;
export type AdminFaultKind = keyof typeof adminFaultStatuses;

/** A request that is answered with an error body. */
export class AdminFault extends Error {
  override readonly name = 'AdminFault';
  readonly kind: AdminFaultKind;

  constructor(kind: AdminFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The answer for a fault. */
export function faultAnswer(
  kind: AdminFaultKind,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const body: AdminErrorBody = { code: kind, message };
  return { status: adminFaultStatuses[kind], headers, body };
}

/** For a path that leads nowhere. */
export const noResourceText = 'no resource has this path';
