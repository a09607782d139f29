import type { DurationMs } from '../base/time.ts';

/** One entry under `rollouts:` in the config: which collectors, to which build, how carefully (DESIGN §4). */
export interface Policy {
  readonly name: string;
  readonly select: Selection;
  readonly target: TargetRule;
  /** A cron expression; seconds are allowed. */
  readonly schedule: string;
  /** The IANA zone in which the schedule is read. */
  readonly timeZone: string;
  /** Upgrades that may be running at the service at one instant (P2). */
  readonly concurrency: number;
  readonly waves: readonly WaveRule[];
  /** How many failures a collector that did not come back counts as. */
  readonly lostWeight: number;
  readonly upgrade: {
    /** From the create: no end by then is a time-out. */
    readonly deadlineMs: DurationMs;
    /** From the task's end: how long the collector may take to show the build and a fresh heartbeat. */
    readonly verifyWithinMs: DurationMs;
    /** How long an upgrade usually takes; looks are timed by it until durations are learned. */
    readonly expectMs: DurationMs;
  };
  readonly retry: RetryRule;
  readonly defer: { readonly upToMs: DurationMs };
  readonly messageRules: readonly MessageRule[];
}

export interface Selection {
  readonly include: Selector;
  readonly exclude: readonly Selector[];
}

/** All given keys must match; a list matches when one of its entries does. Texts are globs, or `/regex/`. */
export interface Selector {
  readonly name?: readonly string[];
  readonly category?: readonly string[];
  readonly hostName?: readonly string[];
  readonly osName?: readonly string[];
  readonly osArch?: readonly string[];
  readonly sourceSyncMode?: readonly string[];
  readonly id?: readonly number[];
  /** Ranges such as `>=19.361-1 <19.500-1`. */
  readonly version?: readonly string[];
  readonly ephemeral?: boolean;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
}

export interface TargetRule {
  /** `latest`, or a build. */
  readonly version: string;
  readonly allowDowngrade: boolean;
}

/** A number of collectors, or a share of them. */
export type Amount =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number };

export interface WaveRule {
  readonly name: string;
  readonly size: Amount;
  readonly soakMs: DurationMs;
  readonly maxFailures: Amount;
}

export interface RetryRule {
  /** Tasks created for one collector in one rollout, at most. */
  readonly maxAttempts: number;
  readonly backoff: {
    readonly initialMs: DurationMs;
    readonly factor: number;
    readonly maxMs: DurationMs;
    /** 0.2 spreads a wait over ±20 %. */
    readonly jitter: number;
  };
}

/** Maps words of a failed task's message to what to do about it. */
export interface MessageRule {
  /** Matches when one of these occurs in the message, in any case. */
  readonly words: readonly string[];
  readonly class: 'retry' | 'retryLater' | 'permanent';
}
