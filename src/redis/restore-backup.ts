import type { EpochMs } from '../base/time.ts';
import type { BackupPart } from './backup-lines.ts';
import type { RedisConnection } from './connection.ts';
import { findKeptKeys, removeKeys } from './kept-keys.ts';
import { makeRedisLeaderLease } from './redis-leader-lease.ts';
import { markRestored } from './redis-store-birth.ts';
import { encodeRestored } from './restored-record.ts';

interface Target {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
}

export type RestoreResult =
  | { readonly kind: 'restored'; readonly keys: number; readonly rollouts: number }
  /** There is state already, and nobody said that it may go. */
  | { readonly kind: 'occupied'; readonly keys: number }
  /** A daemon works there. */
  | { readonly kind: 'led' };

/**
 * Puts a backup's state in the place of what is there; BullMQ's jobs are delivered anew by the daemons. Nobody leads
 * meanwhile. Cut off in the middle, it is begun again with `replaces`.
 * @param backup what is to be written, and whether it may replace something
 */
export async function restoreBackup(
  target: Target,
  backup: { readonly parts: AsyncIterable<BackupPart>; readonly replaces: boolean; readonly now: EpochMs },
): Promise<RestoreResult> {
  const { connection, keyPrefix } = target;
  const lease = makeRedisLeaderLease({ commands: connection.commands, keyPrefix });
  try {
    const own = await lease.hold();
    if (own === undefined) return { kind: 'led' };
    const present = await findKeptKeys(connection, keyPrefix);
    if (present.length > 0 && !backup.replaces) return { kind: 'occupied', keys: present.length };
    await removeKeys(connection, present);
    const written = new Set<string>();
    let fenceMax = own;
    for await (const part of backup.parts) {
      if (part.expiresAt !== null && part.expiresAt <= backup.now) continue;
      await writePart(connection, part);
      written.add(part.key);
      if (part.key.endsWith('}:fence')) fenceMax = Math.max(fenceMax, Number(part.values[0]));
    }
    // The next leader must be newer than any whose word stands in the records, or it would be refused.
    await connection.commands.set(`${keyPrefix}:{leader}:epoch`, String(fenceMax));
    await markRestored(target);
    const rollouts = [...written].filter((key) => key.endsWith(':rollout')).length;
    return { kind: 'restored', keys: written.size, rollouts };
  } finally {
    await lease.release();
  }
}

async function writePart({ commands }: RedisConnection, part: BackupPart): Promise<void> {
  const { key, type, values, expiresAt } = part;
  switch (type) {
    case 'string':
      await commands.set(key, values[0] ?? '');
      break;
    case 'hash':
      await commands.hset(key, ...(key.endsWith(':records') ? restoredRecords(values) : values));
      break;
    case 'zset':
      await commands.zadd(key, ...scoresFirst(values));
      break;
    case 'stream':
      await appendAll(commands, key, values);
      break;
  }
  if (expiresAt !== null) await commands.pexpireat(key, expiresAt);
}

function restoredRecords(values: readonly string[]): string[] {
  return values.map((text, at) => (at % 2 === 0 ? text : encodeRestored(text)));
}

/** Redis answers members first, and is told scores first. */
function scoresFirst(values: readonly string[]): string[] {
  return values.map((_value, at) => values[at % 2 === 0 ? at + 1 : at - 1] ?? '');
}

/** Entries with the ids that they had, in their order. */
async function appendAll(
  commands: RedisConnection['commands'],
  key: string,
  values: readonly string[],
): Promise<void> {
  const entries: Array<Promise<unknown>> = [];
  for (let at = 0; at + 2 < values.length; at += 3) {
    const [id = '', name = '', value = ''] = values.slice(at, at + 3);
    entries.push(commands.xadd(key, id, name, value));
  }
  await Promise.all(entries);
}
