import type { DurationMs } from '../../base/time.ts';
import type { SharedAttribute } from '../../contract/admin/rollout-status.ts';
import type { Implausible } from './assess-inventory.ts';
import type { Expectation } from './expectation.ts';
import type { UpgradeState } from './upgrade.ts';

/** Why the daemon holds a rollout, or why a limit is breached; `messages/stop-causes.ts` makes the sentence. */
export type StopCause = HoldCause | BreachCause;

/** Causes of a hold: something is inconclusive, or needs an operator (P14). */
export type HoldCause =
  /** `keys`: where the records are in Redis. */
  | { readonly kind: 'recordsUnreadable'; readonly keys: readonly string[] }
  /** `isReleased`: shown, never stored: the build was released since. */
  | {
      readonly kind: 'buildHeld';
      readonly build: string;
      readonly reason: string;
      readonly isReleased?: true;
    }
  | { readonly kind: 'inventoryUnresolved'; readonly why: Implausible }
  /**
   * No collector of the wave was upgraded, and none can still be. `ended`: how many ended in which state. `setAside`: how many wait
   * in held strata; absent: none.
   */
  | {
      readonly kind: 'noEvidence';
      readonly wave: string;
      readonly ended: ReadonlyArray<{ readonly state: UpgradeState; readonly upgrades: number }>;
      readonly setAside?: number;
    }
  /** `undecided`: its value keeps changing between met and missed. */
  | {
      readonly kind: 'gateInconclusive';
      readonly wave: string;
      readonly gate: JudgedGate;
      readonly undecided: boolean;
    }
  | { readonly kind: 'gateUnknown'; readonly wave: string; readonly gate: string }
  | {
      readonly kind: 'onlyHeldStrata';
      readonly upgrades: number;
      readonly labels: readonly string[];
      /** Shown, never stored: collectors can start since, because a stratum was released or failures are retried. */
      readonly since?: StartableSince;
    };

/** What can start since a rollout was held for its held strata alone. */
export interface StartableSince {
  readonly startable: number;
  /** Labels of strata that were released. */
  readonly released: readonly string[];
}

/** A limit is exceeded: the policy's `onBreach` follows. */
export type BreachCause =
  /** `shared`: the shared attribute of the failures; absent: none is known. */
  | {
      readonly kind: 'failures';
      readonly failures: WaveFailures;
      readonly shared?: SharedAttribute;
      /** Shown, never stored: the current failures, if their number has changed since the hold. */
      readonly now?: FailuresNow;
    }
  | { readonly kind: 'gateMissed'; readonly wave: string; readonly gate: JudgedGate };

/** A wave's weighted failures against its limit. */
export interface WaveFailures {
  readonly wave: string;
  /** Failures that count. More than `failuresAllowed` are a breach. */
  readonly failures: number;
  readonly failuresAllowed: number;
  /** Failures that an operator has acknowledged, which no longer count. */
  readonly acknowledged: number;
  /** Lost collectors without those of held strata, and as how many failures each counts. */
  readonly lost: number;
  readonly lostWeight: number;
}

export interface FailuresNow extends WaveFailures {
  /** Weighted failures of held strata, which do not count. */
  readonly inHeldStrata: number;
}

/** The finding about a gate. `messages/gates.ts` makes the sentence. */
export interface JudgedGate {
  readonly name: string;
  readonly dryRun: boolean;
  readonly finding: GateFinding;
}

export type GateFinding =
  | { readonly kind: 'unasked' }
  | { readonly kind: 'silent'; readonly silence: GateSilence }
  /** `silence`: the gate has not answered since then. */
  | { readonly kind: 'saysHold'; readonly detail: string; readonly silence: GateSilence | null }
  | {
      readonly kind: 'answered';
      readonly isMet: boolean;
      readonly value: number | null;
      /** null for a webhook. */
      readonly expect: Expectation | null;
      /** Explains the value; absent if it needs no explanation. */
      readonly detail?: string;
      readonly silence: GateSilence | null;
      /** How long the result has lasted, and how long it has to last. */
      readonly lastsMs: DurationMs;
      readonly forMs: DurationMs;
      /** The answer is too old to count. */
      readonly isOld: boolean;
    };

export interface GateSilence {
  readonly times: number;
  readonly detail: string;
}
