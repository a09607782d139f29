import type { DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export interface RetryBounds {
  /** How often it is tried when it fails in passing. */
  readonly attemptsMax: number;
  readonly sleep: Sleep;
  /** The first wait before it is tried again; it doubles. */
  readonly backoffMs: DurationMs;
  readonly signal?: AbortSignal | undefined;
}

/** Tries again what failed in passing. A throttled try waits in the budget, which is paused. */
export async function repeatWhileTransient<T>(
  attempt: () => Promise<Answer<T>>,
  retryBounds: RetryBounds,
  mayRepeat: (failure: ServiceFailure) => boolean = passes,
): Promise<Answer<T>> {
  for (let tried = 1; ; tried += 1) {
    const answer = await attempt();
    if (answer.ok || tried >= retryBounds.attemptsMax || !mayRepeat(answer.failure)) return answer;
    if (answer.failure.kind !== 'unavailable') continue;
    await retryBounds.sleep(retryBounds.backoffMs * 2 ** (tried - 1), retryBounds.signal);
    if (retryBounds.signal?.aborted === true)
      return { ok: false, failure: { kind: 'cancelled', sent: false } };
  }
}

function passes({ kind }: ServiceFailure): boolean {
  return kind === 'unavailable' || kind === 'throttled' || kind === 'signInThrottled';
}

/** It passes, and the service has certainly not acted on it: then even a create may be sent again. */
export function passesUntouched(failure: ServiceFailure): boolean {
  return passes(failure) && !(failure.kind === 'unavailable' && failure.sent);
}
