import type { IncomingHttpHeaders } from 'node:http';
import { rootCertificates } from 'node:tls';
import { Pool } from 'undici';
import { makeTurnBudget, type TurnBudget } from '../base/turn-budget.ts';
import type { Operation } from '../contract/operation.ts';
import { type BodyReader, makeTextReader } from './body-reader.ts';
import { type ExchangeLimits, exchange, type RawAnswer } from './exchange.ts';
import { HttpFault } from './fault.ts';
import { readJson } from './json-text.ts';
import { makeListReader, type ReadList } from './list-reader.ts';
import { encodeTarget, type TargetValues } from './request-target.ts';

export interface HttpClientParts {
  /** Origin, and the path that every operation's path is appended to; a trailing slash is ignored. */
  readonly baseUrl: string;
  readonly timeouts: HttpTimeouts;
  /** More sockets than requests allowed at once, so that a grant never waits for a socket (16 for 10). */
  readonly connections?: number;
  /** How long an unused connection is kept; the server's own hint goes first. */
  readonly keepAliveMs?: number;
  /** Of all answers but lists, and those of which the contract says more: a mebibyte where left out. */
  readonly bodyBytesMax?: number;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly ca?: string | undefined;
  readonly hooks?: HttpClientHooks;
}

interface HttpTimeouts {
  /** From the call to the answer's last byte; the others default to it. */
  readonly totalMs: number;
  readonly connectMs?: number;
  /** From the request's last byte to the answer's headers. */
  readonly headersMs?: number;
  /** Between two pieces of the body. */
  readonly bodyMs?: number;
}

/** What the owner of a client adds to every call. */
interface HttpClientHooks {
  /** Headers of each request, such as `authorization` and `cookie`; asked for right before it is sent. */
  readonly headers?: (operation: Operation) => Readonly<Record<string, string>>;
  /** Runs right before a request leaves; what it throws, the call throws. */
  readonly beforeSend?: (operation: Operation) => void | Promise<void>;
  /** Sees every complete answer, whatever its status, before it is judged. */
  readonly onAnswer?: (answer: AnswerSeen) => void;
}

interface AnswerSeen {
  readonly operation: Operation;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The headers that `hooks.headers` gave this very request. */
  readonly sentHeaders: Readonly<Record<string, string>>;
}

/** Query parameters that are undefined are left out, too. */
export type LooseQuery<Query> = { readonly [Name in keyof Query]?: Query[Name] | undefined };

/** What a call takes: parts that the operation does not have may be left out. */
export type CallInput<Params, Query, Body> = (Params extends Record<string, never>
  ? { readonly params?: Params }
  : { readonly params: Params }) & { readonly query?: LooseQuery<Query> } & (Body extends undefined
    ? { readonly body?: undefined }
    : { readonly body: Body });

/** What belongs to one call alone. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Such as `if-match`; the owner's `hooks.headers` go before these. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the path with a slash, which some servers need to read its last segment right. */
  readonly trailingSlash?: boolean | undefined;
  /**
   * The instant by the monotonic clock (`performance.now`) after which it may not leave any more: a connection may take
   * long to be made. It then ends as `aborted`, and nothing was sent.
   */
  readonly leaveBy?: number | undefined;
}

export interface HttpResult<Answer> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Answer;
}

export interface HttpClient {
  /**
   * Sends one operation, once: no retry, no redirect. Any 2xx with the body of the contract is an answer.
   * @throws HttpFault for everything that a network or a server can do
   */
  call<Params, Query, Body, Answer>(
    operation: Operation<Params, Query, Body, Answer>,
    input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
    options?: CallOptions,
  ): Promise<HttpResult<Answer>>;
  /** Cuts what is open; those calls end as `aborted`. */
  close(): Promise<void>;
}

// One collector, one task, one error: more means that something else answers. It is parsed in one go.
const bodyBytesMaxDefault = 1024 * 1024;

/**
 * Makes a client for the operations of any contract.
 * @throws when `baseUrl` is not an http(s) URL, or carries credentials; the message does not repeat it (P12)
 */
