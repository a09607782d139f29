import type { DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export interface RetryBounds {
  /** The number of attempts. */
  readonly attemptsMax: number;
  readonly sleep: Sleep;
  /** The wait before the first retry. It doubles with each retry. */
  readonly backoffMs: DurationMs;
  readonly signal?: AbortSignal | undefined;
}

/** Retries after transient errors. A throttled attempt waits in the budget, which is paused. */
export async function repeatWhileTransient<T>(
  attempt: () => Promise<Answer<T>>,
  retryBounds: RetryBounds,
  mayRepeat: (failure: ServiceFailure) => boolean = isTransient,
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

function isTransient(failure: ServiceFailure): boolean {
  return failure.kind === 'unavailable' || isThrottled(failure);
}

/** True for a 429. The budget is paused, and the next attempt waits for it. */
export function isThrottled({ kind }: ServiceFailure): boolean {
  return kind === 'throttled' || kind === 'signInThrottled';
}

/** True for a transient error after which the service has certainly not acted. Then even a create may be sent again. */
export function isTransientAndUnsent(failure: ServiceFailure): boolean {
  return isTransient(failure) && !(failure.kind === 'unavailable' && failure.sent);
}
