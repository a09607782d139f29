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

/**
 * Makes `connect` of a cluster client settle, and of every client that is duplicated from it. The library's own (6.0.0,
 * pinned) never does when it meets a cluster that is not whole: it tries again under another promise, and nobody hears
 * of this one. BullMQ waits for it without a limit, and its worker took no job any more after a node had come back
 * (P11).
 */
export function settleConnects<Client extends Cluster>(client: Client): Client {
  const connect = client.connect.bind(client);
  const duplicate = client.duplicate.bind(client);
  // One attempt, as the library means it: of those that follow a lost one, the events tell.
  client.connect = () => {
    const attempt = connect();
    return new Promise((resolve, reject) => {
      const onClose = () => reject(new Error('the attempt to connect to the cluster was lost'));
      client.once('close', onClose);
      attempt.finally(() => client.off('close', onClose)).then(resolve, reject);
    });
  };
  // Generic in its options, which a function that passes them on can't say.
  client.duplicate = ((nodes, options) =>
    settleConnects(duplicate(nodes, options))) as typeof client.duplicate;
  return client;
}

/**
 * Knows the clients that were duplicated from one, also those that ended: BullMQ makes one for each worker, and when it
 * closes a worker it ends that and connects it anew. A Redis that is frozen keeps it, and the process with it, until
 * somebody disconnects it or its silence is noticed.
 */
export function followDuplicates(client: Redis | Cluster): readonly (Redis | Cluster)[] {
  const duplicates: (Redis | Cluster)[] = [];
  // Each kind has parameters of its own, which a function that passes them on can't say.
  const duplicate: (...options: never[]) => Redis | Cluster = client.duplicate.bind(client);
  client.duplicate = ((...options: never[]) => {
    const made = duplicate(...options);
    duplicates.push(made);
    return made;
  }) as never;
  return duplicates;
}
