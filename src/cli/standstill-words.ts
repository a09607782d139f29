import { toPrintable } from '../base/printable.ts';
import type { EpochMs } from '../base/time.ts';
import type { Standstill } from '../rollout/api-standing.ts';
import { showInstant } from './show-instant.ts';

/** Why nobody gets on with the service, since when, and until when. */
export function standstillWords(standstill: Standstill, now: EpochMs): string {
  const { kind, reason, detail, since, until } = standstill;
  const began = since === null ? '' : ` since ${showInstant(since, now)}`;
  const what = detail === null ? '' : ` (${toPrintable(detail.replace(/\.$/, ''))})`;
  const why = `${toPrintable(reason)}${began}${what}`;
  if (until === null) return `${why}; one request tries it now`;
  const at = showInstant(until, now);
  return kind === 'serviceDown' ? `${why}; next try ${at}` : `${why}, until ${at}`;
}
