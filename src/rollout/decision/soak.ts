import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { SoakReason } from '../model/upgrade-reason.ts';
import type { AssessedWave } from './assess.ts';

/** How an upgraded collector does while its wave soaks (DESIGN §4, Gate). */
export type SoakVerdict =
  | { readonly kind: 'well' }
  /**
   * It missed heartbeats: a restart, or the beginning of the end. Or the answer had no time that its heartbeat can be
   * compared with, so nothing is known (P14). It is polled again.
   */
  | { readonly kind: 'silent' }
  /** It counts as a failure of its wave. `lost`: it died, so it weighs as one that did not come back. */
  | { readonly kind: 'regressed'; readonly lost: boolean; readonly reason: SoakReason };

// `alive` stays true for up to 30 minutes after a death (field-facts.md, Upgrades); a host restarts in less than this.
const deadAfterMs: DurationMs = 5 * 60_000;

/** @param serviceAt the service's own clock at the answer; null where it has none that proves anything */
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

/** When the soak of a wave would end that settled now: it runs from the end of its last upgrade. */
export function soakEndIfBegun({ rule, summary }: AssessedWave, now: EpochMs): EpochMs {
  return (summary.lastChangeAt ?? now) + rule.soakMs;
}

/** When the soak of a wave ends: skipped, or later for those that came late; null when it has not started. */
export function soakEndsAtOf({ wave, rule, summary }: AssessedWave): EpochMs | null {
  if (wave.soakEndsAt === null) return null;
  if (wave.soakSkippedAt !== null) return wave.soakSkippedAt;
  // A wave that has passed soaks no more, whoever joins it later.
  if (wave.state !== 'soaking') return wave.soakEndsAt;
  return Math.max(wave.soakEndsAt, (summary.lastChangeAt ?? 0) + rule.soakMs);
}
