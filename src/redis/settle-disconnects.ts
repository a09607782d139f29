import { Cluster, type Redis } from 'ioredis';

/** What is inside of both kinds of client; that the library has it, the tests show. */
interface Insides {
  setStatus(status: string): void;
  flushQueue(error: Error): void;
  manuallyClosing: boolean;
}

/**
 * Makes a client end when it is disconnected, whatever it was at, and stay ended until it is connected anew; and every
 * client that is duplicated from it. The library's own (6.0.0, pinned) does not: what waits for its commands waits for
 * ever, and so does BullMQ, which waits for that end when it closes a worker.
 */
export function settleDisconnects<Client extends Redis | Cluster>(client: Client): Client {
  const disconnect = client.disconnect.bind(client);
  const insides = client as unknown as Insides;
  client.disconnect = (reconnect = false) => {
    // A cluster's would take its end back, and keep what it is sent from then on.
    if (client.status === 'end' && !reconnect) return;
    const isIdle = client.status === 'reconnecting' || looksForNodes(client);
    disconnect(reconnect);
    if (!isIdle || reconnect) return;
    insides.manuallyClosing = false;
    insides.setStatus('end');
    insides.flushQueue(new Error('Connection is closed.'));
  };
  if (client instanceof Cluster) keepEnd(client);
  settleDuplicates(client);
  return client;
}

/** A cluster that knows no node yet has none of whose end it could hear. */
function looksForNodes(client: Redis | Cluster): boolean {
  return client instanceof Cluster && client.status === 'connecting' && client.nodes().length === 0;
}

/** Each of several nodes that end together says that it was the last, and the second one closes a cluster that has ended. */
function keepEnd(client: Cluster): void {
  const insides = client as unknown as Insides;
  const setStatus = insides.setStatus.bind(client);
  insides.setStatus = (status) => {
    if (client.status !== 'end' || status !== 'close') setStatus(status);
  };
}

function settleDuplicates(client: Redis | Cluster): void {
  // Each has parameters of its own, which a function that passes them on can't say.
  const duplicate: (...options: never[]) => Redis | Cluster = client.duplicate.bind(client);
  client.duplicate = ((...options: never[]) => settleDisconnects(duplicate(...options))) as never;
}
