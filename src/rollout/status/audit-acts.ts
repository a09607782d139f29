import type { DurationMs } from '../../base/time.ts';
import type { AuditEntry } from '../../contract/admin/holds.ts';

// A hold of a group reaches all rollouts within seconds. The same hold a minute later is another act.
const actMax: DurationMs = 60_000;

interface Act {
  readonly at: number;
  event: AuditEntry['event'];
  readonly rollouts: string[];
}

/**
 * One entry for each act of a person. A group, and a stratum in several rollouts, has an entry for each of them in the
 * audit. Together they are one: `Linux / amd64 of web-20261123-1, edge-20261123-1`.
 */
export function auditActs(newestFirst: readonly AuditEntry[]): readonly AuditEntry[] {
  const acts = new Map<AuditEntry, Act>();
  const last = new Map<string, Act>();
  for (const entry of newestFirst) {
    const { at, event } = entry;
    const { kind, rollout, key } = partsOf(entry);
    const known = kind === 'stratum' || kind === 'group' ? last.get(key) : undefined;
    const act = known !== undefined && known.at - at <= actMax ? known : { at, event, rollouts: [] };
    if (rollout !== undefined) act.rollouts.push(rollout);
    if (act === known) {
      if (kind === 'group') act.event = event;
      continue;
    }
    last.set(key, act);
    acts.set(entry, act);
  }
  return [...acts].map(([entry, { event, rollouts }]) => {
    if (rollouts.length < 2 && event === entry.event) return entry;
    const label = entry.subject.replace(/ of \S+$/, '');
    return { ...entry, event, subject: `${label} of ${rollouts.join(', ')}` };
  });
}

/** The entries of strata in which this hold or release of a group took effect; empty for any other entry. */
export function strataOfGroup(entry: AuditEntry, all: readonly AuditEntry[]): readonly AuditEntry[] {
  const { kind, key } = partsOf(entry);
  if (kind !== 'group') return [];
  return all.filter((each) => {
    const parts = partsOf(each);
    return parts.kind === 'stratum' && parts.key === key && Math.abs(each.at - entry.at) <= actMax;
  });
}

/** `key`: the same for the entries of a group and of its strata. */
function partsOf({ event, by, reason, subject }: AuditEntry) {
  const [kind, did] = event.split('.');
  const [, label = subject, rollout] = (kind === 'stratum' && /^(.*) of (\S+)$/.exec(subject)) || [];
  return { kind, rollout, key: JSON.stringify([did, label, by, reason]) };
}
