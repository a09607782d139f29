import type { DurationMs } from '../../base/time.ts';
import type { Expectation } from './expectation.ts';

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
  /** Caps: the maximum of concurrent upgrades among collectors that share a value of the key (P2). */
  readonly maxInFlightPer: readonly CapRule[];
  /** How many upgrades may start in an hour; absent: as many as slots and the request rate allow. */
  readonly pace?: PaceRule;
  /** Collectors with the same values of these keys form a stratum. If empty, there is one stratum. */
  readonly spreadBy: readonly CollectorKey[];
  readonly isolate: Isolation;
  /** Show the plan, and wait for `approve` before anything starts. */
  readonly approval: boolean;
  /** When upgrades may start; empty: always. */
  readonly windows: readonly WindowRule[];
  /** When no upgrade may start, even inside a window. */
  readonly freezes: readonly FreezeRule[];
  /** What follows too many failures or a missed gate. */
  readonly onBreach: 'hold' | 'abort' | 'rollback';
  readonly waves: readonly WaveRule[];
  /** As how many failures a lost collector counts. */
  readonly lostWeight: number;
  readonly upgrade: {
    /** From the create: no end by then is a time-out. */
    readonly deadlineMs: DurationMs;
    /** From the task's end: how long the collector may take to show the build and a fresh heartbeat. */
    readonly verifyWithinMs: DurationMs;
    /** The usual duration of an upgrade. Polls and closing windows use it until durations are learned. */
    readonly expectMs: DurationMs;
  };
  readonly retry: RetryRule;
  readonly defer: { readonly upToMs: DurationMs };
  readonly messageRules: readonly MessageRule[];
}

export interface Selection {
  readonly include: Selector;
  readonly exclude: readonly Selector[];
  /** Percent of these collectors, chosen by a stable hash: a larger share includes a smaller one. Absent: all. */
  readonly share?: number;
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
  /** A latest build is taken only when the daemon saw it first at least this long ago. */
  readonly minimumAgeMs: DurationMs;
  /** A newer latest build ends a running rollout, and the next rollout upgrades to it. */
  readonly supersede: boolean;
}

/** Keys that distinguish collectors. `collectorVersion` is the build they run. */
export type CollectorKey =
  | 'osName'
  | 'osArch'
  | 'collectorVersion'
  | 'category'
  | 'hostName'
  | 'timeZone'
  | 'sourceSyncMode'
  | 'ephemeral'
  | `fields.${string}`;

export interface CapRule {
  readonly key: CollectorKey;
  readonly cap: number;
}

/**
 * Starts in each hour, spread evenly. They begin with `from`, and multiply by `factor` after each `after` upgrades that
 * succeeded, up to `perHour`.
 */
export interface PaceRule {
  readonly perHour: number;
  readonly from: number;
  readonly factor: number;
  readonly after: number;
}

/** Instead of a time zone: each collector's own. */
export const collectorZone = 'collector';

/** Half-open `[from, to)` by local time; `days` are those on which it opens (1 is Monday). */
export interface WindowRule {
  readonly days: readonly number[];
  /** Minutes since local midnight, below 1440. */
  readonly fromMinute: number;
  /** At most 1440; not after `fromMinute`: on the next day. */
  readonly toMinute: number;
  /** An IANA zone, or `collector`. */
  readonly timeZone: string;
}

/** Half-open `[from, to)` by local time, each as `2026-12-20T00:00`. */
export interface FreezeRule {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  /** An IANA zone, or `collector`. */
  readonly timeZone: string;
}

/** A number of collectors, or a share of them. */
export type Amount =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number };

/** How many collectors a wave takes; percents are of the plan. */
export type WaveSize = Amount | { readonly kind: 'perStratum'; readonly count: number };

export interface WaveRule {
  readonly name: string;
  readonly size: WaveSize;
  /** Takes only matching collectors of any stratum, up to `size`. */
  readonly match?: Selector;
  readonly soakMs: DurationMs;
  readonly maxFailures: Amount;
  /** Waits for `approve` before it opens. */
  readonly approval: boolean;
  /** Probes that have to pass, beside failures and soak, before the next wave may open. */
  readonly gates: readonly GateRule[];
  /** Instead of the policy's, while the wave is open. Its ramp counts what succeeded in the wave. */
  readonly pace?: PaceRule;
  /** Instead of the policy's, while the wave is open. */
  readonly windows?: readonly WindowRule[];
  /** Nothing of the wave starts before, by local time in the policy's zone: `2026-12-01T08:00`. */
  readonly notBefore?: string;
}

