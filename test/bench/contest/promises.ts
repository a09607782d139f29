import type { RecordSnapshot } from '../../../src/reference-service/api/service-record.ts';
import type { Contest } from './contest.ts';
import type { Performance } from './contestant.ts';

/** What went wrong in a run: a figure of a run that broke a promise is worth nothing (DESIGN §2: P1, P2, P9). */
export function findBrokenPromises(
  contest: Pick<Contest, 'collectors' | 'slots'>,
  performance: Performance,
  record: RecordSnapshot,
): readonly string[] {
  const ended = new Set(performance.endsSeen.map(({ collectorId }) => collectorId));
  const unseen = record.creates.filter(({ collectorId }) => !ended.has(collectorId)).length;
  return [
    ...performance.complaints,
    ...findBrokenInRecord(contest, record),
    ...(unseen > 0 ? [`the end of ${unseen} tasks was not seen`] : []),
  ];
}

/** The same by the service's record alone, for daemons whose log ends with a kill. */
export function findBrokenInRecord(
  contest: Pick<Contest, 'collectors' | 'slots'>,
  record: RecordSnapshot,
): readonly string[] {
  const broken: string[] = [];
  const created = Object.entries(record.createsPerCollector);
  const twice = created.filter(([, creates]) => creates > 1);
  if (twice.length > 0) broken.push(`${twice.length} collectors got a second task, first ${twice[0]?.[0]}`);
  if (record.needlessCreates > 0) broken.push(`${record.needlessCreates} needless creates`);
  if (record.tasksInFlightMax > contest.slots) {
    broken.push(`${record.tasksInFlightMax} tasks at once with ${contest.slots} slots`);
  }
  if (created.length !== contest.collectors) {
    broken.push(`${created.length} of ${contest.collectors} collectors got a task`);
  }
  return broken;
}
