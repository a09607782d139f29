import type { DurationMs, EpochMs } from '../../base/time.ts';
import { inTime } from '../../base/waiting.ts';

/**
 * Whether something that the daemon needs is available. `reason` is for callers who may read the state: it names hosts, but
 * no secrets. All others see `ok`, `kind` and `since`.
 */
export interface ReadinessCheck {
  readonly ok: boolean;
  /**
   * The problem, from a small set. `forbidden`: Redis answers, but refuses our user a right. `refused`: the config file has
   * mistakes, and the daemon uses the last valid config. `silent`: Redis is connected, but gives no answer in time. `newer`: a newer upwave wrote rollouts, which the daemon leaves
   * alone. `failing`: receivers refuse messages. `wrong`: the clock differs from Redis's.
   */
  readonly kind?:
    | 'refused'
    | 'connected'
    | 'away'
    | 'silent'
    | 'unwritable'
    | 'forbidden'
    | 'fault'
    | 'down'
    | 'newer'
    | 'failing'
    | 'wrong';
  /** When the problem began, if known. */
  readonly since?: EpochMs;
  readonly reason: string;
  /** The check of each account, where they differ. */
  readonly accounts?: Readonly<Record<string, Omit<ReadinessCheck, 'accounts'>>>;
}

/** By name: `redis`, `service`. */
export type Readiness = Readonly<Record<string, ReadinessCheck>>;

/** Most probers count a longer wait as a failure. */
const readinessWithinMs: DurationMs = 2_000;

/** Reads the readiness. A check without an answer counts as not ready. */
export async function readReadiness(readiness: () => Promise<Readiness>): Promise<Readiness> {
  try {
    return await inTime(readinessWithinMs, readiness());
  } catch {
    // The prober learns that the state is unknown.
    return { readiness: { ok: false, reason: 'the checks gave no answer' } };
  }
}
