import { z } from 'zod';
import type { AccountMark } from '../../rollout/model/account.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import { isolations } from '../../rollout/model/policy.ts';
import {
  type Rollout,
  type RolloutHold,
  type RolloutInventory,
  type RolloutPlan,
  type RolloutRollback,
  type RolloutStrata,
  rolloutStates,
} from '../../rollout/model/rollout.ts';
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
  isolate: z.enum(isolations),
});

const reason = z.looseObject({ kind: z.string() });
const accountMarks = z.array(z.looseObject({ origin: z.string(), accessIdHash: z.string() }));

/**
 * The parts on which decisions rely, so that a record without them is unreadable instead of failing every pass. The rest was
 * written by upwave, and is passed through.
 */
const storedRollout = z.looseObject({
  id: z.string(),
  policy,
  targetBuild: z.string(),
  createdAt: z.number(),
  state: z.enum(rolloutStates),
  reason,
  drift: z.looseObject({ change: z.looseObject({}) }).nullable(),
  waves: z.array(
    z.looseObject({
      name: z.string(),
      size: z.number(),
      state: z.string(),
      gates: z.array(z.looseObject({ samples: z.array(z.looseObject({})) })),
    }),
  ),
  heldStrata: z.array(z.looseObject({ reason })),
  acknowledgedStrata: z.array(z.looseObject({ wave: z.number(), weight: z.number() })),
  endedAt: z.number().nullable(),
  hold: z.number().nullable(),
  config: z.looseObject({ generation: z.number(), changes: z.number() }),
  accountMarks,
  backTo: z.array(z.string()),
  leftBehind: z.array(z.looseObject({ why: reason, count: z.number(), some: z.array(z.looseObject({})) })),
  unweighedFields: z.array(z.string()).exactOptional(),
  leftOut: z.array(z.looseObject({ kind: z.string(), count: z.number() })),
});

/** The stored fields of a rollout's hash. */
export interface StoredRollout {
  readonly json: string;
  /** The store's own count. Setting the brake raises it, so it may be ahead of the one in `json`. */
  readonly rev: string;
  /** The newest version of any record of the rollout; null if it was removed. */
  readonly v: string | null;
}

/** Decodes a rollout. Its arguments and errors are those of `readRollout`. */
export function decodeRollout(...given: Parameters<typeof readRollout>): Rollout {
  return nest(readRollout(...given));
}

/**
 * Reads a rollout as it is stored.
 * @param version the newest readable version
 * @throws BrokenRecordError
 */
export function readRollout(
  { json, rev, v }: StoredRollout,
  rolloutId: string,
  version: number,
): FlatRollout {
  const written = Number(v);
  if (written > version) throw new NewerRecordError(rolloutName(rolloutId), written, version);
  try {
    const parsed = storedRollout.parse(JSON.parse(json));
    if (parsed.id !== rolloutId) throw new Error(`it is ${parsed.id}`);
    // The schema is loose, but `encodeRollout` wrote the text.
    return { ...(parsed as unknown as FlatRollout), rev: Number(rev) };
  } catch (error) {
    throw new BrokenRecordError(rolloutName(rolloutId), error);
  }
}

/** Encodes a rollout, in the shape that `decodeRollout` reads. */
export function encodeRollout(rollout: Rollout): string {
  return JSON.stringify(flatten(rollout));
}

/**
 * A record as it is stored: without groups, and without empty optional fields. Records of earlier versions have this shape, and
 * daemons of the previous version read it while an installation is updated.
 */
export type FlatRollout = Omit<Rollout, 'plan' | 'hold' | 'strata' | 'inventory' | 'rollback'> &
  Omit<RolloutPlan, 'hash' | 'unweighedFields'> &
  Pick<RolloutRollback, 'backTo' | 'leftBehind'> & {
    readonly planHash: RolloutPlan['hash'];
    readonly unweighedFields?: RolloutPlan['unweighedFields'];
    readonly hold: RolloutHold['number'] | null;
    readonly heldFor?: RolloutHold['heldFor'];
    readonly heldStrata: RolloutStrata['held'];
    readonly acknowledgedStrata: RolloutStrata['acknowledged'];
    readonly endsWithoutHeld: RolloutStrata['endsWithoutHeld'];
    readonly emptyGroups?: RolloutStrata['emptyGroups'];
    readonly inventory?: RolloutInventory['baseline'];
    readonly implausibleInventory?: RolloutInventory['implausible'];
    readonly rollbackOf: RolloutRollback['original'];
    readonly rollbackId: RolloutRollback['startedAs'];
    readonly anyTime?: true;
  };

