import type { EpochMs } from '../../base/time.ts';
import type { HoldEvent } from '../../base/vocabulary.ts';
import type { AuditEntry, CollectorHold, GroupHold } from '../../contract/admin/holds.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';

/** Something was held or released. */
export interface HoldEntry extends AuditEntry {
  readonly event: HoldEvent;
}

/** Years of audit entries. Older ones are dropped. */
export const auditKeptMax = 10_000;

/** Everything that is held beyond one rollout. */
export interface Holds {
  readonly builds: readonly BuildHold[];
  readonly collectors: readonly CollectorHold[];
  readonly groups: readonly GroupHold[];
}

/** Data that belongs to no rollout: what is held, and when builds were first seen. */
export interface FleetRegister {
  /** All holds, oldest first. They are read again only after a change, so the cost does not grow with their number. */
  holds(): Promise<Holds>;
  /** Holds of these collectors. Other holds are not read. */
  holdsOf(collectorIds: readonly number[]): Promise<readonly CollectorHold[]>;
  /** `unchanged`: it was held already, and the first hold stays. */
  holdBuild(hold: BuildHold): Promise<'held' | 'unchanged'>;
  holdCollector(hold: CollectorHold): Promise<'held' | 'unchanged'>;
  holdGroup(hold: GroupHold): Promise<'held' | 'unchanged'>;
  releaseBuild(build: string): Promise<'released' | 'unchanged'>;
  releaseCollector(collectorId: number): Promise<'released' | 'unchanged'>;
  releaseGroup(label: string): Promise<'released' | 'unchanged'>;
  /**
   * Adds an entry to the audit.
   * @param once entries of several daemons with this name are stored once
   */
  audit(entry: AuditEntry, once?: string): Promise<void>;
  /** Newest first. */
  readAudit(limit: number): Promise<readonly AuditEntry[]>;
  /** Stores builds that were never seen before, and returns when each was first seen. */
  firstSeen(builds: readonly string[], at: EpochMs): Promise<ReadonlyMap<string, EpochMs>>;
  /** The builds offered at the last reading, and its instant; undefined before the first. */
  lastOffered(): Promise<{ readonly builds: readonly string[]; readonly at: EpochMs } | undefined>;
}

/** Distinguishes a store from one that replaced it without its data. */
export interface StoreInstance {
  /** The instance id of this store, created if it is missing. It is stored beside the holds, and lost with them. */
  identify(): Promise<string>;
  /**
   * Stores lost holds and ids again. Each hold is stored once, even if several daemons know it, because a later release must
   * not be undone. No rollout gets an id twice.
   */
  putBack(lost: {
    readonly instance: string;
    readonly holds: Holds;
    readonly takenIds: readonly string[];
  }): Promise<void>;
}
