import type { DurationMs } from '../../base/time.ts';

export type SlotSlack = ReturnType<typeof makeSlotSlack>;

/** More than this holds up all other daemons; who needs more is late for its leases, locks and creates, too. */
export const slackMaxMs: DurationMs = 1_000;

/**
 * Lateness that an operator should know of. Less is made up for by the slack, and upgrades take minutes. From here on a
 * quarter of the slack's bound is used up, and lease and locks of this process, which are renewed each second or two, come
 * into reach of the same delay.
 */
export const starvedFromMs: DurationMs = 250;

// One stall makes one reservation late. Late again and again is a process that gets to nothing in time.
const missesMin = 3;

// A little more than was seen: the next turn may come later than the last one.
const growth = 1.5;

// A daemon that is well again is back in a handful of places.
const decay = 0.8;

export interface SlotSlackParts {
  /** What lateness needs no slack. */
  readonly lateMaxMs: DurationMs;
  /** Reported once when places come late by `starvedFromMs` or more again and again, and by how much. */
  readonly onStarved?: ((lateMs: DurationMs) => void) | undefined;
}

/**
 * How much longer than usual a daemon needs its places in the rate to hold, since it gets to its work late. It is learned from
 * what comes late. Without it a process whose every turn takes longer than a place holds would
 * reserve one after the other, use none, and wait for ever (P11).
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
      onStarved?.(lateMs);
    }
  };
  return {
    get slackMs(): DurationMs {
      return slackMs;
    },
    /** A place came in time, so late after its instant. */
    used: (lateMs: DurationMs): void => {
      missesInRow = 0;
      const wantedMs = Math.max(slackMs * decay, lateMs * growth);
      learn(slackMs === 0 || wantedMs < lateMaxMs ? 0 : wantedMs, lateMs);
    },
    /** All places of a reservation came too late, the last one by so much. */
    missed: (lateMs: DurationMs): void => {
      missesInRow += 1;
      if (slackMs === 0 && missesInRow < missesMin) return;
      learn(Math.max(slackMs, lateMs) * growth, lateMs);
    },
  };
}
