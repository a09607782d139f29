import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { PolicyNeed } from '../../contract/admin/policies.ts';
import type { Notice } from '../model/notice.ts';
import { quoteArgument } from '../status/command-for.ts';
import { type NoticesOf, type OpenIncident, overNotice } from './due-notices.ts';

/** The last scans of a policy. */
export interface ScanReading {
  readonly policy: string;
  /** The last scan's failure; null if it succeeded. */
  readonly failure: { readonly reason: string } | null;
  /** What the policy waits for; absent: no operator. */
  readonly needs?: PolicyNeed | undefined;
  /** When the next successful scan is overdue; null before the first successful one. */
  readonly overdueAt: EpochMs | null;
}

/** What was announced about a policy's scans, and about its start. */
export interface AnnouncedPolicy {
  /** null while scans succeed. */
  readonly failingSince: EpochMs | null;
  readonly open: OpenIncident | null;
  /** The incident of a policy that waits for an operator to start it; absent: none. */
  readonly start?: OpenIncident;
}

// The schedule repeats a failed scan, and the first scan after a daemon's start takes some time.
const failingForMs: DurationMs = 10 * 60_000;

/** Compares a policy's scans with what was announced, and returns the notices that are due. */
export function dueOfPolicy(
  announced: AnnouncedPolicy | undefined,
  reading: ScanReading,
  now: EpochMs,
): NoticesOf<AnnouncedPolicy> {
  const start = dueOfStart(announced?.start, reading, now);
  const scans = dueOfScans(announced, reading, now);
  return {
    notices: [...start.notices, ...scans.notices],
    announced: { ...scans.announced, ...(start.open && { start: start.open }) },
  };
}

/** A start by an operator does not come automatically, so nothing is gained by waiting before its message. */
function dueOfStart(
  before: OpenIncident | undefined,
  { policy, needs }: ScanReading,
  now: EpochMs,
): { readonly notices: readonly Notice[]; readonly open?: OpenIncident } {
  const facts = { at: now, policy, figures: null } as const;
  if (needs === undefined)
    return { notices: before === undefined ? [] : [{ ...facts, ...overNotice(before) }] };
  if (before !== undefined) return { notices: [], open: before };
  const incident = `${policy}/start/${now}`;
  const details = { event: 'held', reason: needs.reason, headline: 'startNeeded' } as const;
  const commands = [`upwave start ${quoteArgument(policy)}`];
  const actions = [{ verb: 'start', subject: policy }] as const;
  return {
    notices: [{ ...facts, id: `${incident}/raised`, incident, phase: 'raised', details, commands, actions }],
    open: { incident, details, raisedAt: now },
  };
}

function dueOfScans(
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
