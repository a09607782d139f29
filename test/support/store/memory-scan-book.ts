import type { ScanBook, ScanEntry } from '../../../src/orchestrator/ports/scan-book.ts';

/** The results of scans in memory, as the Redis store keeps them. */
export function makeMemoryScanBook(): ScanBook {
  const entries = new Map<string, ScanEntry>();
  return {
    note: async (entry) => {
      entries.set(`${entry.outcome}:${entry.policy}`, entry);
    },
    read: async () => [...entries.values()],
  };
}
