import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import { isRolloutEnd, type Rollout, type Unreadable } from '../model/rollout.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { adopt, end } from '../upgrade/transitions.ts';
import type { Blocker } from './blocker.ts';
import type { Action } from './decision.ts';

/** What is still known of an upgrade whose record can't be read. */
export interface Remains {
  readonly collectorId: number;
  readonly wave: number;
  readonly order: number;
  readonly lane: number;
  /** The caps that it may count for; more than its lane's where its lane is not known for certain. */
  readonly domains: readonly number[];
  /** Whether a task of ours may be running, or have ended without having been looked at. */
  readonly mayRun: boolean;
  /** Its text as far as it goes. */
  readonly text: string;
}

// Two versions of us beside each other, while one takes the place of the other, may not read each other's records; that is
// over by then, and a person who mends one by hand has begun.
const patienceMs: DurationMs = 600_000;

// Of the old text, in the event that tells what was done: all of a usual one.
const textKeptMax = 2_000;

/**
 * What becomes of records that can't be read: nobody starts them, and after a while, or at once when the rollout is over,
 * others take their place, so that their wave settles and their rollout ends (P9).
 */
export function decideUnreadable(
  { collectorIds, forMs }: Unreadable,
  { state }: Rollout,
  now: EpochMs,
): { readonly actions: readonly Action[]; readonly blocker: Blocker; readonly wakeAt: EpochMs } {
  const leftMs = isRolloutEnd(state) ? 0 : Math.max(0, patienceMs - forMs);
  return {
    actions: leftMs > 0 ? [] : [{ do: 'mend', collectorIds }],
    // Not an instant: it is no window that opens.
    blocker: { kind: 'recordsUnreadable', collectorIds, until: null },
    wakeAt: now + leftMs,
  };
}

/**
 * The upgrade that takes the place of one whose record can't be read. One that may be running is watched like a create in
 * doubt that was found running: it keeps its slot until the collector shows how it is (P2), and has no attempt left, so
 * no further task is created (P1). Any other is withdrawn: it says nothing about the build, and weighs nothing.
 */
export function rebuildUpgrade(remains: Remains, rollout: Rollout, groups: PlanGroups, at: EpochMs): Upgrade {
  const { collectorId, wave, order, lane, domains, text } = remains;
  const { policy } = rollout;
  const found: Upgrade = {
    identity: {
      rolloutId: rollout.id,
      collectorId,
      collectorName: textOf(text, 'collectorName') ?? `collector ${collectorId}`,
      wave,
      order,
      fromBuild: textOf(text, 'fromBuild') ?? '',
      toBuild: textOf(text, 'toBuild') ?? rollout.backTo[0] ?? rollout.targetBuild,
      lane,
      stratum: groups.lanes[lane]?.stratum ?? 0,
      domains,
      eligibleAt: 0,
    },
    rev: at,
    tally: {
      attempts: remains.mayRun ? policy.retry.maxAttempts - 1 : 0,
      createsInDoubt: 0,
      unexplained: 0,
      failedPolls: 0,
      firstStartedAt: null,
    },
    progress: { state: 'pending' },
  };
  if (!remains.mayRun) return end(found, 'withdrawn', at, unreadableWords);
  return adopt(found, at, { policy, answerWithinMs: 0, jitter: 0 });
}

/** Told with the record that takes its place: the bytes themselves are gone then. */
export function describeRebuilt({ mayRun, text }: Remains): string {
  const then = mayRun ? 'its collector is looked at' : 'nothing of it was running';
  return `${unreadableWords}; ${then}; it was: ${text.slice(0, textKeptMax)}`;
}

const unreadableWords = 'its record in Redis could not be read';

/** A member of a JSON text that may be broken elsewhere. */
function textOf(text: string, name: string): string | undefined {
  const [, quoted] = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*")`).exec(text) ?? [];
  if (quoted === undefined) return undefined;
  try {
    return String(JSON.parse(quoted));
  } catch {
    // This part is broken, too.
    return undefined;
  }
}
