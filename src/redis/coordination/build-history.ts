import { z } from 'zod';
import type { EpochMs } from '../../base/time.ts';
import { type BuildHistory, buildRecordsMax } from '../../orchestrator/ports/build-history.ts';
import type { BuildRecord, FailureName } from '../../rollout/report/build-record.ts';
import { pairsOf, rangeBound } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { type BrokenRecords, decodeRecord } from '../schema/unreadable-records.ts';
import { recordBuildScript } from './scripts.ts';

const failureNames = [
  'permanent',
  'retry',
  'failed',
  'timedOut',
  'unconfirmed',
] as const satisfies FailureName[];

const figures = {
  tried: z.number(),
  failed: z.partialRecord(z.enum(failureNames), z.number()),
  returned: z.number(),
  medianMs: z.number().nullable(),
};
const buildRecord = z.object({
  rolloutId: z.string(),
  policy: z.string(),
  build: z.string(),
  endedAt: z.number(),
  strata: z.array(z.object({ label: z.string(), ...figures })),
  others: z.object(figures).nullable(),
  groups: z
    .array(
      z.object({
        attributes: z.array(z.object({ key: z.string(), value: z.string() })),
        tried: z.number(),
        failed: z.number(),
      }),
    )
    .default([]),
}) satisfies z.ZodType<BuildRecord>;

/** Records of what builds did, in keys that all daemons share and that never expire. */
export function makeRedisBuildHistory(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** Receives unreadable records. */
  readonly broken: BrokenRecords;
}): BuildHistory {
  const { commands, keyPrefix, broken } = redis;
  const keys = {
    /** Hash: rollout → record. */
    records: `${keyPrefix}:{fleet}:buildRecords`,
    /** Sorted set: rollouts by when they ended. */
    ends: `${keyPrefix}:{fleet}:buildRecordEnds`,
  };
  /** The rollouts that ended last, newest first. */
  const readEnds = async (limit: number) => {
    if (limit <= 0) return [];
    const flat = await commands.zrevrange(keys.ends, 0, rangeBound(limit) - 1, 'WITHSCORES');
    return pairsOf(flat).map(([rolloutId, score]): readonly [string, EpochMs] => [rolloutId, Number(score)]);
  };
  /** The records as they were read last. Each is read once: a replaced one has another end. */
  let known = new Map<string, BuildRecord>();

  return {
    recorded: async () => new Map(await readEnds(buildRecordsMax)),
    record: async (record) => {
      await runScript(commands, recordBuildScript, {
        keys,
        args: {
          rollout: record.rolloutId,
          endedAt: record.endedAt,
          record: JSON.stringify(record),
          recordsMax: buildRecordsMax,
        },
      });
    },
    read: async (limit) => {
      const ends = await readEnds(limit);
      const before = known;
      const unread = ends.flatMap(([id, endedAt]) => (before.get(id)?.endedAt === endedAt ? [] : [id]));
      const texts = unread.length === 0 ? [] : await commands.hmget(keys.records, ...unread);
      const read = unread.flatMap((id, index) => {
        const text = texts[index];
        // Dropped meanwhile.
        if (typeof text !== 'string') return [];
        const what = `what a build did in rollout ${id}`;
        const record = broken.read(() => decodeRecord(buildRecord, what, text));
        return record === undefined ? [] : [[id, record] as const];
      });
      const all = new Map([...before, ...read]);
      const found = ends.flatMap(([id]) => all.get(id) ?? []);
      known = new Map(found.map((record) => [record.rolloutId, record]));
      return found;
    },
  };
}
