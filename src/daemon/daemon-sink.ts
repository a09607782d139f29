import type { Clock, DurationMs } from '../base/time.ts';
import type { Logger } from '../observability/logger.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';

export interface DaemonSinkParts {
  readonly projections: EventSink;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Remembers that Redis refuses writes. @returns true for an error of this kind, which is reported elsewhere */
  readonly learnRefusal: (error: unknown) => boolean;
  /** True after the daemon closed its connections to Redis during a stop. */
  readonly isCut: () => boolean;
}

// A lasting problem is met again and again, but reported only now and then.
const starvedAgainMs: DurationMs = 600_000;

/** The events of a daemon without repetitions. It also keeps the state that they show. */
export interface DaemonSink extends EventSink {
  isLeading(): boolean;
}

/** Drops repeated reports, and errors that a deliberately closed connection causes. */
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
        // Reported by the lease that expired, or by the leader's loop, whichever is first.
        if (!isLeading) return;
        isLeading = false;
      }
      if (note.event === 'daemon.starved') {
        const now = clock.now();
        if (now - starvedReportedAt < starvedAgainMs) return;
        starvedReportedAt = now;
      }
      // Reported once, when Redis began to refuse writes. Every step and pass would report it again.
      const isRepetition = 'error' in note && learnRefusal(note.error);
      // An error after the daemon closed the connection.
      const isOwnStop = 'error' in note && isCut();
      if (isRepetition || isOwnStop) logger.write('debug', { event: note.event, error: note.error });
      else projections.note(note);
    },
  };
}
