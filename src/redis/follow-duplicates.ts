import type { Cluster, Redis } from 'ioredis';

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
