import type { AuditEntry } from '../../contract/admin/holds.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import { policyOfAudit } from '../../rollout/model/rollout-id.ts';
import { strataOfGroup } from '../../rollout/status/audit-acts.ts';
import type { AuditFilter, EventFilter } from './operations.ts';

/** Makes the test for a filter of a rollout's events. */
export function makeEventMatcher({
  since,
  type,
  collector,
  by,
}: EventFilter): (event: RolloutEvent) => boolean {
  const name = collector?.toLowerCase();
  return (event) =>
    (since === undefined || event.at >= since) &&
    (type === undefined || isOfType(event.event, type)) &&
    (by === undefined || event.by === by) &&
    (name === undefined ||
      String(event.collectorId) === name ||
      event.collectorName?.toLowerCase().includes(name) === true);
}

/**
 * Makes the test for a filter of the audit. A hold of a group belongs to each policy in whose rollouts it took effect.
 * @param all the entries that are filtered
 */
export function makeAuditMatcher(
  { since, type, policy, by, match }: AuditFilter,
  all: readonly AuditEntry[],
): (entry: AuditEntry) => boolean {
  const words = match?.toLowerCase();
  const isOfPolicy = (entry: AuditEntry) => policyOfAudit(entry) === policy;
  return (entry) =>
    (since === undefined || entry.at >= since) &&
    (type === undefined || isOfType(entry.event, type)) &&
    (policy === undefined || isOfPolicy(entry) || strataOfGroup(entry, all).some(isOfPolicy)) &&
    (by === undefined || entry.by === by) &&
    (words === undefined || `${entry.subject} ${entry.reason}`.toLowerCase().includes(words));
}

/** Verbs whose events do not begin like them. */
const eventsOfVerbs: Readonly<Record<string, string>> = {
  hold: 'held',
  retry: 'retried',
  rollback: 'rollingBack',
  'skip-soak': 'soakSkipped',
};

/**
 * Matches a whole name (`wave.passed`), or the beginning of one of its parts: `abort` finds `rollout.aborted`. A verb finds
 * its events: `hold` finds `build.held`.
 */
export function isOfType(event: string, type: string): boolean {
  const start = eventsOfVerbs[type] ?? type;
  return event === type || event.split('.').some((word) => word.startsWith(start));
}
