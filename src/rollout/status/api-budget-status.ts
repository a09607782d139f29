import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { ApiBudgetStatus, Outage } from '../../contract/admin/rollout-status.ts';

export const outageReasons: Readonly<Record<Outage['kind'], string>> = {
  rateLimited: 'the service asked for a pause',
  signInThrottled:
    'the service answers 401: it throttles sign-ins, or the access key was revoked (check accessKey)',
  serviceDown: 'the service does not answer',
};

/** How long the pause still lasts, or until the next attempt in an outage; 0 without either. */
export function outageLeftMs({ outage }: ApiBudgetStatus, now: EpochMs): DurationMs {
  return Math.max(0, (outage?.until ?? now) - now);
}
