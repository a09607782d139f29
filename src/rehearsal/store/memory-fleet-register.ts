import type { AuditEntry, CollectorHold, GroupHold } from '../../contract/admin/holds.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';
import type { FleetRegister } from '../../orchestrator/ports/fleet-register.ts';

/** A model of the register of records that belong to no rollout. */
export function makeMemoryFleetRegister(): FleetRegister {
  const builds = new Map<string, BuildHold>();
  const collectors = new Map<number, CollectorHold>();
  const groups = new Map<string, GroupHold>();
  const seen = new Map<string, number>();
  let offered: { builds: readonly string[]; at: number } | undefined;
  const audit: AuditEntry[] = [];
  const audited = new Set<string>();
  const hold = <K, V>(holds: Map<K, V>, key: K, value: V) => {
    if (holds.has(key)) return 'unchanged';
    holds.set(key, value);
    return 'held';
  };
  const release = <K, V>(holds: Map<K, V>, key: K) => (holds.delete(key) ? 'released' : 'unchanged');
  const byInstant = (a: { readonly at: number }, b: { readonly at: number }) => a.at - b.at;
  return {
    holds: async () => ({
      builds: [...builds.values()].sort(byInstant),
      collectors: [...collectors.values()].sort(byInstant),
      groups: [...groups.values()].sort(byInstant),
    }),
    holdsOf: async (ids) => ids.flatMap((id) => collectors.get(id) ?? []).sort(byInstant),
    holdBuild: async (entry) => hold(builds, entry.build, entry),
    holdCollector: async (entry) => hold(collectors, entry.collectorId, entry),
    holdGroup: async (entry) => hold(groups, entry.label, entry),
    releaseGroup: async (label) => release(groups, label),
    releaseBuild: async (build) => release(builds, build),
    releaseCollector: async (collectorId) => release(collectors, collectorId),
    audit: async (entry, once) => {
      if (once !== undefined && audited.has(once)) return;
      if (once !== undefined) audited.add(once);
      audit.push(entry);
    },
    readAudit: async (limit) => audit.slice(Math.max(0, audit.length - limit)).reverse(),
    firstSeen: async (asked, at) => {
      for (const build of asked) if (!seen.has(build)) seen.set(build, at);
      if (asked.length > 0 && at >= (offered?.at ?? at)) offered = { builds: asked, at };
      return new Map(asked.map((build) => [build, seen.get(build) ?? at]));
    },
    lastOffered: async () => offered,
  };
}
