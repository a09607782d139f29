import type { EpochMs } from '../../base/time.ts';
import type { BuildHold } from '../../rollout/rollout.ts';

/** An operator's word that a collector is to be left alone. */
export interface CollectorHold {
  readonly collectorId: number;
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
}

export interface AuditEntry {
  readonly at: EpochMs;
  readonly event: 'build.held' | 'build.released' | 'collector.held' | 'collector.released';
  /** The build, or the collector's id. */
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
}

/** What belongs to no rollout: builds and collectors that are held, and when builds were first seen. */
export interface FleetRegister {
  holds(): Promise<{ readonly builds: readonly BuildHold[]; readonly collectors: readonly CollectorHold[] }>;
  /** `unchanged`: it is held already, and the first word stands. */
  holdBuild(hold: BuildHold): Promise<'held' | 'unchanged'>;
  holdCollector(hold: CollectorHold): Promise<'held' | 'unchanged'>;
  releaseBuild(build: string): Promise<'released' | 'unchanged'>;
  releaseCollector(collectorId: number): Promise<'released' | 'unchanged'>;
  /** What operators said about builds and collectors, kept for whoever asks who and when. */
  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  readAudit(limit: number): Promise<readonly AuditEntry[]>;
  /** Notes builds that were never seen before, and tells when each was seen first. */
  firstSeen(builds: readonly string[], at: EpochMs): Promise<ReadonlyMap<string, EpochMs>>;
}
