import { z } from 'zod';
import { formatDuration } from '../../base/time.ts';
import { partOf, type WholeReport } from './value-schemas.ts';

const minutesOfDay = 1_440;
const minutesOfWeek = 7 * minutesOfDay;

/** A valid window. */
const ReadWindow = z.object({
  days: z.array(z.number()),
  fromMinute: z.number(),
  toMinute: z.number(),
  timeZone: z.string().optional(),
});
type ReadWindow = z.output<typeof ReadWindow>;

/**
 * Reports each window in which no upgrade could start, because none is expected to end before it closes (P7). Adjoining
 * windows count together.
 */
export function reportShortWindows(
  { windows, timeZone, upgrade, waves }: Readonly<Record<string, unknown>>,
  report: WholeReport,
): void {
  const expectMs = partOf(upgrade, 'expectMs');
  if (typeof expectMs !== 'number') return;
  const zoned = { timeZone, expectMs };
  reportShort(windows, zoned, (problem, index) => report(problem, ['windows', index]));
  if (!Array.isArray(waves)) return;
  for (const [wave, rule] of waves.entries())
    reportShort(partOf(rule, 'windows'), zoned, (problem, index) =>
      report(problem, ['waves', wave, 'windows', index]),
    );
}

function reportShort(
  windows: unknown,
  { timeZone, expectMs }: { readonly timeZone: unknown; readonly expectMs: number },
  report: (problem: string, index: number) => void,
): void {
  if (!Array.isArray(windows)) return;
  const openByZone = new Map<unknown, Uint8Array>();
  const read = windows.map((entry: unknown) => {
    const window = ReadWindow.safeParse(entry).data;
    if (window === undefined) return undefined;
    const zone = window.timeZone ?? timeZone;
    const open = openByZone.get(zone) ?? new Uint8Array(minutesOfWeek);
    openByZone.set(zone, open);
    markOpen(open, window);
    return { window, open };
  });
  read.forEach((entry, index) => {
    if (entry === undefined) return;
    const { window, open } = entry;
    const stretches = window.days.map((day) => stretchAround(open, startOf(day, window)));
    const openMs = Math.max(...stretches) * 60_000;
    if (openMs >= expectMs) return;
    report(
      `is open for ${formatDuration(openMs)}, shorter than upgrade.expect, ${formatDuration(expectMs)}: no upgrade would ever start`,
      index,
    );
  });
}

/** Marks each minute of the week in which the window is open, without daylight saving. */
function markOpen(open: Uint8Array, window: ReadWindow): void {
  const { fromMinute, toMinute } = window;
  const length = toMinute > fromMinute ? toMinute - fromMinute : toMinute - fromMinute + minutesOfDay;
  for (const day of window.days) {
    const start = startOf(day, window);
    for (let minute = start; minute < start + length; minute += 1) open[minute % minutesOfWeek] = 1;
  }
}

function startOf(day: number, window: ReadWindow): number {
  return (day - 1) * minutesOfDay + window.fromMinute;
}

/** How many consecutive minutes around this one are open; the week repeats. */
function stretchAround(open: Uint8Array, start: number): number {
  const isOpen = (minute: number) => open[(minute + minutesOfWeek) % minutesOfWeek] === 1;
  let before = 0;
  while (before < minutesOfWeek && isOpen(start - before - 1)) before += 1;
  if (before === minutesOfWeek) return Number.POSITIVE_INFINITY;
  let after = 0;
  while (isOpen(start + after)) after += 1;
  return before + after;
}
