import { z } from 'zod';
import { type Rollout, rolloutStates } from '../rollout/rollout.ts';
import { BrokenRecordError } from './broken-record.ts';

/** What an adapter must rely on; the rest was written by us, and is passed through as it is. */
const storedRollout = z.looseObject({
  id: z.string(),
  policy: z.looseObject({ name: z.string(), concurrency: z.number(), waves: z.array(z.looseObject({})) }),
  targetBuild: z.string(),
  createdAt: z.number(),
  state: z.enum(rolloutStates),
  waves: z.array(z.looseObject({ name: z.string(), size: z.number(), state: z.string() })),
  endedAt: z.number().nullable(),
  // Rollouts of before have neither.
  backTo: z.array(z.string()).default([]),
  leftBehind: z.array(z.looseObject({})).default([]),
});

/**
 * Reads a rollout back.
 * @param rev the store's own count: setting the brake counts too, so it may be ahead of the one in the text
 * @throws BrokenRecordError
 */
export function decodeRollout(text: string, rev: number, rolloutId: string): Rollout {
  try {
    const parsed = storedRollout.parse(JSON.parse(text));
    // Loose above: everything else in it is what `JSON.stringify` made of a `Rollout`.
    return { ...(parsed as unknown as Rollout), rev };
  } catch (error) {
    throw new BrokenRecordError(`rollout ${rolloutId}`, error);
  }
}
