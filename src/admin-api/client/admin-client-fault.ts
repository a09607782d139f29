import { z } from 'zod';
import { AdminErrorBody } from '../../contract/admin/api.ts';
import type { HttpFault } from '../../http/fault.ts';

/** Why a call to the daemon failed. */
export type AdminClientFaultKind =
  /** No answer. */
  | 'unreachable'
  /** The answer of another program, or of another version of upwave. */
  | 'otherProgram'
  /** The token is missing or wrong. */
  | 'unauthorized'
  /** Refused because of the token's role, the client's address, or too many wrong tokens. */
  | 'forbidden'
  /** The verb is not legal in this state. The message has the reason. */
  | 'refused'
  /** There is no such rollout. */
  | 'notFound'
  /** The daemon runs, but Redis is unavailable. */
  | 'unavailable'
  /** Anything else: a bad request of ours, or a bug of the daemon. */
  | 'failed';

/** A failed call to the daemon. The message is for an operator, and contains no secret (P12). */
export class AdminClientFault extends Error {
  override readonly name = 'AdminClientFault';
  readonly kind: AdminClientFaultKind;

  constructor(kind: AdminClientFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

const kindOfStatus: Readonly<Record<number, AdminClientFaultKind>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  409: 'refused',
  // Too many wrong tokens from this address.
  429: 'forbidden',
  503: 'unavailable',
};

/**
 * A 401 of upwave. Any other program that asks for credentials answers 401 as well, often with a code and a message: a token of
 * upwave would not help there. The service that upwave calls has the same code, and more keys.
 */
const UnauthorizedBody = AdminErrorBody.strict().extend({ code: z.literal('unauthorized') });

/** Classifies an error on the way to the daemon, or of the daemon. */
export function readFault(fault: HttpFault, baseUrl: string): AdminClientFault {
  const schema = fault.status === 401 ? UnauthorizedBody : AdminErrorBody;
  const body = schema.safeParse(fault.body);
  if (fault.kind === 'status' && fault.status !== undefined && body.success) {
    return new AdminClientFault(kindOfStatus[fault.status] ?? 'failed', body.data.message, { cause: fault });
  }
  // JSON of another form, such as from a daemon of another version.
  if (fault.kind === 'undecodable' && typeof fault.body === 'object') {
    const message = `the answer of ${baseUrl} has another form than this version of upwave expects (${fault.problem}): it has another version, or is another program`;
    return new AdminClientFault('otherProgram', message, { cause: fault });
  }
  if (fault.kind !== 'status' && fault.kind !== 'undecodable') {
    const message = `no answer from ${baseUrl}: ${fault.problem}`;
    return new AdminClientFault('unreachable', message, { cause: fault });
  }
  if (fault.status !== undefined && gatewayStatuses.has(fault.status)) {
    const message = `no upwave daemon answers at ${baseUrl}: a proxy before it answered ${answerText(fault)}`;
    return new AdminClientFault('unreachable', message, { cause: fault });
  }
  const message = `${baseUrl} is not upwave's admin API: it answered ${answerText(fault)}`;
  return new AdminClientFault('otherProgram', message, { cause: fault });
}

// Of a proxy that cannot reach the daemon. The daemon's own 503 has our format.
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/** `404 with HTML`. */
function answerText({ status, headers, body, isJson }: HttpFault): string {
  if (status === undefined) return 'something that is not HTTP';
  if (/\bhtml\b/i.test(headers['content-type'] ?? '')) return `${status} with HTML`;
  if (!isJson || typeof body === 'string') return `${status} with a text that is not JSON`;
  return body === undefined ? `${status}` : `${status} with JSON of another form`;
}
