import { randomUUID } from 'node:crypto';
import { keepLatest } from '../../base/keep-latest.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { searchJobDone } from '../../contract/collector-management/search-job-bodies.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';

/** A search job. Its bodies and states are not specified (collector-api.md §4.5). */
export interface SearchJob {
  readonly id: string;
  /** The session whose cookie selects the server with the job. */
  readonly sessionId: string;
  readonly createdAt: EpochMs;
  /** The client's request, verbatim. */
  readonly request: unknown;
}

/** The session of a follow-up call, and whether the call had its cookie. */
export interface FollowUp {
  readonly sessionId: string;
  readonly broughtCookie: boolean;
}

/** Not specified: how long a job gathers, and how many rows it has then. */
const gathersMs: DurationMs = 5_000;
const rowsMax = 250;

/** The oldest jobs are dropped first. */
const jobsMax = 1_000;

/** The search jobs of an account, in memory only. */
export class SearchJobs {
  readonly #jobs = new Map<string, SearchJob>();

  create(parts: Omit<SearchJob, 'id'>): SearchJob {
    const job: SearchJob = { ...parts, id: randomUUID() };
    keepLatest(this.#jobs, job.id, job, jobsMax);
    return job;
  }

  /**
   * Finds a job by the cookie of its creation (collector-api.md §5.5).
   * @throws RefusedRequest 500 without any session cookie; 404 with another one, or for an unknown job
   */
  find(id: string, { sessionId, broughtCookie }: FollowUp): SearchJob {
    if (!broughtCookie) {
      throw new RefusedRequest(
        500,
        'internal.error',
        'a call for a search job must carry its session cookie',
      );
    }
    const job = this.#jobs.get(id);
    if (job === undefined || job.sessionId !== sessionId) {
      throw new RefusedRequest(404, 'jobid.invalid', 'the job ID is invalid');
    }
    return job;
  }

  /** @throws RefusedRequest as `find` */
  delete(id: string, followUp: FollowUp): void {
    this.#jobs.delete(this.find(id, followUp).id);
  }
}

/** The progress of a job, which gathers its rows evenly. */
export function searchJobProgress(job: SearchJob, now: EpochMs) {
  const share = Math.min(1, Math.max(0, (now - job.createdAt) / gathersMs));
  return {
    isDone: share >= 1,
    state: share < 1 ? 'GATHERING RESULTS' : searchJobDone,
    resultCount: Math.floor(share * rowsMax),
  };
}
