import type { ServiceFailure } from '../../rollout/failure-classes.ts';

/** An answer of the service, or why there was none: failures are data here, the core decides what they mean. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: ServiceFailure };
