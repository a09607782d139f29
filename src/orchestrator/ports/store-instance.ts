import type { BuildHold } from '../../rollout/model/rollout.ts';
import type { CollectorHold } from './fleet-register.ts';

/**
 * What tells a store from another that took its place, empty. Each place has a mark of its own: on a Cluster it is what
 * one node has, and may be lost alone.
 */
export interface StoreMarks {
  readonly whole: string;
  /** Where builds and collectors are held. */
  readonly holds: string;
  /** Where the rollouts of each policy are. */
  readonly policies: ReadonlyMap<string, string>;
}

/** Tells a store from another that took its place, empty. */
export interface StoreInstance {
  /** The marks of this store, made where it has none. */
  identify(policies: readonly string[]): Promise<StoreMarks>;
  /**
   * Puts back what an emptied store held: each hold once, however many daemons know of it, so that it never undoes a
   * release that came after it; and no rollout gets an id that is taken.
   */
  putBack(lost: {
    /** The mark of the place that they come back to. */
    readonly holdsMark: string;
    readonly builds: readonly BuildHold[];
    readonly collectors: readonly CollectorHold[];
    readonly takenIds: readonly string[];
  }): Promise<void>;
}
