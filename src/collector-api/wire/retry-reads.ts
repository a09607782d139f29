import type { RetryWindow } from '../../base/retry-window.ts';
import { type Sleep, sleepForReal } from '../../base/waiting.ts';
import { describeFailure, type ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { isThrottled } from './repeat-while-transient.ts';
import { failedAnswer } from './service-call.ts';
import type { ServiceClient } from './service-client.ts';

// The budget is paused before each of them, for up to a minute, and the command shows why it waits.
const throttledInRowMax = 5;

/**
 * Wraps a client for a person who waits: unanswered reads are retried while the window lasts, and those that the service
 * throttles a few times. Writes, refusals and a wrong key are not. After the window, further reads fail at once.
 * @returns the client, and a sleep for code on top of it, which does not wait once nothing is retried
 */
export function withRetriedReads(
  client: ServiceClient,
  window: RetryWindow,
  sleep: Sleep = sleepForReal,
): { readonly client: ServiceClient; readonly sleep: Sleep } {
  return {
    client: retryReads(client, window, sleep),
    sleep: async (forMs, signal) => {
      if (!window.isOver()) await sleep(forMs, signal);
    },
  };
}

function retryReads(client: ServiceClient, window: RetryWindow, sleep: Sleep): ServiceClient {
  let lastFailure: ServiceFailure | undefined;
  let throttledInRow = 0;
  return {
    ...client,
    async call(operation, input, call) {
      if (operation.method === 'GET' && lastFailure !== undefined && window.isOver())
        return failedAnswer(lastFailure);
      // Ends, because the window is limited.
      for (;;) {
        const answer = await client.call(operation, input, call);
        if (operation.method !== 'GET') return answer;
        throttledInRow = !answer.ok && isThrottled(answer.failure) ? throttledInRow + 1 : 0;
        if (throttledInRow > 0 && throttledInRow < throttledInRowMax) continue;
        if (answer.ok || answer.failure.kind !== 'unavailable') {
          window.succeeded();
          return answer;
        }
        lastFailure = answer.failure;
        const waitMs = window.failed(describeFailure(answer.failure));
        if (waitMs === undefined) return answer;
        await sleep(waitMs, call.signal);
        if (call.signal?.aborted === true) return failedAnswer({ kind: 'cancelled', sent: false });
      }
    },
  };
}
