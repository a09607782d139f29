import type { Operation, OperationInput } from '../contract/operation.ts';
import type { HandlerAnswer, HttpRequest, OperationHandlers } from './http-exchange.ts';

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

/** Binds every operation of an API to its handler. Types are checked here and forgotten after. */
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
