import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { latestScan, type ScanEntry, type ScanForecast } from '../ports/scan-book.ts';

// The maximum is the interval of the default schedule, so a recovered service is noticed as soon as with that.
const waitMs: { readonly min: DurationMs; readonly max: DurationMs } = { min: 60_000, max: 15 * 60_000 };

/**
 * Computes since when the scans of a policy fail, and when a failed scan is repeated: after as long as they have failed so
 * far, from 1 to 15 minutes. With a weekly schedule, an outage of a minute must not cost a week.
 * @returns without `againAt` if the schedule is sooner
 */
export function scanAgain(
  before: readonly ScanEntry[],
  forecast: ScanForecast,
  { policy, at }: { readonly policy: Policy['name']; readonly at: EpochMs },
): Pick<ScanEntry, 'failedSince' | 'againAt'> {
  const last = latestScan(before.filter((entry) => entry.policy === policy));
  const failedSince = last?.outcome === 'failed' ? (last.failedSince ?? last.at) : at;
  const againAt = at + Math.min(waitMs.max, Math.max(waitMs.min, at - failedSince));
  const [tick] = forecast(policy, 1);
  return tick !== undefined && tick <= againAt ? { failedSince } : { failedSince, againAt };
}
