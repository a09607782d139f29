import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { errorCodeOf } from '../base/node-errors.ts';
import { ProxyError } from './connections.ts';
import { HttpFault, type HttpFaultKind } from './fault.ts';

export interface RawRequest {
  /** The operation's name, for messages. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Scheme and authority. */
  readonly origin: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Asked right before its first byte is sent. False: it is not sent. */
  readonly mayLeave?: (() => boolean) | undefined;
  readonly onLeave?: (() => void) | undefined;
}

/** What the body of a response may be. */
export interface BodyLimits {
  readonly bytesMax: number;
  /** Reads the bytes as they arrive. It returns what the body has too much of. */
  readonly scan?: ((bytes: Uint8Array) => string | undefined) | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The bytes as text. */
  readonly body: string;
}

/**
 * Sends one request and reads the whole response, whatever its status. The request is sent at most once: the library
 * may requeue a started request when a connection ends, but a create must not be sent twice (P1).
 * @param totalMs from the call to the last byte of the response
 * @param limitsOf called once: the limits of the body of a response with this status
 * @throws HttpFault
 */
export function exchange(
  dispatcher: Dispatcher,
  request: RawRequest,
  totalMs: number,
  limitsOf: (status: number) => BodyLimits,
  signal?: AbortSignal,
): Promise<RawAnswer> {
  if (signal?.aborted === true) {
    return Promise.reject(fault(request, { kind: 'aborted', sent: false, cause: signal.reason }));
  }
  return new Promise((resolve, reject) => {
    const seen: Seen = { controller: undefined, status: 0, headers: {} };
    const end = makeEnd(request, { seen, reject, totalMs, signal });
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.target,
        method: request.method,
        headers: { ...request.headers },
        body: request.body,
        headersTimeout: totalMs,
        bodyTimeout: totalMs,
      },
      makeHandler(request, { seen, end, limitsOf, resolve }),
    );
  });
}

interface Seen {
  /** Undefined until the request is sent. */
  controller: Dispatcher.DispatchController | undefined;
  status: number;
  headers: IncomingHttpHeaders;
}

/** Ends an exchange, once. */
interface End {
  isOver(): boolean;
  finish(settle: () => void): void;
  giveUp(kind: HttpFaultKind, cause: unknown, problem?: string): void;
  /** Ends with an error that is no fault of the connection: a bug. */
  fail(error: unknown): void;
}

function makeEnd(
  request: RawRequest,
  parts: {
    readonly seen: Seen;
    readonly reject: (error: unknown) => void;
    readonly totalMs: number;
    readonly signal: AbortSignal | undefined;
  },
): End {
  const { seen, reject, signal } = parts;
  let isOver = false;
  const finish = (settle: () => void): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    settle();
  };
  const giveUp: End['giveUp'] = (kind, cause, problem) =>
    finish(() => {
      const { controller, status, headers } = seen;
      reject(fault(request, { kind, sent: controller !== undefined, status, headers, cause, problem }));
      controller?.abort(new Error('given up'));
    });
  const fail = (error: unknown): void => {
    finish(() => reject(error));
    seen.controller?.abort(new Error('given up'));
  };
  const onAbort = (): void => giveUp('aborted', signal?.reason);
  const timer = setTimeout(() => giveUp('timeout', undefined), parts.totalMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  return { isOver: () => isOver, finish, giveUp, fail };
}

function makeHandler(
  { mayLeave = () => true, onLeave }: RawRequest,
  parts: {
    readonly seen: Seen;
    readonly end: End;
    readonly limitsOf: (status: number) => BodyLimits;
    readonly resolve: (answer: RawAnswer) => void;
  },
): Dispatcher.DispatchHandler {
  const { seen, end, limitsOf, resolve } = parts;
  let limits: BodyLimits | undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    // Called right before the first byte is written. Aborting here prevents the write.
    onRequestStart: (started) => {
      const isSecondTime = seen.controller !== undefined;
      if (!isSecondTime && !mayLeave()) end.giveUp('aborted', undefined);
      else seen.controller = started;
      if (isSecondTime) end.giveUp('reset', undefined);
      if (end.isOver()) started.abort(new Error('given up'));
      else onLeave?.();
    },
    onResponseStart: (_controller, answerStatus, answerHeaders) => {
      seen.status = answerStatus;
      seen.headers = readHeaders(answerHeaders);
    },
    onResponseData: (_controller, chunk) => {
      length += chunk.length;
      limits ??= limitsOf(seen.status);
      const excess = limits.scan?.(chunk);
      if (length > limits.bytesMax) end.giveUp('tooLarge', undefined);
      else if (excess !== undefined) end.giveUp('tooLarge', undefined, `the response has ${excess}`);
      else chunks.push(chunk);
    },
    onResponseEnd: () => {
      const { status, headers } = seen;
      const bytes = Buffer.concat(chunks);
      chunks.length = 0;
      // A long list is never needed as one text.
      const answer = {
        status,
        headers,
        bytes,
        get body() {
          return bytes.toString('utf8');
        },
      };
      end.finish(() => resolve(answer));
    },
    onResponseError: (_controller, error) => {
      const kind = kindOf(error, seen.controller !== undefined);
      if (kind === undefined) end.fail(error);
      else end.giveUp(kind, error);
    },
  };
}

/** Headers as Node's own client has them: `set-cookie` is always a list, and every other header is one text. */
function readHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(raw)) {
    const values = [value ?? []].flat();
    if (name === 'set-cookie') headers['set-cookie'] = values;
    else headers[name] = values.join(', ');
  }
  return headers;
}

/** Error codes of the library with their own meaning. Any other code means that the connection failed. */
const kindOfCode: Readonly<Record<string, HttpFaultKind>> = {
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'tooLarge',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'tooLarge',
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
};

/** @returns undefined for errors that no network can cause: a bug must not look like an outage */
function kindOf(error: Error, isStarted: boolean): HttpFaultKind | undefined {
  // Not all of these have a code.
  if (error.name === 'HTTPParserError') return 'undecodable';
  const code = errorCodeOf(error) ?? '';
  if (code === '' || code === 'UND_ERR_INVALID_ARG' || code.startsWith('ERR_INVALID_')) return undefined;
  if (Object.hasOwn(kindOfCode, code)) return kindOfCode[code];
  return isStarted ? 'reset' : 'connect';
}

const problems: Readonly<Record<HttpFaultKind, string>> = {
  connect: 'no connection',
  timeout: 'no complete response in time',
  reset: 'the connection broke before the response was complete',
  aborted: 'the call was cancelled',
  status: 'the request was refused',
  undecodable: 'the response is unreadable',
  tooLarge: 'the response is larger than allowed',
};

function fault(
  request: RawRequest,
  seen: {
    readonly kind: HttpFaultKind;
    readonly sent: boolean;
    readonly status?: number;
    readonly headers?: IncomingHttpHeaders;
    readonly cause?: unknown;
    readonly problem?: string | undefined;
  },
): HttpFault {
  const { cause, kind, sent, status, headers, problem = problems[kind] } = seen;
  const code = errorCodeOf(cause);
  const words = cause instanceof ProxyError ? cause.message : withCode(problem, code);
  return new HttpFault({
    kind,
    sent,
    operation: request.name,
    problem: words,
    // 0: no response came.
    status: status || undefined,
    headers,
    cause,
  });
}

function withCode(problem: string, code: string | undefined): string {
  return code === undefined ? problem : `${problem} (${code})`;
}
