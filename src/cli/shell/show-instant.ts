import type { EpochMs } from '../../base/time.ts';
import { dayMs, findTimeZone, type LocalMs } from '../../base/time-zone.ts';

/** An instant in this machine's time zone: `22:46:10` where that is today, else with its date. */
export function showInstant(at: EpochMs, now: EpochMs): string {
  return show(machineClock(at), machineClock(now), 'HH:MM:SS'.length);
}

/** The same with seconds on every day and the zone, for lists whose order matters. */
export function showSecond(at: EpochMs, now: EpochMs): string {
  return withZone(show(machineClock(at), machineClock(now), 'HH:MM:SS'.length, 'HH:MM:SS'.length), at);
}

/** The same with the zone; with `to`, the time from one instant to another. */
export function showZoned(at: EpochMs, now: EpochMs, to: EpochMs | null = null): string {
  const end = to === null ? '' : ` to ${showInstant(to, now)}`;
  return withZone(`${showInstant(at, now)}${end}`, to ?? at);
}

/** An instant in an IANA time zone, to the minute: `22:46` where that is today, else with its date. */
export function showInstantIn(timeZone: string, at: EpochMs, now: EpochMs): string {
  const clock = findTimeZone(timeZone)?.localOf ?? machineClock;
  return show(clock(at), clock(now), 'HH:MM'.length);
}

function show(local: LocalMs, localNow: LocalMs, digits: number, digitsOfOtherDay = 'HH:MM'.length): string {
  const [date = '', time = ''] = new Date(local).toISOString().split('T');
  const isToday = Math.floor(local / dayMs) === Math.floor(localNow / dayMs);
  return isToday ? time.slice(0, digits) : `${date} ${time.slice(0, digitsOfOtherDay)}`;
}

function machineClock(at: EpochMs): LocalMs {
  return at - new Date(at).getTimezoneOffset() * 60_000;
}

/** An instant in this machine's time zone, to the minute and with the zone: `22:46 CET` where that is today. */
export function showMinute(at: EpochMs, now: EpochMs): string {
  return withZone(show(machineClock(at), machineClock(now), 'HH:MM'.length), at);
}

function withZone(time: string, at: EpochMs): string {
  const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
  return zone === undefined ? time : `${time} ${zone}`;
}

/** For an instant to come. With its zone, because the reader may be in another zone by then. */
export function showComing(at: EpochMs, now: EpochMs): string {
  return `${showInstant(at, now)} ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
}
