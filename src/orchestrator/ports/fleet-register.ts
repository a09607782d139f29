import type { EpochMs } from '../../base/time.ts';
import type { AuditEvent, HoldEvent } from '../../base/vocabulary.ts';
import type { BuildHold } from '../../rollout/model/rollout.ts';

/** An operator's request that a collector is to be left alone. */
export interface CollectorHold {
  readonly collectorId: number;
  /** Its name when it was held; absent where nobody knew it, and in records of earlier versions. */
  readonly name?: string;
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
}

export interface AuditEntry {
  readonly at: EpochMs;
  /**
   * `record.lost`: all that was kept until then is gone, or a part of it; the reason says what, and what was put back.
   * `config.reloaded`: a daemon read its config again; the reason says which keys of which policy, from what to what.
   */
  readonly event: AuditEvent;
  /** The build, the collector's id, the rollout with its wave, or the stratum; of what was lost, where it was kept. */
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
}

/** Something was held or released. */
export interface HoldEntry extends AuditEntry {
  readonly event: HoldEvent;
}

/** What belongs to no rollout: builds and collectors that are held, and when builds were first seen. */
export interface FleetRegister {
  /** All of them, oldest first: for lists and plans. */
  holds(): Promise<{ readonly builds: readonly BuildHold[]; readonly collectors: readonly CollectorHold[] }>;
  /** Those of builds alone, oldest first; what it costs to read hardly grows with collectors that are held. */
  heldBuilds(): Promise<readonly BuildHold[]>;
  /** Those of these collectors, as far as they are held; what is held besides is not read. */
  holdsOf(collectorIds: readonly number[]): Promise<readonly CollectorHold[]>;
  /** `unchanged`: it is held already, and the first request stands. */
  holdBuild(hold: BuildHold): Promise<'held' | 'unchanged'>;
  holdCollector(hold: CollectorHold): Promise<'held' | 'unchanged'>;
  releaseBuild(build: string): Promise<'released' | 'unchanged'>;
  releaseCollector(collectorId: number): Promise<'released' | 'unchanged'>;
  /**
   * What operators said about builds and collectors, kept for whoever asks who and when.
   * @param once what several daemons say is kept once under this name
   */
  audit(entry: AuditEntry, once?: string): Promise<void>;
  /** Newest first. */
  readAudit(limit: number): Promise<readonly AuditEntry[]>;
  /** Notes builds that were never seen before, and shows when each was seen first. */
  firstSeen(builds: readonly string[], at: EpochMs): Promise<ReadonlyMap<string, EpochMs>>;
  /** The builds on offer when they were last noted, and when that was; undefined before the first time. */
  lastOffered(): Promise<{ readonly builds: readonly string[]; readonly at: EpochMs } | undefined>;
}

/** Distinguishes a store from one that took its place without its data. */
export interface StoreInstance {
  /** The id of this store, made once where it has none. It lies beside the holds, and is lost with them. */
  identify(): Promise<string>;
  /**
   * Stores again what was lost: each hold once, however many daemons know it, so that no later release is undone; and no
   * rollout gets an id that is taken.
   */
  putBack(lost: {
    readonly instance: string;
    readonly builds: readonly BuildHold[];
    readonly collectors: readonly CollectorHold[];
    readonly takenIds: readonly string[];
  }): Promise<void>;
}
