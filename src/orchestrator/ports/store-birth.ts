import type { BuildHold } from '../../rollout/rollout.ts';
import type { CollectorHold } from './fleet-register.ts';

/** Tells a store from another that took its place, empty. */
export interface StoreBirth {
  /** The mark of this store, made when it has none. `isRestored`: a person put there what it holds. */
  identify(): Promise<{ readonly born: string; readonly isRestored: boolean }>;
  /**
   * Puts back what an emptied store held: each hold once, however many daemons know of it, so that it never undoes a
   * release that came after it; and no rollout gets an id that is taken.
   */
  putBack(lost: {
    readonly born: string;
    readonly builds: readonly BuildHold[];
    readonly collectors: readonly CollectorHold[];
    readonly takenIds: readonly string[];
  }): Promise<void>;
}
