import { Cluster, type Redis } from 'ioredis';

// Of a command, a key or a channel; in a script Redis 6 and 7.0 say it in other words than outside of one.
const refusals = /\bNOPERM\b|\bThe user executing the script can't\b/;

/**
 * True for an error that means that Redis is there, and does not let our user do what was asked: it is a person's to
 * grant, however often it is asked again. Never to be taken for a Redis that is away.
 */
export function isRightsRefusal(error: unknown): error is Error {
  return error instanceof Error && refusals.test(error.message);
}

/**
 * What is answered in Redis's place: the least version that BullMQ takes without a word on the console, and the first one
 * in which a user may be refused channels.
 */
export const refusedInfo = 'redis_version:6.2.0\r\n';

/**
 * Lets `INFO` say next to nothing where Redis refuses it to our user: libraries ask for it before they begin, and would give up,
 * or print to the console (ioredis 6.0.0, BullMQ 6.7.0, pinned). What is lost is told by `rights-watch.ts`. It holds for
 * the nodes of a cluster, and for every client that is duplicated from this one.
 */
export function quietInfo<Client extends Redis | Cluster>(client: Client): Client {
  if (client instanceof Cluster) client.on('+node', (node: Redis) => quietInfo(node));
  else quietRedis(client);
  // Each kind has parameters of its own, which a function that passes them on can't say.
  const duplicate: (...options: never[]) => Redis | Cluster = client.duplicate.bind(client);
  client.duplicate = ((...options: never[]) => quietInfo(duplicate(...options))) as never;
  return client;
}

function quietRedis(client: Redis): void {
  const sendCommand = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    if (command.name === 'info') {
      const { resolve, reject } = command;
      command.reject = (error) => (isRightsRefusal(error) ? resolve(refusedInfo) : reject(error));
    }
    return sendCommand(command, stream);
  };
}