function nest(flat: FlatRollout): Rollout {
  const {
    planHash: hash,
    targetBuild,
    fromBuilds,
    fromCounts,
    leftOut,
    unweighedFields = [],
    ...rest
  } = flat;
  const { groupsRev, knowsZones, fleetReadAt, fleetSize, drift, hold: number, heldFor, ...others } = rest;
  const { heldStrata, acknowledgedStrata, endsWithoutHeld, emptyGroups = [], ...unheld } = others;
  const { inventory, implausibleInventory, ...more } = unheld;
  const { rollbackOf, rollbackId, backTo, leftBehind, anyTime = false, ...top } = more;
  return {
    ...top,
    plan: {
      ...{ hash, targetBuild, fromBuilds, fromCounts, leftOut, unweighedFields },
      ...{ groupsRev, knowsZones, fleetReadAt, fleetSize, drift },
    },
    hold: number === null ? null : { number, ...(heldFor !== undefined && { heldFor }) },
    strata: {
      ...{ held: heldStrata, acknowledged: acknowledgedStrata, endsWithoutHeld },
      ...(emptyGroups.length > 0 && { emptyGroups }),
    },
    inventory: { baseline: inventory ?? null, implausible: implausibleInventory ?? null },
    rollback: { original: rollbackOf, startedAs: rollbackId, backTo, leftBehind, anyTime },
  };
}

function flatten({ plan, hold, strata, inventory, rollback, ...top }: Rollout): FlatRollout {
  const { hash: planHash, unweighedFields, ...planned } = plan;
  const { baseline, implausible } = inventory;
  const { original: rollbackOf, startedAs: rollbackId, backTo, leftBehind, anyTime } = rollback;
  return {
    ...top,
    ...{ ...planned, planHash, rollbackOf, rollbackId, backTo, leftBehind },
    ...(unweighedFields.length > 0 && { unweighedFields }),
    hold: hold?.number ?? null,
    ...(hold?.heldFor !== undefined && { heldFor: hold.heldFor }),
    heldStrata: strata.held,
    acknowledgedStrata: strata.acknowledged,
    endsWithoutHeld: strata.endsWithoutHeld,
    ...(strata.emptyGroups !== undefined && { emptyGroups: strata.emptyGroups }),
    ...(baseline !== null && { inventory: baseline }),
    ...(implausible !== null && { implausibleInventory: implausible }),
    ...(anyTime && { anyTime }),
  };
}

/** Decodes the account marks beside an unreadable record; none if they are unreadable, too. */
export function decodeMarks(text: string): readonly AccountMark[] {
  try {
    return accountMarks.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** The name of a rollout's own record in error messages. */
export function rolloutName(rolloutId: string): string {
  return `rollout ${rolloutId}`;
}

/** Identifies a write: the mark of its call, and the version of its records. */
export interface WriteMark {
  readonly write: string;
  readonly version: number;
}

/**
 * Fields beside `json` in a rollout's hash, for scripts: alternating names and values. `write` is the mark of the last save,
 * `v` the version of the records. `kind`, `target` and `marks` serve while the record is unreadable, and `replaced` is its text
 * after an abort. The scripts themselves set
 * `brake`, `ended`, and `frozen`, the mark of the freeze.
 */
export function rolloutFields(rollout: Rollout, { write, version }: WriteMark): readonly string[] {
  return [
    ...['state', rollout.state],
    ...['rev', String(rollout.rev)],
    ...['frontier', String(frontierOf(rollout))],
    ...['concurrency', String(rollout.policy.concurrency)],
    ...['write', write],
    ...['kind', rollout.kind],
    ...['target', rollout.plan.targetBuild],
    ...['marks', JSON.stringify(rollout.accountMarks)],
    ...['v', String(version)],
  ];
}

/** The fields for a write with groups: also the number of lanes, and the mark of the groups. */
export function plannedFields(rollout: Rollout, groups: PlanGroups, mark: WriteMark): readonly string[] {
  return [
    ...rolloutFields(rollout, mark),
    ...['lanes', String(groups.lanes.length)],
    ...['groupsMark', mark.write],
  ];
}

/** The last wave that has started: candidates come from waves up to it (P3). -1: none has. */
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
  risks: z
    .array(
      z.object({
        label: z.string(),
        tried: z.number(),
        failed: z.number(),
        sizes: z.array(z.number()),
        more: z.array(z.number()),
      }),
    )
    .exactOptional(),
}) satisfies z.ZodType<PlanGroups>;

/** Decodes a plan's groups. @throws BrokenRecordError */
export function decodeGroups(text: string, rolloutId: string): PlanGroups {
  return decodeRecord(storedGroups, `the groups of rollout ${rolloutId}`, text);
}

/** Decodes an event. @param entryId its id in the stream @throws BrokenRecordError */
export function decodeEvent(text: string, rolloutId: string, entryId: string): RolloutEvent {
  try {
    return JSON.parse(text) as RolloutEvent;
  } catch (error) {
    throw new BrokenRecordError(`event ${entryId} of rollout ${rolloutId}`, error);
  }
}
