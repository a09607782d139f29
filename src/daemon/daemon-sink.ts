import type { Clock, DurationMs } from '../base/time.ts';
import type { Logger } from '../observability/logger.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';

export interface DaemonSinkParts {
  readonly projections: EventSink;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Keeps in mind that Redis refuses writes. @returns whether this error says so, which is reported already then */
  readonly learnRefusal: (error: unknown) => boolean;
  /** Whether we closed the connections to Redis under what still worked with it. */
  readonly isCut: () => boolean;
}

// What goes on is met again and again; a person needs to read it now and then.
const starvedAgainMs: DurationMs = 600_000;

/** What a daemon reports, each thing once; and what it knows of itself by that. */
export interface DaemonSink extends EventSink {
  isLeading(): boolean;
}

/** Leaves out of the reports what was reported already, and what a cut connection makes everybody complain of. */
export function makeDaemonSink(parts: DaemonSinkParts): DaemonSink {
  const { projections, logger, clock, learnRefusal, isCut } = parts;
  let isLeading = false;
  let starvedReportedAt = Number.NEGATIVE_INFINITY;
  return {
    isLeading: () => isLeading,
    report: projections.report,
    note: (note) => {
      if (note.event === 'leader.acquired') isLeading = true;
      if (note.event === 'leader.lost') {
        // By the lease that ran out, or by the leader's loop, which may hang in a pass until Redis is back: reported once.
        if (!isLeading) return;
        isLeading = false;
      }
      if (note.event === 'daemon.starved') {
        const now = clock.now();
        if (now - starvedReportedAt < starvedAgainMs) return;
        starvedReportedAt = now;
      }
      // Reported once, when Redis began to refuse writes; every step and every pass would report it again.
      const isRepetition = 'error' in note && learnRefusal(note.error);
      // What is refused once we closed the connection under it says nothing but that.
      const isOurs = 'error' in note && isCut();
      if (isRepetition || isOurs) logger.write('debug', { event: note.event, error: note.error });
      else projections.note(note);
    },
  };
}
