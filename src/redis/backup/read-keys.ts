import { invariant } from '../../base/assert.ts';
import type { DurationMs } from '../../base/time.ts';
import type { RedisConnection } from '../connection/connection.ts';

export const keptTypes = ['string', 'hash', 'zset', 'stream'] as const;
export type KeptType = (typeof keptTypes)[number];

/** What a key held at one instant. */
export interface KeyContent {
  readonly key: string;
  readonly type: KeptType;
  /** How long it had to live; null: for good. */
  readonly leftMs: DurationMs | null;
  /**
   * Texts: one for a string, name and value in turn for a hash, member and score in turn for a sorted set, and for a
   * stream id, name and value in turn.
   */
  readonly values: readonly string[];
}

/** How many texts belong together, and must not be torn apart. */
export const valuesPerItem: Readonly<Record<KeptType, number>> = { string: 1, hash: 2, zset: 2, stream: 3 };

/**
 * Reads keys of one hash tag at one instant, so that a record and what is counted of it agree while daemons work. Those
 * that are not there are left out. 100,000 collectors keep Redis busy for a fraction of a second.
 */
export async function readKeys(
  { client }: RedisConnection,
  keys: readonly string[],
): Promise<readonly KeyContent[]> {
  const types = await Promise.all(keys.map((key) => client.type(key)));
  const present = keys.flatMap((key, index) => {
    const type = keptTypes.find((each) => each === types[index]);
    // A key's type never changes here; another one is not ours.
    invariant(type !== undefined || types[index] === 'none', `${key} in Redis is a ${types[index]}`);
    return type === undefined ? [] : [{ key, type }];
  });
  if (present.length === 0) return [];
  const transaction = client.multi();
  for (const { key, type } of present) {
    transaction.pttl(key);
    if (type === 'string') transaction.get(key);
    if (type === 'hash') transaction.hgetall(key);
    if (type === 'zset') transaction.zrange(key, '0', '-1', 'WITHSCORES');
    if (type === 'stream') transaction.xrange(key, '-', '+');
  }
  const replies = (await transaction.exec()) ?? [];
  const answers = replies.map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
  return present.flatMap(({ key, type }, index) => {
    const leftMs = Number(answers[2 * index]);
    const values = flatten(type, answers[2 * index + 1]);
    // -2: it ran out since its type was asked for.
    return leftMs === -2 ? [] : [{ key, type, leftMs: leftMs < 0 ? null : leftMs, values }];
  });
}

/** What Redis answered, by type: the shapes are those of the library. */
function flatten(type: KeptType, answer: unknown): readonly string[] {
  switch (type) {
    case 'string':
      return answer === null ? [] : [answer as string];
    case 'hash':
      return Object.entries(answer as Readonly<Record<string, string>>).flat();
    case 'zset':
      return answer as readonly string[];
    case 'stream':
      return (answer as ReadonlyArray<readonly [id: string, fields: readonly string[]]>).flatMap(
        ([id, fields]) => {
          invariant(fields.length === 2, `entry ${id} of a stream has ${fields.length} texts`);
          return [id, ...fields];
        },
      );
  }
}
