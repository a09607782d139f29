import { z } from 'zod';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { ScanBook, ScanEntry } from '../../orchestrator/ports/scan-book.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { type BrokenRecords, decodeRecord } from '../schema/unreadable-records.ts';

// Scans of a removed policy are kept while an operator may look for its rollout.
const entriesKeptMs: DurationMs = 365 * 86_400_000;

const scanEntry = z.object({
  policy: z.string(),
  outcome: z.enum(['started', 'busy', 'nothing', 'failed']),
  at: z.number(),
  reason: z.string(),
  needs: z.object({ kind: z.literal('start'), reason: z.string() }).optional(),
  overdueAt: z.number(),
  failedSince: z.number().optional(),
  againAt: z.number().optional(),
  fleet: z.object({ size: z.number(), shortSince: z.number().optional() }).optional(),
}) satisfies z.ZodType<ScanEntry>;

/** The last scans, in one hash that all daemons share: `<outcome>:<policy>` → the last scan with this outcome. */
export function makeRedisScanBook(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly now: () => EpochMs;
  readonly broken: BrokenRecords;
}): ScanBook {
  const { commands, keyPrefix, now, broken } = redis;
  const key = `${keyPrefix}:{fleet}:scans`;
  const isKept = ({ at }: ScanEntry) => at >= now() - entriesKeptMs;
  const readAll = async () =>
    Object.entries(await commands.hgetall(key)).flatMap(([field, text]) => {
      const entry = broken.read(() => decodeRecord(scanEntry, `the last scan ${field}`, text));
      return entry === undefined ? [] : [{ field, entry }];
    });

  return {
    note: async (entry) => {
      await commands.hset(key, `${entry.outcome}:${entry.policy}`, JSON.stringify(entry));
      const old = (await readAll()).flatMap((each) => (isKept(each.entry) ? [] : [each.field]));
      if (old.length > 0) await commands.hdel(key, ...old);
    },
    read: async () => (await readAll()).map(({ entry }) => entry).filter(isKept),
  };
}
