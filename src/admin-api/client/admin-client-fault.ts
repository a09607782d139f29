import { AdminErrorBody } from '../../contract/admin/api.ts';
import type { HttpFault } from '../../http/fault.ts';

/** Why the daemon did not do what it was asked. */
export type AdminClientFaultKind =
  /** Nobody answers there, or somebody else does. */
  | 'unreachable'
  /** The token is missing or wrong. */
  | 'unauthorized'
  /** The token's role, this machine, or this many wrong tokens may not ask. */
  | 'forbidden'
  /** The verb is not legal in this state; the message says why. */
  | 'refused'
  /** There is no such rollout. */
  | 'notFound'
  /** The daemon lives, but Redis is away. */
  | 'unavailable'
  /** Anything else: a bad request of ours, or a bug of the daemon. */
  | 'failed';

/** A call to the daemon that brought no result. The message is for an operator, and holds no secret (P12). */
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
  // Too many wrong tokens from here.
  429: 'forbidden',
  503: 'unavailable',
};

/** Reads what went wrong on the way to the daemon, or at it. */
export function readFault(fault: HttpFault, baseUrl: string): AdminClientFault {
  const body = AdminErrorBody.safeParse(fault.body);
  if (fault.kind === 'status' && fault.status !== undefined && body.success) {
    return new AdminClientFault(kindOfStatus[fault.status] ?? 'failed', body.data.message, { cause: fault });
  }
  // JSON, such as that of a daemon of another version.
  if (fault.kind === 'undecodable' && fault.body !== undefined) {
    const message = `the answer of ${baseUrl} has another form than this version of upwave expects (${fault.problem}): it is another version, or another program`;
    return new AdminClientFault('unreachable', message, { cause: fault });
  }
  // An answer that is not in our words is not from our daemon: another program has the port.
  const stranger = fault.kind === 'status' || fault.kind === 'undecodable';
  const message = stranger
    ? `no upwave daemon answers at ${baseUrl}`
    : `no answer from ${baseUrl}: ${fault.problem}`;
  return new AdminClientFault('unreachable', message, { cause: fault });
}
