import { formatDuration } from '../base/duration.ts';
import { toPrintable } from '../base/printable.ts';
import type { EpochMs } from '../base/time.ts';
import type { WindowStatus } from '../rollout/status.ts';
import { showInstantIn } from './show-instant.ts';

/** When upgrades may start, in words: `open until 05:00 Europe/Berlin (1h12m)`. */
export function windowWords(window: WindowStatus, now: EpochMs): string {
  const ownZones = window.ownZones ? "; by each collector's own time zone" : '';
  return `${openWords(window, now)}${ownZones}`;
}

function openWords({ isOpen, until, reason, timeZone }: WindowStatus, now: EpochMs): string {
  const change =
    until === null
      ? null
      : `${showInstantIn(timeZone, until, now)} ${timeZone} (${formatDuration(Math.max(0, until - now))})`;
  if (isOpen) return change === null ? 'open' : `open until ${change}`;
  return `closed: ${toPrintable(reason)}, ${change === null ? 'and does not open in a year' : `opens ${change}`}`;
}
