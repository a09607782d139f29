import { z } from 'zod';
import { type Rollout, rolloutStates } from '../rollout/rollout.ts';
import { BrokenRecordError } from './broken-record.ts';

const policy = z.looseObject({
  name: z.string(),
  concurrency: z.number(),
  waves: z.array(z.looseObject({ gates: z.array(z.looseObject({})) })),
  windows: z.array(z.looseObject({})),
  freezes: z.array(z.looseObject({})),
  upgrade: z.looseObject({ deadlineMs: z.number(), verifyWithinMs: z.number(), expectMs: z.number() }),
  retry: z.looseObject({ maxAttempts: z.number(), backoff: z.looseObject({}) }),
  defer: z.looseObject({ upToMs: z.number() }),
});

/**
 * What decisions must rely on, so that a record that lacks it is one that can't be read, and not a pass that fails for
 * ever; the rest was written by us, and is passed through as it is.
 */
const storedRollout = z.looseObject({
  id: z.string(),
  policy,
  targetBuild: z.string(),
  createdAt: z.number(),
  state: z.enum(rolloutStates),
  waves: z.array(
    z.looseObject({
      name: z.string(),
      size: z.number(),
      state: z.string(),
      gates: z.array(z.looseObject({})),
    }),
  ),
  heldStrata: z.array(z.looseObject({})),
  acknowledgedStrata: z.array(z.looseObject({})),
  endedAt: z.number().nullable(),
  accountMarks: z.array(z.looseObject({ origin: z.string(), accessIdHash: z.string() })).optional(),
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
    if (parsed.id !== rolloutId) throw new Error(`it is ${parsed.id}`);
    // Loose above: everything else in it is what `JSON.stringify` made of a `Rollout`.
    return { ...(parsed as unknown as Rollout), rev };
  } catch (error) {
    throw new BrokenRecordError(rolloutName(rolloutId), error);
  }
}

/** What a rollout's own record is called when it can't be read. */
export function rolloutName(rolloutId: string): string {
  return `rollout ${rolloutId}`;
}
