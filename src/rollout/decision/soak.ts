import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { SoakReason } from '../model/upgrade-reason.ts';
import type { AssessedWave } from './assess.ts';

/** The health of an upgraded collector while its wave soaks (DESIGN §4, Gate). */
export type SoakVerdict =
  | { readonly kind: 'well' }
  /**
   * Heartbeats are missing: a restart, or a dying collector. Or the answer has no time to compare the heartbeat with, so
   * nothing is known (P14). The collector is polled again.
   */
  | { readonly kind: 'silent' }
  /** The collector counts as a failure of its wave. `lost`: it died, and weighs `lostWeight`. */
  | { readonly kind: 'regressed'; readonly lost: boolean; readonly reason: SoakReason };

// `alive` stays true for up to 30 minutes after a death (field-facts.md, Upgrades). A host restarts in less than this.
const deadAfterMs: DurationMs = 5 * 60_000;

/** Judges one observation of a soaking collector. @param serviceAt the service's clock in the answer; null if unknown */
export function assessSoak(
  toBuild: string,
  seen: {
    readonly build: string;
    readonly alive: boolean;
    readonly lastSeenAlive: EpochMs | null | undefined;
  },
  serviceAt: EpochMs | null,
): SoakVerdict {
  if (!isSameBuild(seen.build, toBuild)) {
    return {
      kind: 'regressed',
      lost: false,
      reason: { kind: 'leftBuild', build: seen.build },
    };
  }
  if (!seen.alive) return { kind: 'regressed', lost: true, reason: { kind: 'died', silentMs: null } };
  const { lastSeenAlive } = seen;
  if (lastSeenAlive === null || lastSeenAlive === undefined) return { kind: 'well' };
  if (serviceAt === null) return { kind: 'silent' };
  if (assessHeartbeat(lastSeenAlive, serviceAt) !== 'silent') return { kind: 'well' };
  const silentMs = serviceAt - lastSeenAlive;
  if (silentMs <= deadAfterMs) return { kind: 'silent' };
  return { kind: 'regressed', lost: true, reason: { kind: 'died', silentMs } };
}

/** When the soak of a wave would end if its last upgrade ended now. */
export function soakEndIfBegun({ rule, summary }: AssessedWave, now: EpochMs): EpochMs {
  return (summary.lastChangeAt ?? now) + rule.soakMs;
}

/** When the soak of a wave ends, including a skip or late collectors; null when it has not started. */
export function soakEndsAtOf({ wave, rule, summary }: AssessedWave): EpochMs | null {
  if (wave.soakEndsAt === null) return null;
  if (wave.soakSkippedAt !== null) return wave.soakSkippedAt;
  // A wave that has passed does not soak again for late joiners.
  if (wave.state !== 'soaking') return wave.soakEndsAt;
  return Math.max(wave.soakEndsAt, (summary.lastChangeAt ?? 0) + rule.soakMs);
}
