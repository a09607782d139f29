import type { EpochMs } from '../../../src/base/time.ts';
import type { FleetRegister } from '../../../src/orchestrator/ports/fleet-register.ts';
import type { RolloutStore } from '../../../src/orchestrator/ports/rollout-store.ts';
import { makeMemoryFleetRegister } from '../../../src/rehearsal/store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../../../src/rehearsal/store/memory-rollout-store.ts';
import type { InjectedFault } from '../night.ts';
import type { ProcessModel } from '../world/process-model.ts';

/** How one daemon, or a judge, reaches what all daemons of a night share. */
export interface Reach {
  readonly store: RolloutStore;
  readonly register: FleetRegister;
  /** The fault because of which the caller must not see the answer that the store has just given; only once. */
  takeFault(): InjectedFault | undefined;
}

/** Where a night keeps its rollouts. */
export interface NightStores {
  /** @param process its faults strike the calls; a judge has none */
  reach(process?: ProcessModel): Reach;
  /** Loses every rollout, but not the numbers of rollouts, which daemons restore. */
  forget(): void;
  /** @returns a function that restores the present state, whatever is written until then */
  keep(): () => void;
  /** Restarts the server. Undefined for a model, which has none. */
  readonly restart?: () => void;
  /** Resolves when no call is out; undefined when none is. Until then the virtual time must stand still. */
  answered(): Promise<void> | undefined;
  /** Judges the end of the night, and leaves nothing behind. */
  close(): Promise<void>;
}

/** The models in memory: every call is answered at once. */
export function makeMemoryStores(now: () => EpochMs): NightStores {
  const store = makeMemoryRolloutStore(now);
  const all: Reach = { store, register: makeMemoryFleetRegister(), takeFault: () => undefined };
  return {
    reach: () => all,
    forget: store.forget,
    keep: store.keep,
    answered: () => undefined,
    close: async () => undefined,
  };
}
