import { keepLatest } from '../../base/keep-latest.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutCourse } from '../../contract/admin/course.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import { describeCourse } from '../../rollout/status/describe-course.ts';
import { auditKeptMax } from '../ports/fleet-register.ts';
import { eventsKeptMax, eventsReadMax } from '../ports/rollout-store.ts';
import { loadRolloutSummary, type ViewParts } from '../records/read-records.ts';

/** 10,000 events take 60 ms of this process, so all requests within this time share one read. */
const keptForMs: DurationMs = 5_000;
/** The number of rollouts with a shared read. */
const coursesKeptMax = 20;

/**
 * Makes the function that reads the history of a rollout; it returns undefined if there is no such rollout. A change of
 * its state, or of a hold of its build, shows in the next answer.
 */
export function makeShowCourse(
  parts: ViewParts & { readonly clock: Clock },
): (rolloutId: string) => Promise<RolloutCourse | undefined> {
  const kept = new Map<
    string,
    { readonly at: EpochMs; readonly stopped: string; readonly course: Promise<RolloutCourse> }
  >();
  const read = async (view: RolloutView, now: EpochMs): Promise<RolloutCourse> => {
    const { id, rollback } = view.rollout;
    const readEvents = (of: string) => parts.store.readEvents(of, { limit: eventsReadMax });
    const events = await readEvents(id);
    const ofRollback = rollback.startedAs === null ? [] : await readEvents(rollback.startedAs);
    const audit = await parts.register.readAudit(auditKeptMax);
    return describeCourse(view, { events, ofRollback, audit, isWhole: events.length < eventsKeptMax }, now);
  };
  return async (rolloutId) => {
    const now = parts.clock.now();
    const view = await loadRolloutSummary(parts, rolloutId, now);
    if (view === undefined) return undefined;
    const stopped = `${view.rollout.state} ${view.buildHold?.at}`;
    const known = kept.get(rolloutId);
    if (known !== undefined && now - known.at < keptForMs && known.stopped === stopped) return known.course;
    const course = read(view, now);
    keepLatest(kept, rolloutId, { at: now, stopped, course }, coursesKeptMax);
    // A failure is not cached: the next request reads again.
    course.catch(() => kept.delete(rolloutId));
    return course;
  };
}
