import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Notice } from '../model/notice.ts';
import { quoteArgument } from '../status/command-for.ts';
import type { NoticesOf, OpenIncident } from './due-notices.ts';

/** How the scans of a policy went. */
export interface ScanReading {
  readonly policy: string;
  /** The last one, where it failed. */
  readonly failure: { readonly reason: string } | null;
  /** When the next good scan is overdue; null before the first good one. */
  readonly overdueAt: EpochMs | null;
}

/** What of a policy's scans was announced. */
export interface AnnouncedPolicy {
  /** null while scans are well. */
  readonly failingSince: EpochMs | null;
  readonly open: OpenIncident | null;
}

// One scan that fails is repeated by the schedule; at a daemon's start the first one takes a while.
const failingForMs: DurationMs = 10 * 60_000;

/** What has to be announced of a policy's scans, from what was announced and what is. */
export function dueOfPolicy(
  announced: AnnouncedPolicy | undefined,
  { policy, failure, overdueAt }: ScanReading,
  now: EpochMs,
): NoticesOf<AnnouncedPolicy> {
  const isFailing = overdueAt === null ? failure !== null : overdueAt <= now;
  const since = isFailing ? (announced?.failingSince ?? now) : null;
  const before = announced?.open ?? null;
  const notice = (phase: 'raised' | 'over', { incident, news }: OpenIncident): Notice => ({
    ...{ id: `${incident}/${phase}`, incident, phase, at: now, policy, news, figures: null },
    commands: phase === 'over' ? [] : [`upwave plan ${quoteArgument(policy)}`],
  });
  if (since === null)
    return {
      notices: before === null ? [] : [notice('over', before)],
      announced: { failingSince: null, open: null },
    };
  if (before !== null || now - since < failingForMs)
    return { notices: [], announced: { failingSince: since, open: before } };
  const reason = failure?.reason ?? '';
  const incident = `${policy}/discovery/${since}`;
  const raised = { incident, news: { event: 'discoveryFailing', since, reason } } as const;
  return { notices: [notice('raised', raised)], announced: { failingSince: since, open: raised } };
}
