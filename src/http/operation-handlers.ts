import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Operation, OperationInput } from '../contract/operation.ts';

/** A request as handlers and the owner of a server see it. */
export interface HttpRequest {
  readonly method: string;
  /** The path without its query; doubled slashes and a trailing one are gone. */
  readonly path: string;
  /** Path and query exactly as they came. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  /** `1.1`, or `1.0` from old clients and some proxies; empty where no request could be read. */
  readonly httpVersion: string;
  readonly hasBody: boolean;
  /** The operation it is for; undefined for an unknown route or a wrong method. */
  readonly operation: Operation | undefined;
}

/**
 * An answer. A Buffer or a Readable is sent as it is, and so is a text whose `content-type` in `headers` is not JSON.
 * Any other body is sent as JSON.
 */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** No answer: the connection is cut. For services that play faults. */
export interface CutOff {
  readonly cutOff: 'beforeHeaders' | 'midBody';
}

/** What a handler returns; the status defaults to the one the contract names. */
export interface HandlerAnswer<Body = unknown> {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** What can go wrong before, or in, a handler. The owner of the server says how each is answered. */
export type RequestFailure =
  | { readonly kind: 'unknownRoute' }
  | { readonly kind: 'wrongMethod'; readonly allowed: readonly string[] }
  | { readonly kind: 'malformedUrl' }
  | { readonly kind: 'malformedJson' }
  | { readonly kind: 'bodyTooLarge' }
  /** Broken below our rules: no HTTP, too many headers, too slow. `status` is the 4xx that HTTP has for it. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly error: unknown }
  | {
      readonly kind: 'invalidInput';
      readonly part: 'params' | 'query' | 'body';
      readonly issues: readonly z.core.$ZodIssue[];
    }
  | { readonly kind: 'handlerError'; readonly error: unknown };

/** Does one operation. Its input is parsed, its answer typed as the contract has it on the wire. */
type OperationHandler<O extends Operation> = (
  input: OperationInput<z.output<O['params']>, z.output<O['query']>, z.output<NonNullable<O['body']>>>,
  request: HttpRequest,
) => Promise<HandlerAnswer<z.input<O['answer']['body']>>>;

/** One handler for each operation of an API: a missing one does not compile. */
export type OperationHandlers<Api extends readonly Operation[]> = {
  readonly [Name in Api[number]['name']]: OperationHandler<Extract<Api[number], { readonly name: Name }>>;
};

/** An operation under a prefix, bound to its handler. */
export interface MountedOperation {
  /** The whole path: `/api/v1/collectors/{id}`. */
  readonly path: string;
  readonly operation: Operation;
  readonly handle: (
    input: OperationInput<unknown, unknown, unknown>,
    request: HttpRequest,
  ) => Promise<HandlerAnswer>;
}

/** Binds every operation of an API to its handler. Types are checked here and lost after. */
export function mountOperations<const Api extends readonly Operation[]>(
  operations: Api,
  mount: {
    /** Starts with a slash and ends without one; empty for the root. */
    readonly prefix: string;
    readonly handlers: OperationHandlers<NoInfer<Api>>;
  },
): MountedOperation[] {
  const handlers = mount.handlers as Readonly<Record<string, MountedOperation['handle']>>;
  return operations.map((operation) => {
    const handle = handlers[operation.name];
    if (handle === undefined) throw new Error(`no handler for operation ${operation.name}`);
    return { path: `${mount.prefix}${operation.path}`, operation, handle };
  });
}
