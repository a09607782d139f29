import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopbackAddress } from '../base/loopback.ts';

/** How many connections a server keeps open. */
export interface ConnectionLimits {
  readonly max: number;
  /** Connections from one address. A proxy counts as one address. */
  readonly perAddressMax: number;
  /** Additional connections for this machine, where the operator is, while all others are busy. */
  readonly reservedForLoopback: number;
}

/** An idle connection is closed after this time. */
const keepAliveMs = 10_000;

/**
 * Limits the connections of a server, so that idle ones take no descriptors from the rest of the process and lock
 * nobody out. A new connection replaces the one that has been idle longest: one without a request, or with an
 * incomplete request. When every connection is being answered, the new one is refused.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  /** In the order of their last activity, with the request in progress. */
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
    const reserved = isLoopbackAddress(address) ? limits.reservedForLoopback : 0;
    const hasRoom =
      makeRoom(limits.perAddressMax + reserved, (other) => other === address) &&
      makeRoom(limits.max + reserved, () => true);
    if (!hasRoom) {
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
      // Moves it to the end: it was active last.
      if (open.delete(socket)) open.set(socket, known);
    });
  });
}
