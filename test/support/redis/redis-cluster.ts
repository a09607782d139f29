import { until } from '../until.ts';
import { makeRedisProcess, type RedisProcess } from './redis-process.ts';

/** A node of a Redis Cluster, which has no slots yet. */
export async function startClusterNode(): Promise<RedisProcess> {
  const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
  const server = await makeRedisProcess({ args });
  await server.start();
  return server;
}

/** A Redis Cluster of one node, which serves all slots. */
export async function startCluster(): Promise<RedisProcess> {
  const server = await startClusterNode();
  await server.ask('CLUSTER ADDSLOTSRANGE 0 16383');
  await until('all slots to be served', async () => (await server.ask('SET ready yes')) === '+OK');
  return server;
}

/** Takes one slot from the only node, without which a cluster refuses every command. */
export async function loseSlot(server: RedisProcess): Promise<void> {
  await server.ask('CLUSTER DELSLOTS 0');
  await until('the cluster to be down', async () =>
    (await server.ask('SET ready yes'))?.startsWith('-CLUSTERDOWN'),
  );
}
