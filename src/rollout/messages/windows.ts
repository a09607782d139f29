import type { ClosedBy } from '../calendar/calendar.ts';

/** Why upgrades may not start now; empty while they may. */
export function closedWords(closedBy: ClosedBy | null): string {
  if (closedBy === null) return '';
  if (closedBy.kind === 'window') return 'outside the window';
  return closedBy.reason === '' ? 'frozen' : `frozen: ${closedBy.reason}`;
}
