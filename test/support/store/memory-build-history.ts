import { type BuildHistory, buildRecordsMax } from '../../../src/orchestrator/ports/build-history.ts';
import type { BuildRecord } from '../../../src/rollout/report/build-record.ts';

/** A model of the records of what builds did. */
export function makeMemoryBuildHistory(): BuildHistory {
  const records = new Map<string, BuildRecord>();
  const newestFirst = () => [...records.values()].sort((a, b) => b.endedAt - a.endedAt);
  return {
    recorded: async () => new Map([...records].map(([id, { endedAt }]) => [id, endedAt])),
    record: async (record) => {
      records.set(record.rolloutId, record);
      for (const { rolloutId } of newestFirst().slice(buildRecordsMax)) records.delete(rolloutId);
    },
    read: async (limit) => newestFirst().slice(0, limit),
  };
}
