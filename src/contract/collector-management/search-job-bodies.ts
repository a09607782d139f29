import { z } from 'zod';

/**
 * Bodies of search jobs, as far as upwave needs them. collector-api.md §4.5 shows none: they come from the public guide of
 * such a service (decision 46). Whatever else a body holds is left alone.
 */
export const SearchJobCreated = z.object({ id: z.union([z.string().min(1), z.number()]).transform(String) });

export const SearchJobState = z.object({
  /** `NOT STARTED`, `GATHERING RESULTS`, and then one of the ends. */
  state: z.string(),
  recordCount: z.number().int().min(0).default(0),
  pendingErrors: z.array(z.string()).default([]),
});

/** States in which a job still works. */
export const searchJobRuns: ReadonlySet<string> = new Set(['NOT STARTED', 'GATHERING RESULTS']);
export const searchJobDone = 'DONE GATHERING RESULTS';

export const SearchJobRecords = z.object({
  records: z.array(
    z.object({ map: z.record(z.string(), z.union([z.string(), z.number()]).transform(String)) }),
  ),
});

/** Columns of an aggregate: names are in lower case. */
export const countColumn = '_count';
export const collectorColumn = '_collector';
