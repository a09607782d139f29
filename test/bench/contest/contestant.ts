import type { EpochMs } from '../../../src/base/time.ts';
import type { Credentials } from '../../../src/reference-service/server/authentication.ts';
import type { Pace } from '../bench-config.ts';

/** A program that upgrades the fleet. */
export const contestantNames = ['upwave', 'plainPool', 'fixedBatch'] as const;
export type ContestantName = (typeof contestantNames)[number];

/** What every contestant is given; the service's time runs `speed` times as fast as ours. */
export interface ContestantBrief extends Pace {
  readonly name: ContestantName;
  readonly baseUrl: string;
  readonly credentials: Credentials;
}

/** What a contestant reports of its work. Instants are in our time. */
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

/** A performance with what it cost the contestant's own process. */
export interface MeasuredPerformance extends Performance {
  readonly cpuSeconds: number;
  readonly rssPeakBytes: number;
}

/** A contestant that is a script: it runs in a process of its own. */
export type Rival = (brief: ContestantBrief) => Promise<Performance>;
