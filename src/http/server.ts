import { Readable } from 'node:stream';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
} from 'fastify';
import { writeAddress } from '../base/url-authority.ts';
import type { Operation } from '../contract/operation.ts';
import { compressText } from './compress-text.ts';
import { readJson } from './json-text.ts';
import { type ConnectionLimits, limitConnections } from './limit-connections.ts';
import type {
  CutOff,
  HttpAnswer,
  HttpRequest,
  MountedOperation,
  RequestFailure,
} from './operation-handlers.ts';
import { refuseConnection } from './refuse-connection.ts';

/** A request is aborted when its headers, or the whole of it, have not arrived in time. */
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 60_000;
/** How often Node checks for such requests. */
const timeoutsCheckedEveryMs = 1_000;

/**
 * A collector's name has 128 characters of up to 12 bytes each when percent-encoded. The router's default limit is 100.
 */
const pathSegmentLengthMax = 2_048;

export interface HttpServerParts {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly operations: readonly MountedOperation[];
  /** Decides the response to a failure. Must not throw. */
  readonly answerFailure: (failure: RequestFailure, request: HttpRequest) => HttpAnswer;
  /** Runs for every request, known route or not: sign-in, limits, faults. `next` never rejects. */
  readonly around: (request: HttpRequest, next: () => Promise<HttpAnswer>) => Promise<HttpAnswer | CutOff>;
  /** A larger body is refused. */
  readonly bodyBytesMax: number;
  /** null: no limit. */
  readonly connections: ConnectionLimits | null;
  /** Whether texts and JSON are compressed for clients that accept it. Streams never are. */
  readonly compresses: boolean;
}

export interface RunningHttpServer {
  /** `http://127.0.0.1:8080`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Closes at once, with all open connections. */
  close(): Promise<void>;
}

/**
 * Serves the operations of any contract over HTTP. Inputs are parsed with the contract's schemas. A trailing slash and
 * doubled slashes are accepted on any path (field-facts.md, The wire).
 * @throws when it can't listen on the address
 */
export async function startHttpServer(parts: HttpServerParts): Promise<RunningHttpServer> {
  const respond = makeResponder(parts);
  const app = fastify({
    bodyLimit: parts.bodyBytesMax,
    forceCloseConnections: true,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: timeoutsCheckedEveryMs },
    clientErrorHandler: (error, socket) => refuseConnection(parts, error, socket),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: pathSegmentLengthMax,
    },
    frameworkErrors: (_error, request, reply) => {
      void respond(request as FastifyRequest, reply as FastifyReply, { failure: { kind: 'malformedUrl' } });
    },
  });
  if (parts.connections !== null) limitConnections(app.server, parts.connections);
  acceptAnyBodyAsText(app);
  const methodsOf = new Map<string, HTTPMethods[]>();
  for (const mounted of parts.operations) {
    const { method } = mounted.operation;
    const url = mounted.path.replace(/\{(\w+)\}/g, ':$1');
    app.route({ method, url, handler: (request, reply) => respond(request, reply, { mounted }) });
    const shape = mounted.path.replace(/\{\w+\}/g, ':part');
    methodsOf.set(shape, [...(methodsOf.get(shape) ?? []), method]);
  }
  // So a fixed path goes before one with parameters for every method: `DELETE /collectors/upgrades` must not match
  // `DELETE /collectors/{id}`.
  for (const [url, allowed] of methodsOf) {
    // A route for GET answers HEAD as well.
    const known = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed;
    const method = app.supportedMethods.filter((each) => !known.includes(each));
    const failure: RequestFailure = { kind: 'wrongMethod', allowed };
    app.route({ method, url, handler: (request, reply) => respond(request, reply, { failure }) });
  }
  app.setNotFoundHandler((request, reply) => respond(request, reply, { failure: { kind: 'unknownRoute' } }));
  app.setErrorHandler<FastifyError>((error, request, reply) =>
    respond(request, reply, { failure: frameworkFailure(error) }),
  );
  await app.listen({ host: parts.host, port: parts.port });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the HTTP server has no address');
  const { address: host, port } = address;
  return { url: `http://${writeAddress({ host, port })}`, port, close: () => app.close() };
}

type Work = { readonly mounted: MountedOperation } | { readonly failure: RequestFailure };