export function makeHttpClient(parts: HttpClientParts): HttpClient {
  const base = parseBase(parts.baseUrl);
  const hooks = parts.hooks ?? {};
  const { totalMs } = parts.timeouts;
  const limits: ExchangeLimits = {
    totalMs,
    headersMs: parts.timeouts.headersMs ?? totalMs,
    bodyMs: parts.timeouts.bodyMs ?? totalMs,
  };
  const turn = makeTurnBudget();
  const pool = new Pool(base.origin, {
    connections: parts.connections ?? 16,
    keepAliveTimeout: parts.keepAliveMs ?? 4_000,
    connectTimeout: parts.timeouts.connectMs ?? totalMs,
    pipelining: 1,
    connect: {
      // Said here, so that no variable of the environment turns it off.
      rejectUnauthorized: true,
      ...(parts.ca === undefined ? {} : { ca: [...rootCertificates, parts.ca] }),
    },
  });

  return {
    async call(operation, input, options = {}) {
      const { params = {}, query = {}, body } = input as LooseInput;
      const path = options.trailingSlash === true ? `${operation.path}/` : operation.path;
      const target = `${base.path}${encodeTarget(path, params, query)}`;
      const encodedBody = operation.body === null ? null : JSON.stringify(body);
      await hooks.beforeSend?.(operation);
      const sentHeaders = hooks.headers?.(operation) ?? {};
      const answer = await exchange(
        pool,
        {
          name: operation.name,
          method: operation.method,
          target,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json',
            ...options.headers,
            ...sentHeaders,
          },
          body: encodedBody,
          leaveBy: options.leaveBy,
        },
        limits,
        (status) =>
          readerOf(operation, status, { turn, bytesMax: parts.bodyBytesMax ?? bodyBytesMaxDefault }),
        options.signal,
      );
      hooks.onAnswer?.({ operation, status: answer.status, headers: answer.headers, sentHeaders });
      return { status: answer.status, headers: answer.headers, body: judge(operation, answer) };
    },
    close: () => pool.destroy(),
  };
}

/** An input once its types have been checked against the operation's. */
interface LooseInput {
  readonly params?: TargetValues;
  readonly query?: TargetValues;
  readonly body?: unknown;
}

function parseBase(baseUrl: string): { readonly origin: string; readonly path: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error('the base URL is not an http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new Error('the base URL must not carry credentials');
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}

/** The text of a body, or the list that the contract says it holds. */
type ReadBody = string | ReadList<unknown>;

function readerOf(
  { answer: { list, bytesMax } }: Operation,
  status: number,
  bounds: { readonly turn: TurnBudget; readonly bytesMax: number },
): BodyReader<ReadBody> {
  const isGood = isSuccess(status);
  if (list === undefined || !isGood)
    return makeTextReader((isGood ? bytesMax : undefined) ?? bounds.bytesMax);
  const { key, row } = list;
  const decode = (value: unknown): unknown => row.safeParse(value).data ?? null;
  return makeListReader({ key, decode, turn: bounds.turn });
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** The body that the contract names. @throws HttpFault when the answer is anything else */
function judge<Answer>(
  operation: Operation<unknown, unknown, unknown, Answer>,
  answer: RawAnswer<ReadBody>,
): Answer {
  const read = readBody(answer);
  const { status, headers } = answer;
  const seen = { operation: operation.name, sent: true, status, headers, isJson: read.kind !== 'other' };
  if (!isSuccess(status)) {
    throw new HttpFault({ ...seen, kind: 'status', problem: `answered ${status}`, body: jsonOf(read) });
  }
  // The reader of this operation made it.
  if (read.kind === 'list') return read.page as Answer;
  if (read.kind === 'other' || read.kind === 'tooDeep') {
    const what = read.kind === 'other' ? 'a body that is not JSON' : 'JSON that is nested too deep';
    throw new HttpFault({ ...seen, kind: 'undecodable', problem: `answered ${status} with ${what}` });
  }
  const { list } = operation.answer;
  const parsed = list === undefined ? operation.answer.body.safeParse(jsonOf(read)) : undefined;
  if (parsed?.success === true) return parsed.data;
  const issue = parsed?.error.issues[0] ?? { path: [list?.key ?? ''], message: 'expected a list' };
  throw new HttpFault({
    ...seen,
    kind: 'undecodable',
    problem: `answered ${status} with a body of another shape: ${issue.path.join('.') || 'body'}: ${issue.message}`,
    body: jsonOf(read),
    cause: parsed?.error,
  });
}

function jsonOf(read: ReadList<unknown>): unknown {
  return read.kind === 'json' ? read.value : undefined;
}

/**
 * A plain text is a value too, where the contract leaves the body open: "a message saying …" (collector-api.md §4.1) may
 * come as one. HTML never is: it comes from something in between.
 */
function readBody({ body, status, headers }: RawAnswer<ReadBody>): ReadList<unknown> {
  if (typeof body !== 'string') return body;
  const read = readJson(body);
  const isPlainText = /^text\/plain\b/i.test(headers['content-type'] ?? '');
  const isWelcome = read.kind === 'other' && isPlainText && isSuccess(status);
  return isWelcome ? { kind: 'json', value: body } : read;
}