export type GateRule = HttpGateRule | SearchGateRule;

interface GateRuleBase {
  /** Unique in its wave. */
  readonly name: string;
  /** Shows its result, and decides nothing. */
  readonly dryRun: boolean;
  /** How often it is asked. */
  readonly everyMs: DurationMs;
}

/** Asked over HTTP. */
export type HttpGateRule = GateRuleBase & {
  /** A file with a bearer token. It is read at each question, because no token may be stored (P12). */
  readonly tokenFile?: string;
  /** A PEM file with authorities to trust beside the public ones. It is read at each question. */
  readonly caFile?: string;
} & GatePlace &
  (
    | {
        readonly kind: 'prometheus';
        readonly query: string;
        readonly expect: Expectation;
        /** How long the expectation must be met without interruption to pass, or missed to fail. */
        readonly forMs: DurationMs;
      }
    | { readonly kind: 'webhook' }
  );

/** A gate that searches the messages of the collectors, by search jobs of the service (collector-api.md §4.5). */
export type SearchGateRule = GateRuleBase &
  (
    | {
        readonly kind: 'search';
        /** A query that returns one number. */
        readonly query: string;
        readonly expect: Expectation;
        /** How far back the search goes. */
        readonly fromMs: DurationMs;
      }
    | DataFlowRule
  );

/** Whether the upgraded collectors of a wave deliver as much as before. */
export interface DataFlowRule extends GateRuleBase {
  readonly kind: 'dataFlow';
  /** How long messages are counted. */
  readonly windowMs: DurationMs;
  /** The share of the earlier messages that the wave must deliver, from 0 to 1. */
  readonly atLeast: number;
  /** How much earlier: a day, so that the hour is the same. */
  readonly comparedToMs: DurationMs;
}

/** How each kind of gate is asked, in the order of naming. */
const askedBy: {
  readonly [Kind in GateRule['kind']]: Kind extends SearchGateRule['kind'] ? 'search' : 'http';
} = {
  prometheus: 'http',
  webhook: 'http',
  dataFlow: 'search',
  search: 'search',
};

export const gateKinds = Object.keys(askedBy) as ReadonlyArray<GateRule['kind']>;

export function isSearchGate(gate: GateRule): gate is SearchGateRule {
  return askedBy[gate.kind] === 'search';
}

/** Where a gate asks. */
export type GatePlace =
  /** Stored and shown, so it holds no secret. */
  | { readonly url: string }
  /** A file with the URL, which may be a secret. It is read at each question, and never stored (P12). */
  | { readonly urlFile: string };

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

/** Maps words in a failed task's message to the next step. */
export interface MessageRule {
  /** Matches when one of these occurs in the message, ignoring case. */
  readonly words: readonly string[];
  readonly class: 'retry' | 'retryLater' | 'permanent';
}

/** Members of a wave of this size. Percentages round up, and are at least 1 while collectors remain (DESIGN §4, Waves). */
export function membersOf(amount: Amount, plannedCount: number): number {
  const wanted =
    amount.kind === 'count' ? amount.count : Math.max(1, Math.ceil(shareOf(plannedCount, amount.percent)));
  return Math.min(wanted, plannedCount);
}

/** Failures that a wave may have without a breach. Percentages round down: 5 % of 10 allows 0 (DESIGN §4, Failures). */
export function failuresAllowed(amount: Amount, waveSize: number): number {
  return amount.kind === 'count' ? amount.count : Math.floor(shareOf(waveSize, amount.percent));
}

/**
 * What is held alone, while the others continue. Each includes those before it. `strata`: an outlier stratum. `attributes`:
 * a group of collectors whose shared attributes explain the failures.
 */
export const isolations = ['off', 'strata', 'attributes'] as const;
export type Isolation = (typeof isolations)[number];

/** As written in the config: `5`, `2%`, `1 per stratum`. */
export function formatAmount(amount: WaveSize): string {
  switch (amount.kind) {
    case 'count':
      return String(amount.count);
    case 'percent':
      return `${amount.percent}%`;
    default:
      return `${amount.count} per stratum`;
  }
}

// 0.57 % of 10,000 is 57 to a person and 56.99999999999999 to a float; no plan needs a twelfth digit.
function shareOf(count: number, percent: number): number {
  return Number(((count * percent) / 100).toPrecision(12));
}
