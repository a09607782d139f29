import type { IncomingHttpHeaders } from 'node:http';

/** Why a call brought no answer of the kind that its contract names. */
export type HttpFaultKind =
  /** No connection: name, route, TLS. Nothing was sent. */
  | 'connect'
  /** One of the time limits ran out. */
  | 'timeout'
  /** The connection broke before the answer was complete. */
  | 'reset'
  /** The caller gave up, the client was closed, or its turn came after its `leaveBy`. */
  | 'aborted'
  /** A complete answer, but not a 2xx. */
  | 'status'
  /** A 2xx whose body is not what the contract names: HTML, broken JSON, another shape, nested too deep; or no HTTP at all. */
  | 'undecodable'
  /** More bytes than we are willing to hold. */
  | 'tooLarge';

interface HttpFaultParts {
  readonly kind: HttpFaultKind;
  /** The call, by its name in the contract. */
  readonly operation: string;
  readonly problem: string;
  readonly sent: boolean;
  readonly status?: number | undefined;
  readonly headers?: IncomingHttpHeaders | undefined;
  readonly body?: unknown;
  readonly isJson?: boolean;
  readonly cause?: unknown;
}

/** An operating fault of a call. Holds nothing of the request and no cookie of the answer, so it may be logged (P12). */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly kind: HttpFaultKind;
  /** The message without the name of the call. */
  readonly problem: string;
  /** True when the request, or a part of it, may have reached the service. */
  readonly sent: boolean;
  /** The answer's status; undefined when none came. */
  readonly status: number | undefined;
  /** The answer's headers without `set-cookie`; empty when none came. */
  readonly headers: IncomingHttpHeaders;
  /** The error body as parsed JSON; undefined when it was none. */
  readonly body: unknown;
  /** False for an answer with a body that is not JSON, such as a gateway's HTML page. */
  readonly isJson: boolean;

  constructor(parts: HttpFaultParts) {
    super(
      `${parts.operation}: ${parts.problem}`,
      parts.cause === undefined ? undefined : { cause: parts.cause },
    );
    const { 'set-cookie': _secret, ...headers } = parts.headers ?? {};
    this.kind = parts.kind;
    this.problem = parts.problem;
    this.sent = parts.sent;
    this.status = parts.status;
    this.headers = headers;
    this.body = parts.body;
    this.isJson = parts.isJson ?? true;
  }
}
