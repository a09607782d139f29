import { type Processor, Worker, type WorkerOptions } from 'bullmq';
import type { DurationMs } from '../base/time.ts';

// BullMQ asks again at once when Redis answers with an error. A Redis that refuses writes (no memory, no disk, a replica)
// is asked again after a second, then a little later each time, but never so late that a person would notice.
const restMs = { first: 1_000, growth: 1.5, max: 2_000 } as const;

// Refusals further apart than this have nothing to do with each other.
const forgetAfterMs: DurationMs = 5_000;

// As soon as the shortest rest ends; each check wakes a daemon that may be idle.
const checkEveryMs: DurationMs = 1_000;

// After a connection that closed under a fetch BullMQ waits 15 s until the next one, and 5 s after a poll for stalled
// jobs that failed: a Cluster that is made whole meanwhile would find nobody at work.
const connectionRestMs: DurationMs = 1_000;

/**
 * A BullMQ worker that fetches nothing for a while after an error of Redis itself. Jobs that run go on, and keep their
 * locks. Level-triggered: it checks again and again whether it should be at work, so no rest lasts for ever.
 */
export class BackoffWorker<Data> extends Worker<Data> {
  readonly #checking: NodeJS.Timeout;
  #restMs: DurationMs = restMs.first;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(name: string, process: Processor<Data>, options: WorkerOptions) {
    super(name, process, { runRetryDelay: connectionRestMs, ...options });
    this.on('error', (error) => {
      if (error.name === 'ReplyError') this.#rest();
    });
    this.#checking = setInterval(() => this.#check(), checkEveryMs).unref();
  }

  /** A worker whose wait for a job was refused waits as long as it can the next time; BullMQ's own bound is 10 s. */
  override get maximumBlockTimeout(): number {
    return this.opts.drainDelay ?? super.maximumBlockTimeout;
  }

  protected override checkConnectionError<Result>(ask: () => Promise<Result>): Promise<Result | undefined> {
    return super.checkConnectionError(ask, connectionRestMs);
  }

  override async close(force?: boolean): Promise<void> {
    clearInterval(this.#checking);
    await super.close(force);
  }

  #rest(): void {
    const now = performance.now();
    // What was under way when the rest began may be refused, too.
    if (now < this.#restsUntil || this.isPaused()) return;
    const isNew = now - this.#restsUntil > forgetAfterMs;
    this.#restMs = isNew ? restMs.first : Math.min(this.#restMs * restMs.growth, restMs.max);
    this.#restsUntil = now + this.#restMs;
    // True: without waiting for the jobs that run.
    this.pause(true).catch((error: Error) => this.emit('error', error));
  }

  #check(): void {
    if (performance.now() < this.#restsUntil) return;
    // Not running: its loop was just ending when it was resumed, and missed that.
    if (this.isPaused() || !this.isRunning()) void this.resume();
  }
}
