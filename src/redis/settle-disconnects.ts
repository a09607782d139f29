import type { Cluster, Redis } from 'ioredis';

/**
 * Makes a client end when it is disconnected between two attempts to connect, and every client that is duplicated from
 * it. The library's own (6.0.0, pinned) never does: what waits for its commands waits for ever, and so does BullMQ, which
 * waits for that end when it closes a worker.
 */
export function settleDisconnects<Client extends Redis | Cluster>(client: Client): Client {
  const disconnect = client.disconnect.bind(client);
  // Both are inside; that the library has them, the tests show.
  const insides = client as unknown as {
    setStatus(status: 'end'): void;
    flushQueue(error: Error): void;
    manuallyClosing: boolean;
  };
  client.disconnect = (reconnect = false) => {
    const isBetweenAttempts = client.status === 'reconnecting';
    disconnect(reconnect);
    if (!isBetweenAttempts || reconnect) return;
    insides.manuallyClosing = false;
    insides.setStatus('end');
    insides.flushQueue(new Error('Connection is closed.'));
  };
  settleDuplicates(client);
  return client;
}

function settleDuplicates(client: Redis | Cluster): void {
  // Each has parameters of its own, which a function that passes them on can't say.
  const duplicate: (...options: never[]) => Redis | Cluster = client.duplicate.bind(client);
  client.duplicate = ((...options: never[]) => settleDisconnects(duplicate(...options))) as never;
}
