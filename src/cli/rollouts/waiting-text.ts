import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { Outage } from '../../contract/admin/rollout-status.ts';
import type { WindowStatus } from '../../contract/admin/status-parts.ts';
import { showInstantIn, showZoned } from '../shell/show-instant.ts';

/** When upgrades may start, in words: `open until 05:00 Europe/Berlin (1h12m)`. */
export function windowText(window: WindowStatus, now: EpochMs): string {
  const ownZones = window.ownZones ? "; by each collector's own time zone" : '';
  return `${openText(window, now)}${ownZones}`;
}

function openText({ isOpen, until, reason, timeZone }: WindowStatus, now: EpochMs): string {
  const change =
    until === null
      ? null
      : `${showInstantIn(timeZone, until, now)} ${timeZone} (${formatDuration(Math.max(0, until - now))})`;
  if (isOpen) return change === null ? 'open' : `open until ${change}`;
  return `closed: ${reason}, ${change === null ? 'and does not open within a year' : `opens ${change}`}`;
}

/** Why no requests are being sent, since when, and until when. */
export function outageText(outage: Outage, now: EpochMs): string {
  const { kind, reason, detail, since, until } = outage;
  const began = since === null ? '' : ` since ${showZoned(since, now)}`;
  const what = detail === null ? '' : ` (${detail.replace(/\.$/, '')})`;
  const why = `${reason}${began}${what}`;
  if (until === null) return `${why}; one request is testing the service`;
  const at = showZoned(until, now);
  return kind === 'serviceDown' ? `${why}; next try ${at}` : `${why}, until ${at}`;
}
