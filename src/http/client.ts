import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { makeTurnBudget, type TurnBudget } from '../base/turn-budget.ts';
import type { Operation } from '../contract/operation.ts';
import { openDirect, openThroughProxy } from './connections.ts';
import { type BodyLimits, exchange, type RawAnswer } from './exchange.ts';
import { HttpFault } from './fault.ts';
import { parseJson, type ReadJson, readJson } from './json-text.ts';
import { decodePage, pageBytesMax } from './list-page.ts';
import { ListScan, type RowPlace, textOfRow } from './list-scan.ts';
import { encodeTarget, type TargetValues } from './request-target.ts';

export interface HttpClientParts {
  /** Origin and path prefix. A trailing slash is ignored. */
  readonly baseUrl: string;
  readonly timeouts: HttpTimeouts;
  /**
   * Use more sockets than concurrent requests (16 for 10), so that a request with its grant never waits for a socket.
   */
  readonly connections?: number;
  /** Limit for responses other than lists, unless the contract has a higher one. Default: 1 MiB. */
  readonly bodyBytesMax?: number;
  /** PEM of authorities that are trusted in addition to the public ones. */
  readonly ca?: string | undefined;
  /**
   * With it, the client uses the proxy that the environment names. Called at each connection through it, with its address
   * without credentials.
   */
  readonly onProxy?: ((proxy: string) => void) | undefined;
  readonly hooks?: HttpClientHooks;
}

interface HttpTimeouts {
  /** From the call to the last byte of the response. */
  readonly totalMs: number;
  /** Default: `totalMs`. */
  readonly connectMs?: number;
}

/** What the owner of a client adds to every call. */
interface HttpClientHooks {
  /** Headers of each request, such as `authorization` and `cookie`. Called right before it is sent. */
  readonly headers?: (operation: Operation) => Readonly<Record<string, string>>;
  /** Called with every complete response, whatever its status, before it is checked. */
  readonly onAnswer?: (answer: AnswerSeen) => void;
}

interface AnswerSeen {
  readonly operation: Operation;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The headers that `hooks.headers` returned for this request. */
  readonly sentHeaders: Readonly<Record<string, string>>;
}

/** A query whose parameters may be undefined; these are left out. */
export type LooseQuery<Query> = { readonly [Name in keyof Query]?: Query[Name] | undefined };

/** The input of a call. Parts that the operation does not have may be left out. */
export type CallInput<Params, Query, Body> = (Params extends Record<string, never>
  ? { readonly params?: Params }
  : { readonly params: Params }) & { readonly query?: LooseQuery<Query> } & (Body extends undefined
    ? { readonly body?: undefined }
    : { readonly body: Body });

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Such as `if-match`. `hooks.headers` override these. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Appends a slash to the path, which some servers need to parse its last segment correctly. */
  readonly trailingSlash?: boolean | undefined;
  /**
   * Asked right before the request is sent, because connecting may take long. If it is false, the call ends as `aborted`,
   * and nothing was sent.
   */
  readonly mayLeave?: (() => boolean) | undefined;
  /** Called right before the first byte is written. */
  readonly onLeave?: (() => void) | undefined;
}

export interface HttpResult<Answer> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Answer;
}

export interface HttpClient {
  /**
   * Sends one operation once, without retries or redirects. Any 2xx with a body as in the contract is a result.
   * @throws HttpFault for every fault of a network or a server
   */
  call<Params, Query, Body, Answer>(
    operation: Operation<Params, Query, Body, Answer>,
    input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
    options?: CallOptions,
  ): Promise<HttpResult<Answer>>;
  /** Closes all connections. Calls in progress end as `aborted`. */
  close(): Promise<void>;
}

// Enough for one collector, one task or one error. A larger body comes from something else. It is parsed in one go.
const bodyBytesMaxDefault = 1024 * 1024;

// How long an idle connection is kept. A shorter time in the server's `keep-alive` header takes precedence.
const keepAliveMs = 4_000;

/**
 * Makes a client for the operations of any contract.
 * @throws when `baseUrl` is not an http(s) URL, or contains credentials; the message does not repeat it (P12)
 */
