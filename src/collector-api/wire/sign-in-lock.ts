import { untilAborted } from '../../base/waiting.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export type SignInLock = ReturnType<typeof makeSignInLock>;

type Entry =
  /** A session exists, or the service has none. */
  | { readonly kind: 'open' }
  /** This request signs in. `done` must be called with its failure, if any, and releases the others. */
  | { readonly kind: 'signIn'; readonly done: (failure: ServiceFailure | undefined) => void }
  /** The sign-in of another request failed in a way that applies to this one. Nothing was sent. */
  | { readonly kind: 'failed'; readonly failure: ServiceFailure };

/**
 * Lets one request at a time sign in while the others wait for its cookie: sign-ins are throttled per minute
 * (collector-api.md §5.3), and a daemon would make one for each worker at its start.
 */
export function makeSignInLock(needsSignIn: () => boolean) {
  let running: Promise<ServiceFailure | undefined> | undefined;

  return {
    /** Waits while another request signs in. @throws the signal's reason when it is aborted first */
    async enter(signal?: AbortSignal): Promise<Entry> {
      // Each turn brings a session, ends this wait with a failure, or makes this request the next to try.
      while (needsSignIn()) {
        signal?.throwIfAborted();
        if (running === undefined) {
          let finish: (failure: ServiceFailure | undefined) => void = () => {};
          running = new Promise((resolve) => {
            finish = resolve;
          });
          return {
            kind: 'signIn',
            done: (failure) => {
              running = undefined;
              finish(failure);
            },
          };
        }
        const shared = sharedFailure(await untilAborted(running, signal));
        if (shared !== undefined) return { kind: 'failed', failure: shared };
      }
      return { kind: 'open' };
    },
  };
}

/**
 * The failure of a sign-in for the requests that waited: nothing of them was sent, and trying each would fail as well.
 */
function sharedFailure(failure: ServiceFailure | undefined): ServiceFailure | undefined {
  if (failure?.kind === 'unavailable') return { ...failure, sent: false };
  const isShared =
    failure?.kind === 'misconfigured' || failure?.kind === 'signInThrottled' || failure?.kind === 'throttled';
  return isShared ? failure : undefined;
}
