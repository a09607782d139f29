/** Names of upwave's BullMQ queues. They share one hash tag, so that Redis Cluster keeps their keys together. */
export interface QueueNames {
  readonly prefix: string;
  readonly steps: string;
  readonly scans: string;
  readonly notices: string;
}

/** @param keyPrefix as in the config, `redis.keyPrefix` */
export function makeQueueNames(keyPrefix: string): QueueNames {
  // No policy's name contains a colon, so no policy's keys have this tag.
  return { prefix: `${keyPrefix}:{queue:bull}`, steps: 'steps', scans: 'scans', notices: 'notices' };
}

/** `:` is restricted in job ids, and neither part contains a dot. */
export function stepJobId(rolloutId: string, collectorId: number): string {
  return `${rolloutId}.${collectorId}`;
}
