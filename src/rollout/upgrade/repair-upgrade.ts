import type { EpochMs } from '../../base/time.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { Rollout } from '../model/rollout.ts';
import type { Upgrade, UpgradeIdentity } from '../model/upgrade.ts';
import { freshTally } from '../model/upgrade-figures.ts';
import { adoptTask, endUpgrade } from './transitions.ts';

/**
 * An operator's decision about a corrupt record. `watch`: an upgrade that may be running is watched to its deadline, and
 * ends as unconfirmed at worst. `withdraw`: nothing is running, and the slot is released.
 */
export type Settlement = 'watch' | 'withdraw';

/** What the store knows about an upgrade whose record is corrupt. */
export interface CorruptUpgrade extends Pick<UpgradeIdentity, 'collectorId' | 'wave' | 'order'> {
  /** null if unknown. */
  readonly lane: number | null;
  /** Whether a task of ours may be running, or may have ended unnoticed. */
  readonly mayRun: boolean;
  /** The corrupt text of the record. */
  readonly text: string;
}

/**
 * Makes the upgrade that replaces a corrupt record. A watched upgrade keeps its slot until its collector shows the build
 * or its deadline has passed (P2). It has no attempt left, so no further task is created (P1). If its lane is unknown, it
 * counts for every cap.
 */
export function repairUpgrade(
  corrupt: CorruptUpgrade,
  settlement: Settlement,
  { rollout, groups, at }: { readonly rollout: Rollout; readonly groups: PlanGroups; readonly at: EpochMs },
): Upgrade {
  const { collectorId, wave, order, text, mayRun } = corrupt;
  const { policy } = rollout;
  const written = /"lane":(\d+)[,}]/.exec(text)?.[1];
  const lane = corrupt.lane ?? (written === undefined ? null : Number(written));
  const of = lane === null ? undefined : groups.lanes[lane];
  const isWatched = mayRun && settlement === 'watch';
  const found: Upgrade = {
    identity: {
      rolloutId: rollout.id,
      collectorId,
      collectorName: nameOfCorrupt(corrupt),
      wave,
      order,
      fromBuild: textOf(text, 'fromBuild') ?? '',
      toBuild: textOf(text, 'toBuild') ?? rollout.backTo[0] ?? rollout.targetBuild,
      lane: of === undefined ? 0 : (lane ?? 0),
      stratum: of?.stratum ?? 0,
      domains: of?.domains ?? groups.domains.map((_domain, index) => index),
      eligibleAt: 0,
    },
    tally: isWatched ? { ...freshTally, attempts: policy.retry.maxAttempts - 1 } : freshTally,
    progress: { state: 'pending' },
    // Larger than any count of changes, so a daemon that still has the old record can't save it.
    rev: at,
  };
  if (isWatched) return adoptTask(found, at, { policy, answerWithinMs: 0, jitter: 0 });
  return endUpgrade(found, 'withdrawn', at, { kind: 'recordCorrupt' });
}

/** The collector's name, if the text still contains it. */
export function nameOfCorrupt({ collectorId, text }: CorruptUpgrade): string {
  return textOf(text, 'collectorName') ?? `collector ${collectorId}`;
}

/** Reads a text member of JSON that may be corrupt elsewhere. */
function textOf(text: string, name: string): string | undefined {
  const [, quoted] = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*")`).exec(text) ?? [];
  if (quoted === undefined) return undefined;
  try {
    return String(JSON.parse(quoted));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
