// With 100,000 collectors a bucket has a hundred: finding a name reads 50 KB, and the index takes 11 B a collector.
const buckets = 1_024;

/**
 * The bucket of a name in a plan's index of names. Several collectors share a bucket, so a reader compares the names.
 * Buckets are stored in Redis, so this function must never change.
 */
export function nameBucketOf(name: string): string {
  // FNV-1a, which is fast enough for a plan of 100,000.
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return String((hash >>> 0) % buckets);
}
