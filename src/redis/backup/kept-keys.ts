import type { RedisConnection } from '../connection/connection.ts';

// One step of a walk over all keys; Redis serves others in between.
const keysPerScan = 1_000;

/**
 * All keys of an installation that hold its state: rollouts, what belongs to a policy, and the register. Left out is
 * what passes by itself, and means nothing elsewhere: the lease, a restore's own, marks, staged plans, the API budget,
 * BullMQ's keys, and what tells this Redis from another.
 */
export async function findKeptKeys(
  connection: RedisConnection,
  keyPrefix: string,
): Promise<readonly string[]> {
  const keys = await findKeys(connection, `${keyPrefix}:{*`);
  return keys.filter((key) => isKept(key, keyPrefix)).sort();
}

/** Removes these keys; on a Cluster they may be anywhere. */
export async function removeKeys(connection: RedisConnection, keys: readonly string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += keysPerScan) {
    const piece = keys.slice(from, from + keysPerScan);
    // One key each: on a Cluster, one command for several would have to find them all in one slot.
    await Promise.all(piece.map((key) => connection.commands.unlink(key)));
  }
}

function isKept(key: string, keyPrefix: string): boolean {
  const ofLeader = ['lease', 'epoch', 'tried', 'restoring', 'daemons', 'configs'].map(
    (name) => `{leader}:${name}`,
  );
  const passing = [...ofLeader, '{budget:', '{queue:', '{fleet}:mark:'];
  const isPassing = passing.some((start) => key.startsWith(`${keyPrefix}:${start}`));
  return !isPassing && !key.endsWith('}:born') && !key.includes(':staging:');
}

async function findKeys({ client }: RedisConnection, pattern: string): Promise<readonly string[]> {
  const nodes = 'nodes' in client ? client.nodes('master') : [client];
  // A walk may show a key twice.
  const found = new Set<string>();
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', keysPerScan);
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== '0');
  }
  return [...found];
}
