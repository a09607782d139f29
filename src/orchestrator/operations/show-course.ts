import { keepLatest } from '../../base/keep-latest.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutCourse } from '../../contract/admin/course.ts';
import { describeCourse } from '../../rollout/status/describe-course.ts';
import { eventsKeptMax, eventsReadMax } from '../ports/rollout-store.ts';
import { loadRolloutSummary, type ViewParts } from '../records/read-records.ts';

/** 10,000 events take 60 ms of this process, so all requests within this time share one read. */
const keptForMs: DurationMs = 5_000;
/** The number of rollouts with a shared read. */
const coursesKeptMax = 20;

/** Makes the function that reads the history of a rollout; it returns undefined if there is no such rollout. */
export function makeShowCourse(
  parts: ViewParts & { readonly clock: Clock },
): (rolloutId: string) => Promise<RolloutCourse | undefined> {
  const kept = new Map<
    string,
    { readonly at: EpochMs; readonly course: Promise<RolloutCourse | undefined> }
  >();
  const read = async (rolloutId: string): Promise<RolloutCourse | undefined> => {
    const now = parts.clock.now();
    const view = await loadRolloutSummary(parts, rolloutId, now);
    if (view === undefined) return undefined;
    const events = await parts.store.readEvents(rolloutId, { limit: eventsReadMax });
    return describeCourse(view, { events, isWhole: events.length < eventsKeptMax }, now);
  };
  return (rolloutId) => {
    const now = parts.clock.now();
    const known = kept.get(rolloutId);
    if (known !== undefined && now - known.at < keptForMs) return known.course;
    const course = read(rolloutId);
    keepLatest(kept, rolloutId, { at: now, course }, coursesKeptMax);
    // A failure is not cached: the next request reads again.
    course.catch(() => kept.delete(rolloutId));
    return course;
  };
}