export function makeHttpClient(parts: HttpClientParts): HttpClient {
  const base = parseBase(parts.baseUrl);
  const hooks = parts.hooks ?? {};
  const { totalMs } = parts.timeouts;
  const turn = makeTurnBudget();
  const settings = {
    connections: parts.connections ?? 16,
    connectMs: parts.timeouts.connectMs ?? totalMs,
    keepAliveMs,
    ca: parts.ca,
  };
  const pool =
    parts.onProxy === undefined
      ? openDirect(base.origin, settings)
      : openThroughProxy(base.origin, settings, parts.onProxy);

  return {
    async call(operation, input, options = {}) {
      const { params = {}, query = {}, body } = input as LooseInput;
      const path = options.trailingSlash === true ? `${operation.path}/` : operation.path;
      const target = `${base.path}${encodeTarget(path, params, query)}`;
      const encodedBody = operation.body === null ? null : JSON.stringify(body);
      const sentHeaders = hooks.headers?.(operation) ?? {};
      const scan = operation.answer.list === undefined ? undefined : new ListScan();
      const answer = await exchange(
        pool,
        {
          name: operation.name,
          method: operation.method,
          origin: base.origin,
          target,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json',
            ...options.headers,
            ...sentHeaders,
          },
          body: encodedBody,
          mayLeave: options.mayLeave,
          onLeave: options.onLeave,
        },
        totalMs,
        (status) => limitsOf(operation, status, { bytesMax: parts.bodyBytesMax, scan }),
        options.signal,
      );
      hooks.onAnswer?.({ operation, status: answer.status, headers: answer.headers, sentHeaders });
      return {
        status: answer.status,
        headers: answer.headers,
        body: await parseAnswer(operation, answer, { scan, turn }),
      };
    },
    close: () => pool.destroy(),
  };
}

/** An input whose types were checked against the operation. */
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

function limitsOf(
  { answer }: Operation,
  status: number,
  {
    bytesMax = bodyBytesMaxDefault,
    scan,
  }: { readonly bytesMax: number | undefined; readonly scan: ListScan | undefined },
): BodyLimits {
  if (!isSuccess(status)) return { bytesMax };
  if (scan === undefined) return { bytesMax: answer.bytesMax ?? bytesMax };
  return { bytesMax: pageBytesMax, scan: (bytes) => scan.push(bytes) };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Checks a response and returns the body as in the contract. @throws HttpFault when it is anything else */
async function parseAnswer<Answer>(
  operation: Operation<unknown, unknown, unknown, Answer>,
  answer: RawAnswer,
  { scan, turn }: { readonly scan: ListScan | undefined; readonly turn: TurnBudget },
): Promise<Answer> {
  const { status, headers } = answer;
  const isOk = isSuccess(status);
  const read = scan === undefined || !isOk ? readBody(answer) : readFrame(answer, scan);
  const body = read.kind === 'json' ? read.value : undefined;
  const seen = { operation: operation.name, sent: true, status, headers, isJson: read.kind !== 'other' };
  if (!isOk) throw new HttpFault({ ...seen, kind: 'status', problem: `answered ${status}`, body });
  if (read.kind === 'other' || read.kind === 'tooDeep') {
    const what =
      read.kind === 'other' ? 'a body that is not JSON' : 'JSON that is nested too deep, or too large';
    throw new HttpFault({ ...seen, kind: 'undecodable', problem: `answered ${status} with ${what}` });
  }
  const { list } = operation.answer;
  const shape = list === undefined ? operation.answer.body : listFrame(list.key);
  const parsed = shape.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join('.') || 'body';
    const problem = `answered ${status} with a body of another shape: ${place}: ${issue?.message}`;
    throw new HttpFault({ ...seen, kind: 'undecodable', problem, body, cause: parsed.error });
  }
  if (list === undefined || scan === undefined) return parsed.data as Answer;
  const [number = 0] = (parsed.data as Readonly<Record<string, readonly number[]>>)[list.key] ?? [];
  const { bytes } = answer;
  const readRow = (place: RowPlace): unknown => {
    const text = textOfRow(bytes, place);
    if (text === undefined) return undefined;
    const row = parseJson(text);
    if (row.kind === 'json') return row.value;
    const problem = `answered ${status} with a row that is not JSON`;
    throw new HttpFault({ ...seen, kind: 'undecodable', problem });
  };
  // The contract types the body of a list as its page.
  return (await decodePage(scan.rows(bytes, number), readRow, list.row, turn)) as Answer;
}

/** What is around the rows, with the number of a list in place of its rows. */
function listFrame(key: string) {
  return z.object({ [key]: z.array(z.number()).length(1) });
}

function readFrame({ bytes }: RawAnswer, scan: ListScan): ReadJson {
  const frame = scan.frame(bytes);
  return frame === undefined ? { kind: 'tooDeep' } : readJson(frame);
}

/**
 * Plain text is a value where the contract leaves the body open: "a message saying …" (collector-api.md §4.1) may be
 * plain text. HTML is not: it comes from a proxy or gateway.
 */
function readBody({ body, status, headers }: RawAnswer): ReadJson {
  const read = readJson(body);
  const isPlainText = /^text\/plain\b/i.test(headers['content-type'] ?? '');
  const isAccepted = read.kind === 'other' && isPlainText && isSuccess(status);
  return isAccepted ? { kind: 'json', value: body } : read;
}
