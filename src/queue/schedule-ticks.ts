import { createTask } from 'node-cron';
import type { EpochMs } from '../base/time.ts';
import type { ScanSchedule } from './scan-schedule.ts';

const minuteMs = 60_000;

/**
 * The instants at which a schedule ticks, at most one a minute: a scan takes longer than a few seconds.
 * @param span days at most, since each minute is tried
 */
export async function ticksIn(
  { cron, timeZone }: Pick<ScanSchedule, 'cron' | 'timeZone'>,
  span: { readonly from: EpochMs; readonly to: EpochMs },
): Promise<readonly EpochMs[]> {
  // A field for seconds may come first.
  const minutes = cron.trim().split(/\s+/).slice(-5).join(' ');
  // Never started: only used to compute instants.
  const task = createTask(minutes, () => {}, { timezone: timeZone });
  const ticks: EpochMs[] = [];
  for (let at = Math.ceil(span.from / minuteMs) * minuteMs; at <= span.to; at += minuteMs)
    if (task.match(new Date(at))) ticks.push(at);
  await task.destroy();
  return ticks;
}
