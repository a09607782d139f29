import type { IncomingHttpHeaders } from 'node:http';

/** Why a call did not return a response as in its contract. */
export type HttpFaultKind =
  /** No connection: name resolution, routing or TLS failed. Nothing was sent. */
  | 'connect'
  /** A time limit ran out. */
  | 'timeout'
  /** The connection broke before the response was complete. */
  | 'reset'
  /** The caller cancelled, the client was closed, or the request may no longer leave (`mayLeave`). */
  | 'aborted'
  /** A complete response with a status other than 2xx. */
  | 'status'
  /**
   * A 2xx whose body is not as in the contract: HTML, broken JSON, another shape, nested too deep. Or no HTTP at all.
   */
  | 'undecodable'
  /** The body exceeds its limit. */
  | 'tooLarge';

interface HttpFaultParts {
  readonly kind: HttpFaultKind;
  /** The operation's name in the contract. */
  readonly operation: string;
  readonly problem: string;
  readonly sent: boolean;
  readonly status?: number | undefined;
  readonly headers?: IncomingHttpHeaders | undefined;
  readonly body?: unknown;
  readonly isJson?: boolean;
  readonly cause?: unknown;
}

/** An operating fault of a call. It contains nothing of the request and no cookie, so it may be logged (P12). */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly kind: HttpFaultKind;
  /** The message without the operation's name. */
  readonly problem: string;
  /** True when the request, or part of it, may have reached the service. */
  readonly sent: boolean;
  /** The status of the response; undefined without a response. */
  readonly status: number | undefined;
  /** The headers of the response without `set-cookie`; empty without a response. */
  readonly headers: IncomingHttpHeaders;
  /** The error body as parsed JSON; undefined when it is not JSON. */
  readonly body: unknown;
  /** False for a body that is not JSON, such as a gateway's HTML page. */
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