function makeResponder(parts: HttpServerParts) {
  return async (request: FastifyRequest, reply: FastifyReply, work: Work): Promise<FastifyReply> => {
    const seen = seenRequest(request, 'mounted' in work ? work.mounted.operation : undefined);
    const next = async (): Promise<HttpAnswer> => {
      const done = 'mounted' in work ? await perform(work.mounted, request, seen) : work;
      return 'failure' in done ? parts.answerFailure(done.failure, seen) : done.answer;
    };
    const answer = await parts.around(seen, next);
    return 'cutOff' in answer
      ? cutOff(reply, answer.cutOff)
      : send(reply, answer, parts.compresses ? seen : undefined);
  };
}

async function perform(
  mounted: MountedOperation,
  request: FastifyRequest,
  seen: HttpRequest,
): Promise<{ readonly answer: HttpAnswer } | { readonly failure: RequestFailure }> {
  const { operation } = mounted;
  const params = operation.params.safeParse(request.params);
  if (!params.success) return { failure: invalidInput('params', params.error.issues) };
  const query = operation.query.safeParse({ ...(request.query as object) });
  if (!query.success) return { failure: invalidInput('query', query.error.issues) };
  let body: unknown;
  if (operation.body !== null) {
    // An absent body is `undefined`, which the operation's schema checks.
    const json = readJson(typeof request.body === 'string' ? request.body : '');
    if (json.kind === 'tooDeep' || json.kind === 'other') return { failure: { kind: 'malformedJson' } };
    const parsed = operation.body.safeParse(json.kind === 'json' ? json.value : undefined);
    if (!parsed.success) return { failure: invalidInput('body', parsed.error.issues) };
    body = parsed.data;
  }
  try {
    const answer = await mounted.handle({ params: params.data, query: query.data, body }, seen);
    return { answer: { ...answer, status: answer.status ?? operation.answer.status } };
  } catch (error) {
    return { failure: { kind: 'handlerError', error } };
  }
}

function invalidInput(
  part: 'params' | 'query' | 'body',
  issues: Extract<RequestFailure, { kind: 'invalidInput' }>['issues'],
): RequestFailure {
  return { kind: 'invalidInput', part, issues };
}

/** @param compressFor the request whose client may accept a compressed text; undefined: texts are sent as they are */
async function send(
  reply: FastifyReply,
  answer: HttpAnswer,
  compressFor: HttpRequest | undefined,
): Promise<FastifyReply> {
  reply.code(answer.status).headers(answer.headers ?? {});
  const { body } = answer;
  if (body === undefined) return reply.send();
  if (Buffer.isBuffer(body) || body instanceof Readable) return reply.send(body);
  const text = textOf(reply, body);
  if (compressFor === undefined) return reply.send(text);
  reply.header('vary', 'accept-encoding');
  const compressed = await compressText(text, String(compressFor.headers['accept-encoding'] ?? ''));
  if (compressed === undefined) return reply.send(text);
  return reply.header('content-encoding', compressed.encoding).send(compressed.body);
}

function textOf(reply: FastifyReply, body: unknown): string {
  const stated = reply.getHeader('content-type');
  if (stated !== undefined && !String(stated).includes('json')) {
    if (typeof body === 'string') return body;
    throw new Error('a body that is not JSON must be a text, a Buffer or a Readable');
  }
  if (stated === undefined) reply.header('content-type', 'application/json; charset=utf-8');
  return JSON.stringify(body);
}

function cutOff(reply: FastifyReply, when: CutOff['cutOff']): FastifyReply {
  reply.hijack();
  if (when === 'beforeHeaders') {
    reply.raw.destroy();
    return reply;
  }
  reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': '4096' });
  reply.raw.write('{"', () => reply.raw.destroy());
  return reply;
}

function seenRequest(request: FastifyRequest, operation: Operation | undefined): HttpRequest {
  const { headers } = request;
  return {
    method: request.method,
    path: normalPath(request.url),
    url: request.url,
    headers,
    remoteAddress: request.ip,
    httpVersion: request.raw.httpVersion,
    hasBody: headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0,
    body: typeof request.body === 'string' ? request.body : '',
    operation,
  };
}

function normalPath(url: string): string {
  const path = (url.split('?', 1)[0] ?? '').replace(/\/{2,}/g, '/');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Reads every body as text. The owner of the server decides which content types are accepted. */
function acceptAnyBodyAsText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
}

function frameworkFailure(error: FastifyError): RequestFailure {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return { kind: 'bodyTooLarge' };
  return error.statusCode !== undefined && error.statusCode < 500
    ? { kind: 'unreadable', status: error.statusCode, error }
    : { kind: 'handlerError', error };
}
