import type { BuildHold } from '../../rollout/model/rollout.ts';
import type { CollectorHold } from './fleet-register.ts';

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
