import { z } from 'zod';

/**
 * The parts of search job bodies that upwave needs. collector-api.md §4.5 does not document them: they come from the public
 * guide of such a service (decision 46). Other parts are ignored.
 */
export const SearchJobCreated = z.object({ id: z.union([z.string().min(1), z.number()]).transform(String) });

export const SearchJobState = z.object({
  /** `NOT STARTED`, `GATHERING RESULTS`, and then a final state. */
  state: z.string(),
  recordCount: z.number().int().min(0).default(0),
  pendingErrors: z.array(z.string()).default([]),
});

/** States of a running job. */
export const searchJobRunning: ReadonlySet<string> = new Set(['NOT STARTED', 'GATHERING RESULTS']);
export const searchJobDone = 'DONE GATHERING RESULTS';

export const SearchJobRecords = z.object({
  records: z.array(
    z.object({ map: z.record(z.string(), z.union([z.string(), z.number()]).transform(String)) }),
  ),
});

/** Columns of an aggregate. Names are in lower case. */
export const countColumn = '_count';
export const collectorColumn = '_collector';
