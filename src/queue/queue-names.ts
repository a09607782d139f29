/** Names of our BullMQ queues. One hash tag for all of them, so that Redis Cluster keeps a queue's keys together. */
export interface QueueNames {
  readonly prefix: string;
  readonly steps: string;
  readonly scans: string;
  readonly notices: string;
}

/** @param keyPrefix as in the config, `redis.keyPrefix` */
export function makeQueueNames(keyPrefix: string): QueueNames {
  // The colon in the tag: no policy has one in its name, so no policy shares these keys.
  return { prefix: `${keyPrefix}:{queue:bull}`, steps: 'steps', scans: 'scans', notices: 'notices' };
}

/** `:` is restricted in job ids, and neither part contains a dot. */
export function stepJobId(rolloutId: string, collectorId: number): string {
  return `${rolloutId}.${collectorId}`;
}
