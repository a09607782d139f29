import type { ChainableCommander } from 'ioredis';
import { invariant } from '../../base/assert.ts';
import type { RedisConnection } from '../connection/connection.ts';
import type { BackupPart } from './backup-lines.ts';
import { encodeRestored } from './restored-record.ts';

/** Writes parts of keys that share a hash tag, all at one instant; keys that are removed go last. */
export async function writeParts(
  { client }: RedisConnection,
  parts: readonly BackupPart[],
  removed: readonly string[] = [],
): Promise<void> {
  const transaction = client.multi();
  for (const part of parts) addPart(transaction, part);
  for (const key of removed) transaction.del(key);
  const replies = await transaction.exec();
  invariant(replies !== null, 'nothing was watched, so nothing could stop the transaction');
  for (const [error] of replies) if (error !== null) throw error;
}

function addPart(transaction: ChainableCommander, { key, type, values, expiresAt }: BackupPart): void {
  switch (type) {
    case 'string':
      transaction.set(key, values[0] ?? '');
      break;
    case 'hash':
      transaction.hset(key, ...(key.endsWith(':records') ? restoredRecords(values) : values));
      break;
    case 'zset':
      transaction.zadd(key, ...scoresFirst(values));
      break;
    case 'stream':
      // Entries with the ids that they had, in their order.
      for (let at = 0; at + 2 < values.length; at += 3) {
        const [id = '', name = '', value = ''] = values.slice(at, at + 3);
        transaction.xadd(key, id, name, value);
      }
      break;
  }
  if (expiresAt !== null) transaction.pexpireat(key, expiresAt);
}

function restoredRecords(values: readonly string[]): string[] {
  return values.map((text, at) => (at % 2 === 0 ? text : encodeRestored(text)));
}

/** Redis answers members first, and is told scores first. */
function scoresFirst(values: readonly string[]): string[] {
  return values.map((_value, at) => values[at % 2 === 0 ? at + 1 : at - 1] ?? '');
}
