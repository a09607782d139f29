import type { DurationMs } from '../../base/time.ts';

export type SlotSlack = ReturnType<typeof makeSlotSlack>;

/** More slack would hold up all other daemons. A process that needs more is late for leases, locks and creates as well. */
export const slackMaxMs: DurationMs = 1_000;

/**
 * The lateness that an operator should know of. The slack compensates for less, and upgrades take minutes. From here on a
 * quarter of the maximum slack is used, and the same delay begins to threaten the lease and locks, which are renewed each
 * second or two.
 */
export const starvedFromMs: DurationMs = 250;

// One stall makes one reservation late. Only a starved process is late repeatedly.
const missesMin = 3;

// A little more than observed, because the next turn may be later than the last one.
const growth = 1.5;

// A recovered daemon has no slack again after a handful of slots.
const decay = 0.8;

export interface SlotSlackParts {
  /** Lateness up to this needs no slack. */
  readonly lateMaxMs: DurationMs;
  /** Called once when slots are repeatedly late by `starvedFromMs` or more, with the lateness. */
  readonly onStarved: (lateMs: DurationMs) => void;
}

/**
 * Learns how late a daemon needs to use its slots, from how late it reaches them. Without it, a process whose every turn
 * takes longer than a slot is valid would reserve one slot after the other, use none, and wait for ever (P11).
 */
export function makeSlotSlack({ lateMaxMs, onStarved }: SlotSlackParts) {
  let slackMs = 0;
  let missesInRow = 0;
  let isReported = false;
  const learn = (wantedMs: DurationMs, lateMs: DurationMs): void => {
    slackMs = Math.min(wantedMs, slackMaxMs);
    if (slackMs === 0) isReported = false;
    else if (!isReported && lateMs >= starvedFromMs) {
      isReported = true;
      onStarved(lateMs);
    }
  };
  return {
    get slackMs(): DurationMs {
      return slackMs;
    },
    /** A slot was used, this late. */
    used: (lateMs: DurationMs): void => {
      missesInRow = 0;
      const wantedMs = Math.max(slackMs * decay, lateMs * growth);
      learn(slackMs === 0 || wantedMs < lateMaxMs ? 0 : wantedMs, lateMs);
    },
    /** All slots of a reservation were reached too late, the last one by this much. */
    missed: (lateMs: DurationMs): void => {
      missesInRow += 1;
      if (slackMs === 0 && missesInRow < missesMin) return;
      learn(Math.max(slackMs, lateMs) * growth, lateMs);
    },
  };
}
