import type { Cluster } from 'ioredis';

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
