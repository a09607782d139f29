import type { DurationMs } from '../../base/time.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export interface Patience {
  /** How often it is tried when it fails in passing. */
  readonly attemptsMax: number;
  readonly sleep: (durationMs: DurationMs, signal?: AbortSignal) => Promise<void>;
  /** The first wait before it is tried again; it doubles. */
  readonly backoffMs: DurationMs;
  readonly signal?: AbortSignal | undefined;
}

/** Tries again what failed in passing. A throttled try waits in the budget, which is paused. */
export async function repeatWhilePassing<T>(
  attempt: () => Promise<Answer<T>>,
  patience: Patience,
  mayRepeat: (failure: ServiceFailure) => boolean = passes,
): Promise<Answer<T>> {
  for (let tried = 1; ; tried += 1) {
    const answer = await attempt();
    if (answer.ok || tried >= patience.attemptsMax || !mayRepeat(answer.failure)) return answer;
    if (answer.failure.kind !== 'unavailable') continue;
    try {
      await patience.sleep(patience.backoffMs * 2 ** (tried - 1), patience.signal);
    } catch (error) {
      if (patience.signal?.aborted !== true) throw error;
    }
    if (patience.signal?.aborted === true) return { ok: false, failure: { kind: 'cancelled', sent: false } };
  }
}

function passes({ kind }: ServiceFailure): boolean {
  return kind === 'unavailable' || kind === 'throttled' || kind === 'signInThrottled';
}

/** It passes, and the service has certainly not acted on it: then even a create may be sent again. */
export function passesUntouched(failure: ServiceFailure): boolean {
  return passes(failure) && !(failure.kind === 'unavailable' && failure.sent);
}
