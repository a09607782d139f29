// 100,000 collectors are a hundred a bucket: one read of 50 KB finds a name, and the index takes 11 B a collector.
const buckets = 1_024;

/**
 * The bucket of a plan's index of names that a collector is filed under: a few collectors share each, and who looks for a
 * name compares theirs. Kept in Redis, so it never changes.
 */
export function nameBucketOf(name: string): string {
  // FNV-1a: a plan of 100,000 has no time for more.
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return String((hash >>> 0) % buckets);
}
