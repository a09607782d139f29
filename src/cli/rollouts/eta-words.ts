import { type DurationMs, type EpochMs, formatDuration } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import type { Eta } from '../../contract/admin/rollout-status.ts';
import { etaUnknownWords } from '../../rollout/messages/eta.ts';
import { showInstant } from '../shell/show-instant.ts';

/** When a rollout is expected to end, for `status`: an instant only where it needs no person. */
export function etaWords(eta: Eta, now: EpochMs): string {
  switch (eta.kind) {
    case 'at':
      return `about ${etaInstant(eta.at, now)} ${figureWords(eta)}`;
    case 'afterApproval': {
      const words = `${formatDuration(eta.durationMs)} ${figureWords(eta)}`;
      if (eta.approvalAt === null) return `after approval: ${words}`;
      return `approval due ${etaInstant(eta.approvalAt, now)}, then ${words}`;
    }
    case 'atTheLatest':
      return eta.othersAt === null
        ? `at the latest ${etaInstant(eta.at, now)}`
        : `about ${etaInstant(eta.othersAt, now)}, deferred collectors at the latest ${etaInstant(eta.at, now)}`;
    default:
      return `unknown: ${etaUnknownWords[eta.reason]}`;
  }
}

/** The short form for the line of a wave. */
export function shortEtaWords(eta: Eta, now: EpochMs): string {
  switch (eta.kind) {
    case 'at': {
      const leftMs = Math.max(1_000, eta.at - now);
      const at = leftMs > dayMs ? `, ${etaInstant(eta.at, now)}` : '';
      return `done in about ${formatDuration(leftMs)}${at}`;
    }
    case 'afterApproval':
      return `${formatDuration(eta.durationMs)} after ${eta.approvalAt === null ? '' : 'a later '}approval`;
    case 'atTheLatest':
      return `done at the latest ${etaInstant(eta.at, now)}`;
    default:
      return `end unknown: ${etaUnknownWords[eta.reason]}`;
  }
}

/** By this machine's clock. On another day with date and zone, because the reader may be in another zone by then. */
export function etaInstant(at: EpochMs, now: EpochMs): string {
  const shown = showInstant(at, now);
  if (!shown.includes(' ') && at - now <= dayMs) return shown;
  return `${shown} ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
}

function figureWords({
  plusMinusMs,
  requests,
}: {
  readonly plusMinusMs: DurationMs;
  readonly requests: number;
}): string {
  return `(±${formatDuration(plusMinusMs)}), ${requests} requests`;
}
