import type { DurationMs, EpochMs } from '../../src/base/time.ts';
import type { Credentials } from '../../src/reference-service/server/authentication.ts';

/** Who upgrades the fleet. */
export type ContestantName = 'upwave' | 'plainPool' | 'fixedBatch';

/** What every contestant is given; the service's time runs `speed` times as fast as ours. */
export interface ContestantBrief {
  readonly name: ContestantName;
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly speed: number;
  /** Upgrades that may run at one instant. */
  readonly slots: number;
  /** How long an upgrade usually takes, in the service's time. */
  readonly expectMs: DurationMs;
  /** For who keeps its state in Redis. */
  readonly redisUrl: string;
}

/** What a contestant tells of its work. Instants are ours, to be mapped to the service's time. */
export interface Performance {
  /** When each collector's task was known to have ended. */
  readonly endsSeen: readonly EndSeen[];
  /** When the work was over: for upwave, when every collector has shown the build. */
  readonly doneAt: EpochMs;
  /** What the contestant itself found wrong; empty when every collector is in its end. */
  readonly complaints: readonly string[];
}

export interface EndSeen {
  readonly collectorId: number;
  readonly at: EpochMs;
}

/** A performance with what it cost the contestant's own process, from its start of work. */
export interface MeasuredPerformance extends Performance {
  readonly cpuSeconds: number;
  readonly rssPeakBytes: number;
}

export type Contestant = (brief: ContestantBrief) => Promise<Performance>;
