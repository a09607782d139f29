import type { DurationMs } from '../../base/time.ts';

/** How much longer than usual a daemon needs its places in the rate to hold, since it gets to its work late. */
export interface SlotSlack {
  readonly slackMs: DurationMs;
  /** A place came in time, so late after its instant. */
  used(lateMs: DurationMs): void;
  /** All places of a reservation came too late, the last one by so much. */
  missed(lateMs: DurationMs): void;
}

/** More than this holds up all other daemons; who needs more is late for its leases, locks and creates, too. */
export const slackMaxMs: DurationMs = 1_000;

// One stall makes one reservation late. Late again and again is a process that gets to nothing in time.
const missesMin = 3;

// A little more than was seen: the next turn may come later than the last one.
const growth = 1.5;

// A daemon that is well again is back in a handful of places.
const decay = 0.8;

export interface SlotSlackParts {
  /** What lateness needs no slack. */
  readonly lateMaxMs: DurationMs;
  /** Reported when places come too late again and again, and by how much. */
  readonly onStarved?: ((lateMs: DurationMs) => void) | undefined;
}

/**
 * Learns the slack from what comes late. Without it a process whose every turn takes longer than a place holds would
 * reserve one after the other, use none, and wait for ever (P11).
 */
export function makeSlotSlack({ lateMaxMs, onStarved }: SlotSlackParts): SlotSlack {
  let slackMs = 0;
  let missesInRow = 0;
  return {
    get slackMs() {
      return slackMs;
    },
    used: (lateMs) => {
      missesInRow = 0;
      const wantedMs = Math.max(slackMs * decay, lateMs * growth);
      slackMs = slackMs === 0 || wantedMs < lateMaxMs ? 0 : Math.min(wantedMs, slackMaxMs);
    },
    missed: (lateMs) => {
      missesInRow += 1;
      if (slackMs === 0 && missesInRow < missesMin) return;
      if (slackMs === 0) onStarved?.(lateMs);
      slackMs = Math.min(Math.max(slackMs, lateMs) * growth, slackMaxMs);
    },
  };
}
