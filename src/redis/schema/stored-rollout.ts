import { z } from 'zod';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { LeftBehind } from '../../rollout/model/left-behind.ts';
import type { LeftOutCount } from '../../rollout/model/left-out.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { PlanDrift } from '../../rollout/model/rollout.ts';
import { type Rollout, rolloutStates } from '../../rollout/model/rollout.ts';
import { storedReason } from './text-reasons.ts';
import { BrokenRecordError, decodeRecord, NewerRecordError } from './unreadable-records.ts';

const policy = z.looseObject({
  name: z.string(),
  concurrency: z.number(),
  waves: z.array(z.looseObject({ gates: z.array(z.looseObject({})) })),
  windows: z.array(z.looseObject({})),
  freezes: z.array(z.looseObject({})),
  upgrade: z.looseObject({ deadlineMs: z.number(), verifyWithinMs: z.number(), expectMs: z.number() }),
  retry: z.looseObject({ maxAttempts: z.number(), backoff: z.looseObject({}) }),
  defer: z.looseObject({ upToMs: z.number() }),
  // Earlier versions did not know it.
  isolateAttributes: z.boolean().default(false),
});

/** Version 1 had sentences where there are kinds. */
const leftBehind = z.union([
  z
    .looseObject({ reason: z.string(), count: z.number(), names: z.array(z.string()) })
    .transform(({ reason, count, names }): LeftBehind => {
      return { why: { kind: 'text', text: reason }, count, some: names.map((text) => ({ text })) };
    }),
  z.looseObject({ why: z.looseObject({}), count: z.number(), some: z.array(z.looseObject({})) }),
]);

/** Up to version 2 it was a sentence how a plan moved. */
const drift = z.union([
  z
    .object({ from: z.string(), joined: z.number(), left: z.number(), words: z.string() })
    .transform(({ words, ...rest }): PlanDrift => ({ ...rest, change: { kind: 'text', text: words } })),
  z.looseObject({ change: z.looseObject({ kind: z.string() }) }),
]);

function asLeftOut(counts: Readonly<Record<string, number>>): readonly LeftOutCount[] {
  return Object.entries(counts).map(([text, count]) => ({ kind: 'text', text, count }));
}

/**
 * What decisions must rely on, so that a record that lacks it is an unreadable one, and not a pass that fails for
 * ever; the rest was written by us, and is passed through as it is.
 */
const storedRollout = z.looseObject({
  id: z.string(),
  policy,
  targetBuild: z.string(),
  createdAt: z.number(),
  state: z.enum(rolloutStates),
  reason: storedReason,
  drift: drift.nullable().default(null),
  waves: z.array(
    z.looseObject({
      name: z.string(),
      size: z.number(),
      state: z.string(),
      // Records of earlier versions have no samples.
      gates: z.array(z.looseObject({ samples: z.array(z.looseObject({})).default([]) })),
    }),
  ),
  heldStrata: z.array(z.looseObject({ reason: storedReason })),
  acknowledgedStrata: z.array(z.looseObject({})),
  endedAt: z.number().nullable(),
  accountMarks: z.array(z.looseObject({ origin: z.string(), accessIdHash: z.string() })).optional(),
  backTo: z.array(z.string()).default([]),
  leftBehind: z.array(leftBehind).default([]),
  leftOut: z
    .union([z.record(z.string(), z.number()).transform(asLeftOut), z.array(z.looseObject({}))])
    .default([]),
});

/** Of a rollout's hash. */
export interface StoredRollout {
  readonly json: string;
  /** The store's own count: setting the brake counts too, so it may be ahead of the one in the text. */
  readonly rev: string;
  /** The newest version in which anything of the rollout was written; null: none is written. */
  readonly v: string | null;
}

/**
 * Reads a rollout back.
 * @param version the newest that can be read
 * @throws BrokenRecordError
 */
export function decodeRollout({ json, rev, v }: StoredRollout, rolloutId: string, version: number): Rollout {
  const written = Number(v ?? 1);
  if (written > version) throw new NewerRecordError(rolloutName(rolloutId), written, version);
  try {
    const parsed = storedRollout.parse(JSON.parse(json));
    if (parsed.id !== rolloutId) throw new Error(`it is ${parsed.id}`);
    // Loose above: everything else in it is what `JSON.stringify` made of a `Rollout`.
    return { ...(parsed as unknown as Rollout), rev: Number(rev) };
  } catch (error) {
    throw new BrokenRecordError(rolloutName(rolloutId), error);
  }
}

/** What a rollout's own record is called when it is unreadable. */
export function rolloutName(rolloutId: string): string {
  return `rollout ${rolloutId}`;
}

/** By what a write is known: the mark of its call, and the version of what it writes. */
export interface WriteMark {
  readonly write: string;
  readonly version: number;
}

/**
 * What stands beside `json` in a rollout's hash for scripts to read, names and values in turn. `write` is the mark of
 * the last save, `v` the version of the records; `kind` and `target` are for a person who sees a corrupt record. The scripts themselves keep `brake`, `ended`, and `frozen`, the mark of the freeze.
 */
export function rolloutFields(rollout: Rollout, { write, version }: WriteMark): readonly string[] {
  return [
    ...['state', rollout.state],
    ...['rev', String(rollout.rev)],
    ...['frontier', String(frontierOf(rollout))],
    ...['write', write],
    ...['kind', rollout.kind],
    ...['target', rollout.targetBuild],
    ...['v', String(version)],
  ];
}

/** The same for a write that brings groups: how many lanes there are, and by which mark the groups are known. */
export function plannedFields(rollout: Rollout, groups: PlanGroups, mark: WriteMark): readonly string[] {
  return [
    ...rolloutFields(rollout, mark),
    ...['lanes', String(groups.lanes.length)],
    ...['groupsMark', mark.write],
  ];
}

/** The last wave that has started: candidates are taken up to it (P3). -1: none has. */
function frontierOf({ waves }: Rollout): number {
  return waves.findLastIndex(({ state }) => state !== 'waiting' && state !== 'awaitingApproval');
}

const index = z.int().nonnegative();
const storedGroups = z.object({
  strata: z.array(
    z.object({
      label: z.string(),
      attributes: z.array(z.object({ key: z.string(), value: z.string() })).exactOptional(),
      sizes: z.array(z.number()),
    }),
  ),
  lanes: z.array(z.object({ stratum: index, timeZone: z.string(), domains: z.array(index) })),
  domains: z.array(z.object({ label: z.string(), cap: z.number() })),
}) satisfies z.ZodType<PlanGroups>;

/** Reads a plan's groups back. @throws BrokenRecordError */
export function decodeGroups(text: string, rolloutId: string): PlanGroups {
  return decodeRecord(storedGroups, `the groups of rollout ${rolloutId}`, text);
}

/** Reads an event back. @param entryId its place in the stream @throws BrokenRecordError */
export function decodeEvent(text: string, rolloutId: string, entryId: string): RolloutEvent {
  try {
    return JSON.parse(text) as RolloutEvent;
  } catch (error) {
    throw new BrokenRecordError(`event ${entryId} of rollout ${rolloutId}`, error);
  }
}
