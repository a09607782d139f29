import type { EpochMs } from '../../base/time.ts';
import type { WindowStatus } from '../../contract/admin/status-parts.ts';
import { assessCalendar, needsCollectorZone } from '../calendar/calendar.ts';
import type { CalendarRules } from '../calendar/open-stretches.ts';
import { closedText } from '../messages/blockers.ts';

/** Whether windows and freezes allow a start now; null if upgrades may start at any time. */
export function windowOf(rules: CalendarRules, now: EpochMs): WindowStatus | null {
  const { windows, freezes, notBefore } = rules;
  if (windows.length + freezes.length === 0 && notBefore === undefined) return null;
  const { isOpen, until, closedBy } = assessCalendar(rules, '', now);
  const reason = closedText(closedBy);
  return { isOpen, until, reason, timeZone: rules.timeZone, ownZones: needsCollectorZone(rules) };
}
