import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { ReportFormat } from '../../rollout/report/write-report.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { ReportFolder } from '../ports/report-folder.ts';
import { type ReportParts, writeReports } from './write-reports.ts';

export interface KeepReportsParts extends ReportParts {
  readonly folder: ReportFolder;
  readonly formats: readonly ReportFormat[];
  /** Names of the policies of the current config. */
  readonly policies: () => readonly string[];
  readonly sink: EventSink;
}

/** Why reports cannot be written, and since when. */
export interface ReportProblem {
  readonly reason: string;
  readonly since: EpochMs;
}

export type ReportKeeper = ReturnType<typeof makeReportKeeper>;

// Older reports are written only on request: reports that an operator has moved elsewhere must not come back.
const writtenWithinMs: DurationMs = 7 * 86_400_000;
/** How many of the latest rollouts are checked. Fewer end in a week. */
const rolloutsMax = 100;

const writeEveryMs: DurationMs = 5_000;
const retryAfterMs: DurationMs = 60_000;

/**
 * Keeps a report of each ended rollout in a directory. Level-triggered: each pass writes the missing reports, including those
 * that a crash prevented, and keeps existing ones. A reopened rollout gets a new report at its next end.
 */
export function makeReportKeeper(parts: KeepReportsParts) {
  const { store, policies, clock, sink } = parts;
  let problem: (ReportProblem & { readonly failures: number }) | null = null;
  /** Writes the missing reports once. */
  const writeDue = async (): Promise<void> => {
    const page = await store.pageRollouts(policies(), { limit: rolloutsMax });
    for (const rollout of page?.rollouts ?? []) {
      if (!isDue(rollout, clock.now())) continue;
      const reason = await writeMissing(parts, rollout);
      if (reason === undefined) continue;
      problem = { reason, since: problem?.since ?? clock.now(), failures: (problem?.failures ?? 0) + 1 };
      sink.note({
        event: 'report.failed',
        policy: rollout.policy.name,
        rollout: rollout.id,
        reason,
        failures: problem.failures,
      });
      // The directory is the cause, so the other reports would fail as well.
      return;
    }
    if (problem !== null) sink.note({ event: 'report.recovered', reason: parts.folder.place });
    problem = null;
  };
  return {
    writeDue,
    /** null if the last attempt succeeded, or none was due. */
    problem: (): ReportProblem | null => problem,
    /** Paths of a rollout's reports; empty while reports cannot be written. */
    pathsOf: (rolloutId: string): readonly string[] =>
      problem === null ? parts.formats.map((format) => parts.folder.pathOf(fileOf(rolloutId, format))) : [],
    /** Writes missing reports periodically while this daemon leads, until the signal is aborted. */
    keep: async (
      { isLeading, sleep }: { readonly isLeading: () => boolean; readonly sleep: Sleep },
      signal: AbortSignal,
    ): Promise<void> => {
      while (!signal.aborted) {
        try {
          if (isLeading()) await writeDue();
        } catch (error) {
          // Redis is unavailable or refuses: the next pass writes the rest.
          if (!signal.aborted)
            sink.note({ event: 'backgroundTask.failed', backgroundTask: 'reports', error });
        }
        await sleep(problem === null ? writeEveryMs : retryAfterMs, signal);
      }
    },
  };
}

type EndedRollout = Rollout & { readonly endedAt: EpochMs };

function isDue(rollout: Rollout, now: EpochMs): rollout is EndedRollout {
  const { endedAt, unreadable } = rollout;
  return unreadable === undefined && endedAt !== null && now - endedAt <= writtenWithinMs;
}

/** @returns the failure; undefined if all reports are written */
async function writeMissing(parts: KeepReportsParts, rollout: EndedRollout): Promise<string | undefined> {
  const { folder, formats, sink } = parts;
  const { id, endedAt, policy } = rollout;
  const missing = await folder.listMissing(
    formats.map((format) => fileOf(id, format)),
    endedAt,
  );
  if (!missing.ok) return missing.reason;
  const wanted = formats.filter((format) => missing.value.includes(fileOf(id, format)));
  if (wanted.length === 0) return undefined;
  const reports = await writeReports(parts, id, wanted);
  if (reports === undefined) return undefined;
  for (const format of wanted) {
    const written = await folder.write(fileOf(id, format), reports[format], endedAt);
    if (!written.ok) return written.reason;
    sink.note({
      event: 'report.written',
      policy: policy.name,
      rollout: id,
      reason: folder.pathOf(fileOf(id, format)),
    });
  }
  return undefined;
}

function fileOf(rolloutId: string, format: ReportFormat): string {
  return `${rolloutId}.${format}`;
}
