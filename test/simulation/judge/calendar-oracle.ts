import { DateTime, IANAZone } from 'luxon';
import type { Policy, WaveRule } from '../../../src/rollout/model/policy.ts';

const hourMs = 3_600_000;

/**
 * Whether a create may leave at an instant (P7), by arithmetic of its own: wall clocks as luxon tells them.
 * undefined: a clock is changed within a day, where wall clocks alone do not tell.
 */
export function isOpenByLuxon(
  policy: Pick<Policy, 'windows' | 'freezes' | 'timeZone'> & Pick<WaveRule, 'notBefore'>,
  collectorZone: string,
  at: number,
): boolean | undefined {
  const zoneOf = (named: string) => {
    const wanted = named === 'collector' ? collectorZone : named;
    return isKnown(wanted) ? wanted : policy.timeZone;
  };
  const zones = new Set([...policy.windows, ...policy.freezes].map(({ timeZone }) => zoneOf(timeZone)));
  const { notBefore } = policy;
  if (notBefore !== undefined) zones.add(policy.timeZone);
  for (const zone of zones) if (isClockChangeNear(zone, at)) return undefined;
  for (const { timeZone, from, to } of policy.freezes) {
    const local = DateTime.fromMillis(at, { zone: zoneOf(timeZone) }).toFormat("yyyy-MM-dd'T'HH:mm");
    if (local >= from && local < to) return false;
  }
  if (notBefore !== undefined) {
    const local = DateTime.fromMillis(at, { zone: policy.timeZone }).toFormat("yyyy-MM-dd'T'HH:mm");
    if (local < notBefore) return false;
  }
  if (policy.windows.length === 0) return true;
  return policy.windows.some(({ timeZone, days, fromMinute, toMinute }) => {
    const local = DateTime.fromMillis(at, { zone: zoneOf(timeZone) });
    const minute = local.hour * 60 + local.minute;
    const yesterday = local.weekday === 1 ? 7 : local.weekday - 1;
    if (toMinute > fromMinute)
      return days.includes(local.weekday) && minute >= fromMinute && minute < toMinute;
    return (
      (days.includes(local.weekday) && minute >= fromMinute) ||
      (days.includes(yesterday) && minute < toMinute)
    );
  });
}

const known = new Map<string, boolean>();

function isKnown(zone: string): boolean {
  const is = known.get(zone) ?? (zone !== '' && IANAZone.isValidZone(zone));
  known.set(zone, is);
  return is;
}

const changes = new Map<string, boolean>();

/** Told once for each hour: creates come in bursts, and an offset is worked out from formatted text. */
function isClockChangeNear(zone: string, at: number): boolean {
  const hour = Math.floor(at / hourMs);
  const key = `${zone}/${hour}`;
  const offset = (hours: number) => IANAZone.create(zone).offset(hours * hourMs);
  const is = changes.get(key) ?? offset(hour - 25) !== offset(hour + 26);
  changes.set(key, is);
  return is;
}
