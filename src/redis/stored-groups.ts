import { z } from 'zod';
import type { PlanGroups } from '../rollout/plan-groups.ts';
import { BrokenRecordError } from './broken-record.ts';

const index = z.int().nonnegative();
const storedGroups = z.object({
  strata: z.array(z.object({ label: z.string(), sizes: z.array(z.number()) })),
  lanes: z.array(z.object({ stratum: index, timeZone: z.string(), domains: z.array(index) })),
  domains: z.array(z.object({ label: z.string(), cap: z.number() })),
}) satisfies z.ZodType<PlanGroups>;

/** Reads a plan's groups back. @throws BrokenRecordError */
export function decodeGroups(text: string, rolloutId: string): PlanGroups {
  try {
    return storedGroups.parse(JSON.parse(text));
  } catch (error) {
    throw new BrokenRecordError(`the groups of rollout ${rolloutId}`, error);
  }
}
