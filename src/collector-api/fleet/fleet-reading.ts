import type { Clock, DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { ServiceClient } from '../wire/service-client.ts';
import { boundText, type TextKind } from '../wire/service-text.ts';

/** What reading lists of the fleet takes. */
export interface FleetReadingParts {
  readonly client: ServiceClient;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Rows a page. */
  readonly pageSize: number;
}

// A scan comes back in minutes by itself, so a page is tried for half a minute at most: 1 + 2 + 4 + 8 s.
export const pageAttemptsMax = 5;
const backoffMs: DurationMs = 1_000;

export function pagesOf({ sleep, pageSize }: FleetReadingParts) {
  return { sleep, pageSize, backoffMs, idOf: ({ id }: { readonly id: number }) => id };
}

/** Makes a text of an answer fit to be kept (P12). */
export function sayer(client: ServiceClient, kind: TextKind): (text: string) => string {
  const hide = client.hider(kind);
  return (text) => boundText(hide(text));
}
