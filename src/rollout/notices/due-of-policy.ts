import type { DurationMs, EpochMs } from '../../base/time.ts';
import { quoteArgument } from '../status/command-for.ts';
import { type NoticesOf, type OpenIncident, overNotice } from './due-notices.ts';

/** The last scans of a policy. */
export interface ScanReading {
  readonly policy: string;
  /** The last scan's failure; null if it succeeded. */
  readonly failure: { readonly reason: string } | null;
  /** When the next successful scan is overdue; null before the first successful one. */
  readonly overdueAt: EpochMs | null;
}

/** What was announced about a policy's scans. */
export interface AnnouncedPolicy {
  /** null while scans succeed. */
  readonly failingSince: EpochMs | null;
  readonly open: OpenIncident | null;
}

// The schedule repeats a failed scan, and the first scan after a daemon's start takes some time.
const failingForMs: DurationMs = 10 * 60_000;

/** Compares a policy's scans with what was announced, and returns the notices that are due. */
export function dueOfPolicy(
  announced: AnnouncedPolicy | undefined,
  { policy, failure, overdueAt }: ScanReading,
  now: EpochMs,
): NoticesOf<AnnouncedPolicy> {
  const isFailing = overdueAt === null ? failure !== null : overdueAt <= now;
  const since = isFailing ? (announced?.failingSince ?? now) : null;
  const before = announced?.open ?? null;
  const facts = { at: now, policy, figures: null } as const;
  if (since === null)
    return {
      notices: before === null ? [] : [{ ...facts, ...overNotice(before) }],
      announced: { failingSince: null, open: null },
    };
  if (before !== null || now - since < failingForMs)
    return { notices: [], announced: { failingSince: since, open: before } };
  const reason = failure?.reason ?? '';
  const incident = `${policy}/discovery/${since}`;
  const details = { event: 'discoveryFailing', since, reason } as const;
  const commands = [`upwave plan ${quoteArgument(policy)}`];
  return {
    notices: [{ ...facts, id: `${incident}/raised`, incident, phase: 'raised', details, commands }],
    announced: { failingSince: since, open: { incident, details, raisedAt: now } },
  };
}
