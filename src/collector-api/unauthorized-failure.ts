import type { ServiceFailure } from '../rollout/failure-classes.ts';
import type { SignInVerdict } from './throttle.ts';

/** A 401 in a person's words, with what to do about it. */
export function unauthorizedFailure(verdict: SignInVerdict): ServiceFailure {
  switch (verdict.kind) {
    case 'neverWorked':
      return {
        kind: 'misconfigured',
        detail:
          'The service does not accept the access key (401). Check service.accessId, service.accessKey and service.baseUrl; when they are right, too many sign-ins were tried within a minute.',
      };
    case 'throttled':
      return {
        kind: 'signInThrottled',
        retryAfterMs: verdict.retryAfterMs,
        detail:
          'The service refused an access key that worked before (401): sign-ins are throttled for about a minute, or it was revoked.',
      };
    case 'worksNoMore':
      return {
        kind: 'misconfigured',
        detail: `The service refused an access key that worked before (401), ${verdict.times} times in a row, a minute apart. Was it revoked? Check it.`,
      };
  }
}
