export type QueueNames = ReturnType<typeof makeQueueNames>;

/**
 * Names of upwave's BullMQ queues. They share one hash tag, so that Redis Cluster keeps their keys together.
 * @param keyPrefix as in the config, `redis.keyPrefix`
 */
export function makeQueueNames(keyPrefix: string) {
  // No policy's name contains a colon, so no policy's keys have this tag.
  return { prefix: `${keyPrefix}:{queue:bull}`, steps: 'steps', scans: 'scans', notices: 'notices' };
}

/** `:` is restricted in job ids, and neither part contains a dot. */
export function stepJobId(rolloutId: string, collectorId: number): string {
  return `${rolloutId}.${collectorId}`;
}
