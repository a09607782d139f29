import { Cluster, type Redis } from 'ioredis';
import { isRightsRefusal } from './redis-errors.ts';
import { writeTogether } from './write-together.ts';

export type Client = Redis | Cluster;

/** Private members of both kinds of client in ioredis 6.0.0, which is pinned. */
interface Internals {
  setStatus(status: string): void;
  flushQueue(error: Error): void;
  manuallyClosing: boolean;
}

function internalsOf(client: Client): Internals {
  return client as unknown as Internals;
}

/**
 * Works around bugs of ioredis 6.0.0, in a client and its duplicates. `client-patches.test.ts` has a test for each patch:
 * when it passes without the patch, remove the patch.
 * @returns all duplicated clients, including those that have ended
 */
export function patchClient(client: Client): readonly Client[] {
  const duplicates: Client[] = [];
  patch(client, duplicates);
  return duplicates;
}

/** BullMQ duplicates a client for each worker. When it closes a worker, it ends that client and connects it again. */
function patch(client: Client, duplicates: Client[]): void {
  endWhenDisconnected(client);
  answerRefusedInfo(client);
  writeTogether(client);
  if (client instanceof Cluster) {
    keepEnded(client);
    settleConnect(client);
  }
  // The kinds have different parameters, which a pass-through function can't express.
  const duplicate: (...options: never[]) => Client = client.duplicate.bind(client);
  client.duplicate = ((...options: never[]) => {
    const made = duplicate(...options);
    duplicates.push(made);
    patch(made, duplicates);
    return made;
  }) as never;
}

/**
 * Makes a disconnected client end, also between two connection attempts, and stay ended until it is connected again. The
 * original waits for the close of a connection that does not exist, and BullMQ waits for that end when it closes a worker.
 */
function endWhenDisconnected(client: Client): void {
  const disconnect = client.disconnect.bind(client);
  const internals = internalsOf(client);
  client.disconnect = (reconnect = false) => {
    // A cluster client would reopen, and queue commands from then on.
    if (client.status === 'end' && !reconnect) return;
    const isIdle = client.status === 'reconnecting' || isWithoutNodes(client);
    disconnect(reconnect);
    if (!isIdle || reconnect) return;
    internals.manuallyClosing = false;
    internals.setStatus('end');
    internals.flushQueue(new Error('Connection is closed.'));
  };
}

/** True for a cluster client that has not found any node yet. */
function isWithoutNodes(client: Client): boolean {
  return client instanceof Cluster && client.status === 'connecting' && client.nodes().length === 0;
}

/**
 * Keeps an ended cluster client ended. When several nodes end together, each reports that it was the last, and the second
 * report would reopen the client.
 */
function keepEnded(client: Cluster): void {
  const internals = internalsOf(client);
  const setStatus = internals.setStatus.bind(client);
  internals.setStatus = (status) => {
    if (client.status !== 'end' || status !== 'close') setStatus(status);
  };
}

/**
 * Makes `connect` of a cluster client settle. The original never does when the cluster is incomplete, because it retries
 * under another promise. BullMQ waits for it without a limit, so its worker would take no more jobs after a node has come
 * back (P11).
 */
function settleConnect(client: Cluster): void {
  const connect = client.connect.bind(client);
  // One attempt, as in the library. Events report later ones.
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
 * The reply to a refused `INFO`: the lowest version for which BullMQ prints no warning, and the first one with rights for
 * channels.
 */
export const refusedInfo = 'redis_version:6.2.0\r\n';

/**
 * Answers `INFO` with a minimal reply when Redis refuses it to upwave's user. ioredis and BullMQ send it first, and would
 * fail or print to the console. `rights-watch.ts` reports the missing right.
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
 * Disconnects a client, and rejects all pending commands at once. The client itself notices unreachable sentinels late, and
 * a daemon that stops while Redis is unreachable would hang.
 */
export function endNow(client: Client): void {
  client.disconnect();
  internalsOf(client).flushQueue(new Error('the connection to Redis was closed'));
}
