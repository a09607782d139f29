import type { DurationMs, EpochMs } from '../../base/time.ts';
import { inTime } from '../../base/waiting.ts';

/**
 * What the daemon needs before it can work. `reason` is for a person who may read the state: it names hosts, and no
 * secrets. Anybody else learns `ok`, `kind` and `since`.
 */
export interface ReadinessCheck {
  readonly ok: boolean;
  /**
   * What is wrong, from a small set; `forbidden`: Redis is there, and refuses our user what it needs; `refused`: the config
   * file has mistakes, and the daemon works by the one before; `newer`: a newer upwave
   * has written rollouts, which the daemon leaves alone; `failing`: receivers take no messages.
   */
  readonly kind?:
    | 'refused'
    | 'connected'
    | 'away'
    | 'unwritable'
    | 'forbidden'
    | 'fault'
    | 'down'
    | 'newer'
    | 'failing';
  /** Since when, where that is known. */
  readonly since?: EpochMs;
  readonly reason: string;
}

/** By name: `redis`, `service`. */
export type Readiness = Readonly<Record<string, ReadinessCheck>>;

/** A probe that waits longer than this is taken for failed by most that probe. */
const readinessWithinMs: DurationMs = 2_000;

/** Asks for the readiness; checks that fail to answer are not ready. */
export async function readReadiness(readiness: () => Promise<Readiness>): Promise<Readiness> {
  try {
    return await inTime(readinessWithinMs, readiness());
  } catch {
    // Reported to the prober as what it is: nobody knows.
    return { readiness: { ok: false, reason: 'the checks gave no answer' } };
  }
}
