import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many connections a server keeps open. */
export interface ConnectionLimits {
  readonly max: number;
  /** Of one address; a proxy is one. */
  readonly perAddressMax: number;
  /** So many more for this machine, where the operator sits, while all others are busy. */
  readonly reservedForLoopback: number;
}

/** Waits without a request are cut after this. */
const keepAliveMs = 10_000;

/**
 * Keeps the connections of a server within bounds, so that idle ones take no descriptors from the rest of the process
 * and keep nobody out. A newcomer takes the place of the connection that has been silent longest: one without a
 * request, or whose request has not arrived whole. Only where every connection is being answered it is refused.
 */
export function boundConnections(server: Server, limits: ConnectionLimits): void {
  /** In the order of their last activity, with the request that is still running. */
  const open = new Map<Socket, { readonly address: string; request: IncomingMessage | undefined }>();

  const makeRoom = (countMax: number, counts: (address: string) => boolean): boolean => {
    const counted = [...open].filter(([, known]) => counts(known.address));
    if (counted.length < countMax) return true;
    const silent = counted.find(([, { request }]) => request?.complete !== true);
    if (silent === undefined) return false;
    open.delete(silent[0]);
    silent[0].destroy();
    return true;
  };

  server.keepAliveTimeout = keepAliveMs;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const max = limits.max + (isLoopback(address) ? limits.reservedForLoopback : 0);
    const perAddressMax = limits.perAddressMax + (isLoopback(address) ? limits.reservedForLoopback : 0);
    if (!makeRoom(perAddressMax, (other) => other === address) || !makeRoom(max, () => true)) {
      socket.destroy();
      return;
    }
    open.set(socket, { address, request: undefined });
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const known = open.get(socket);
    if (known === undefined) return;
    known.request = request;
    response.once('close', () => {
      known.request = undefined;
      // Now it is the one that was active last.
      if (open.delete(socket)) open.set(socket, known);
    });
  });
}

function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\./.test(address) || address === '::1';
}
