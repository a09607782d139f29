import type { Clock, DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { ServiceClient } from '../wire/service-client.ts';
import { boundText, type TextKind } from '../wire/service-text.ts';

/** Dependencies for reading lists of the fleet. */
export interface FleetReadingParts {
  readonly client: ServiceClient;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Rows per page. */
  readonly pageSize: number;
}

// A failed scan is repeated within minutes, so a page is retried for half a minute at most: 1 + 2 + 4 + 8 s.
export const pageAttemptsMax = 5;
const backoffMs: DurationMs = 1_000;

export function pagesOf({ sleep, pageSize }: FleetReadingParts) {
  return { sleep, pageSize, backoffMs, idOf: ({ id }: { readonly id: number }) => id };
}

/** Makes a function that makes a text of the service safe to store (P12). */
export function makeSafeText(client: ServiceClient, kind: TextKind): (text: string) => string {
  const redact = client.redactor(kind);
  return (text) => boundText(redact(text));
}
