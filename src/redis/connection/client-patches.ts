import { Cluster, type Redis } from 'ioredis';
import { isRightsRefusal } from './redis-errors.ts';

export type Client = Redis | Cluster;

/** Private members of both kinds of client, as ioredis 6.0.0 (pinned) has them. */
interface Internals {
  setStatus(status: string): void;
  flushQueue(error: Error): void;
  manuallyClosing: boolean;
}

function internalsOf(client: Client): Internals {
  return client as unknown as Internals;
}

/**
 * Repairs what ioredis 6.0.0 leaves open, in a client and in all that are duplicated from it. `client-patches.test.ts`
 * has a test for each patch: one that passes without its patch says that the patch can go.
 * @returns the clients that were duplicated, those that ended among them
 */
export function patchClient(client: Client): readonly Client[] {
  const duplicates: Client[] = [];
  patch(client, duplicates);
  return duplicates;
}

/** BullMQ duplicates one for each worker, and when it closes a worker it ends that one and connects it again. */
function patch(client: Client, duplicates: Client[]): void {
  endWhenDisconnected(client);
  answerRefusedInfo(client);
  if (client instanceof Cluster) {
    keepEnded(client);
    settleConnect(client);
  }
  // Each kind has its own parameters, which a function that passes them on can't state.
  const duplicate: (...options: never[]) => Client = client.duplicate.bind(client);
  client.duplicate = ((...options: never[]) => {
    const made = duplicate(...options);
    duplicates.push(made);
    patch(made, duplicates);
    return made;
  }) as never;
}

/**
 * A client that is disconnected ends, also between two attempts to connect, and stays ended until it is connected again.
 * The library's own waits for the close of a connection that it does not have, and BullMQ waits for that end when it
 * closes a worker.
 */
function endWhenDisconnected(client: Client): void {
  const disconnect = client.disconnect.bind(client);
  const internals = internalsOf(client);
  client.disconnect = (reconnect = false) => {
    // A cluster's would take its end back, and keep what it is sent from then on.
    if (client.status === 'end' && !reconnect) return;
    const isIdle = client.status === 'reconnecting' || isWithoutNodes(client);
    disconnect(reconnect);
    if (!isIdle || reconnect) return;
    internals.manuallyClosing = false;
    internals.setStatus('end');
    internals.flushQueue(new Error('Connection is closed.'));
  };
}

/** A cluster that knows no node yet has none whose end it could hear. */
function isWithoutNodes(client: Client): boolean {
  return client instanceof Cluster && client.status === 'connecting' && client.nodes().length === 0;
}

/** Each of several nodes that end together reports that it was the last, and the second report reopens an ended cluster. */
function keepEnded(client: Cluster): void {
  const internals = internalsOf(client);
  const setStatus = internals.setStatus.bind(client);
  internals.setStatus = (status) => {
    if (client.status !== 'end' || status !== 'close') setStatus(status);
  };
}

/**
 * `connect` of a cluster client settles. The library's own never does when the cluster is not whole: it tries again
 * under another promise. BullMQ waits for it without a limit, and its worker took no job any more after a node had come
 * back (P11).
 */
function settleConnect(client: Cluster): void {
  const connect = client.connect.bind(client);
  // One attempt, as the library means it: events report those that follow a lost one.
  client.connect = () => {
    const attempt = connect();
    return new Promise((resolve, reject) => {
      const onClose = () => reject(new Error('the attempt to connect to the cluster was lost'));
      client.once('close', onClose);
      attempt.finally(() => client.off('close', onClose)).then(resolve, reject);
    });
  };
}

/**
 * What is answered in Redis's place: the lowest version that BullMQ takes without a word on the console, and the first one
 * in which a user may be refused channels.
 */
export const refusedInfo = 'redis_version:6.2.0\r\n';

/**
 * `INFO` has next to nothing to say where Redis refuses it to our user. ioredis and BullMQ ask for it before they begin,
 * and would give up or print to the console. `rights-watch.ts` reports what is missing.
 */
function answerRefusedInfo(client: Client): void {
  if (client instanceof Cluster) {
    client.on('+node', answerRefusedInfo);
    return;
  }
  const sendCommand = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    if (command.name === 'info') {
      const { resolve, reject } = command;
      command.reject = (error) => (isRightsRefusal(error) ? resolve(refusedInfo) : reject(error));
    }
    return sendCommand(command, stream);
  };
}

/**
 * Disconnects a client, and refuses the commands that still wait, however far its own end is: it hears late of sentinels
 * that do not answer, and a daemon that closes while Redis is away would hang.
 */
export function endNow(client: Client): void {
  client.disconnect();
  internalsOf(client).flushQueue(new Error('the connection to Redis was closed'));
}
