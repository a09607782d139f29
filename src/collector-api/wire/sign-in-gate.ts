import { untilAborted } from '../../base/waiting.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export type SignInGate = ReturnType<typeof makeSignInGate>;

type Entry =
  /** A session exists, or the service knows none: go on. */
  | { readonly kind: 'open' }
  /** This request signs in; `done` lets the others go on and must be called, with its failure if it had one. */
  | { readonly kind: 'signIn'; readonly done: (failure: ServiceFailure | undefined) => void }
  /** The sign-in that was waited for failed in a way that this request would share. Nothing was sent. */
  | { readonly kind: 'failed'; readonly failure: ServiceFailure };

/**
 * Lets one request at a time sign in while the rest wait for its cookie: sign-ins are throttled per minute
 * (collector-api.md §5.3), and a daemon at its start would make as many as it has workers.
 */
export function makeSignInGate(needsSignIn: () => boolean) {
  let running: Promise<ServiceFailure | undefined> | undefined;

  return {
    /** Waits while another request signs in. @throws the signal's reason when it is aborted first */
    async enter(signal?: AbortSignal): Promise<Entry> {
      // Each turn either brings a session, ends this wait with a failure, or makes this request the next to try.
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

/** What a failed sign-in means for those who waited: they have sent nothing. Trying each in turn would not go better. */
function sharedFailure(failure: ServiceFailure | undefined): ServiceFailure | undefined {
  if (failure?.kind === 'unavailable') return { ...failure, sent: false };
  const isShared =
    failure?.kind === 'misconfigured' || failure?.kind === 'signInThrottled' || failure?.kind === 'throttled';
  return isShared ? failure : undefined;
}
