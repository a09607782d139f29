import { type Processor, Worker, type WorkerOptions } from 'bullmq';
import type { DurationMs } from '../base/time.ts';

// BullMQ fetches again at once when Redis answers with an error. While Redis refuses writes (out of memory, disk full,
// a replica), fetches back off, but stay frequent enough that the recovery is not delayed noticeably.
const backoffMs = { first: 1_000, growth: 1.5, max: 2_000 } as const;

// Errors further apart than this belong to different incidents.
const newIncidentAfterMs: DurationMs = 5_000;

// As long as the shortest backoff. Each check wakes a daemon that may be idle.
const checkEveryMs: DurationMs = 1_000;

// BullMQ's own waits are 15 s after a connection that closed during a fetch, and 5 s after a failed check for stalled
// jobs. During them no worker would fetch from a Cluster that has recovered.
const connectionRetryMs: DurationMs = 1_000;

/**
 * A BullMQ worker that stops fetching for a while after an error of Redis itself. Running jobs continue and keep their
 * locks. A timer checks repeatedly whether the worker should be fetching, so no pause lasts for ever.
 */
export class BackoffWorker<Data> extends Worker<Data> {
  readonly #timer: NodeJS.Timeout;
  #backoffMs: DurationMs = backoffMs.first;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  readonly #mayFetch: () => boolean;

  /** @param mayFetch asked each second; while it is false, no job is fetched */
  constructor(name: string, process: Processor<Data>, options: WorkerOptions, mayFetch: () => boolean) {
    super(name, process, { runRetryDelay: connectionRetryMs, ...options });
    this.on('error', (error) => {
      if (error.name === 'ReplyError') this.#backOff();
    });
    this.#mayFetch = mayFetch;
    if (!mayFetch()) this.#halt();
    this.#timer = setInterval(() => this.#check(), checkEveryMs).unref();
  }

  /** Limits a blocking wait to `drainDelay`. BullMQ waits up to 10 s after an error. */
  override get maximumBlockTimeout(): number {
    return this.opts.drainDelay ?? super.maximumBlockTimeout;
  }

  protected override checkConnectionError<Result>(fetch: () => Promise<Result>): Promise<Result | undefined> {
    return super.checkConnectionError(fetch, connectionRetryMs);
  }

  override async close(force?: boolean): Promise<void> {
    clearInterval(this.#timer);
    await super.close(force);
  }

  #backOff(): void {
    const now = performance.now();
    // Requests that were in flight when the pause began may fail as well.
    if (now < this.#pausedUntil || this.isPaused()) return;
    const isNew = now - this.#pausedUntil > newIncidentAfterMs;
    this.#backoffMs = isNew ? backoffMs.first : Math.min(this.#backoffMs * backoffMs.growth, backoffMs.max);
    this.#pausedUntil = now + this.#backoffMs;
    this.#halt();
  }

  #halt(): void {
    // True: without waiting for running jobs.
    this.pause(true).catch((error: Error) => this.emit('error', error));
  }

  #check(): void {
    if (performance.now() < this.#pausedUntil) return;
    if (!this.#mayFetch()) {
      if (!this.isPaused()) this.#halt();
      return;
    }
    // Not running: its loop was ending when it was resumed, and missed that.
    if (this.isPaused() || !this.isRunning()) void this.resume();
  }
}
