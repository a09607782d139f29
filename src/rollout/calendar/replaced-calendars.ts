import type { EpochMs } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import type { ReplacedCalendar, Rollout } from '../model/rollout.ts';

// More than the reloads of a rollout that change its calendar. Each takes some hundred bytes of the record.
const keptMax = 20;

/** The calendars that a rollout has had, after a reload gave it another policy. */
export function replacedCalendars(
  { policy, config }: Pick<Rollout, 'policy' | 'config'>,
  present: Policy,
  at: EpochMs,
): readonly ReplacedCalendar[] {
  const { replacedCalendars: replaced = [] } = config;
  const before = calendarPartOf(policy);
  if (JSON.stringify(before) === JSON.stringify(calendarPartOf(present))) return replaced;
  return [...replaced, { ...before, until: at }].slice(-keptMax);
}

/** The keys of a policy that decide when upgrades may start. */
function calendarPartOf({ windows, freezes, timeZone, waves }: Policy): Omit<ReplacedCalendar, 'until'> {
  return {
    ...{ windows, freezes, timeZone },
    waves: waves.map(({ windows: own, notBefore }) => ({
      ...(own !== undefined && { windows: own }),
      ...(notBefore !== undefined && { notBefore }),
    })),
  };
}
