import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Operation, OperationInput } from '../contract/operation.ts';

/** A request as handlers and the owner of the server see it. */
export interface HttpRequest {
  readonly method: string;
  /** The path without its query, with single slashes and no trailing one. */
  readonly path: string;
  /** Path and query verbatim. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  /** `1.1`, or `1.0` from old clients and some proxies; empty when no request could be parsed. */
  readonly httpVersion: string;
  readonly hasBody: boolean;
  /** Verbatim; empty without one. */
  readonly body: string;
  /** The requested operation; undefined for an unknown route or a wrong method. */
  readonly operation: Operation | undefined;
}

/**
 * A response. A Buffer, a Readable, and a text whose `content-type` is not JSON are sent verbatim. Any other body is
 * sent as JSON.
 */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** No response: the connection is cut. For services that simulate faults. */
export interface CutOff {
  readonly cutOff: 'beforeHeaders' | 'midBody';
}

/** What a handler returns. The status defaults to the one in the contract. */
export interface HandlerAnswer<Body = unknown> {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** What can fail before or in a handler. The owner of the server decides the response. */
export type RequestFailure =
  | { readonly kind: 'unknownRoute' }
  | { readonly kind: 'wrongMethod'; readonly allowed: readonly string[] }
  | { readonly kind: 'malformedUrl' }
  | { readonly kind: 'malformedJson' }
  | { readonly kind: 'bodyTooLarge' }
  /** No valid HTTP, too many headers, or too slow. `status` is the 4xx that HTTP has for it. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly error: unknown }
  | {
      readonly kind: 'invalidInput';
      readonly part: 'params' | 'query' | 'body';
      readonly issues: readonly z.core.$ZodIssue[];
    }
  | { readonly kind: 'handlerError'; readonly error: unknown };

/** Handles one operation. Its input is parsed, its response has the type of the contract on the wire. */
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
    /** Starts with a slash and ends without one. Empty for the root. */
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
