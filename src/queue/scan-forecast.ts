import { createTask } from 'node-cron';
import type { ScanForecast } from '../orchestrator/ports/scan-book.ts';
import type { ScanSchedule } from './scan-schedule.ts';

/** When each policy's schedule ticks next, whether or not this daemon follows it. */
export function makeScanForecast(schedules: readonly ScanSchedule[]): ScanForecast {
  const tasks = new Map(
    // Never started: it is asked for its instants only.
    schedules.map(({ policy, cron, timeZone }) => [
      policy,
      createTask(cron, () => {}, { timezone: timeZone }),
    ]),
  );
  return (policy, count) => (tasks.get(policy)?.getNextRuns(count) ?? []).map((date) => date.getTime());
}
