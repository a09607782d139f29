import { type DurationMs, formatDuration } from '../../base/time.ts';
import type { ForeignAccount } from '../model/account.ts';
import type { Implausible } from '../model/assess-inventory.ts';
import { countLeftOut, type LeftOutKind, type NoTarget } from '../model/left-out.ts';
import type { Rollout } from '../model/rollout.ts';
import type { ConfigStatus } from '../reload/newest-config.ts';
import { describeFailure, type ServiceFailure } from '../upgrade/failure-classes.ts';
import { accountWords } from './accounts.ts';
import { configWords } from './configs.ts';
import { healthWords } from './daemon-health.ts';
import { needsStartWords } from './data-loss.ts';
import { leftOutLine, nobodyPlannedWords, noTargetWords, showLeftOut } from './exclusions.ts';
import { counted, makeWords } from './sentences.ts';
import { implausibleWords } from './stop-causes.ts';

/** The result of a scan. */
export type ScanResult =
  | { readonly kind: 'started'; readonly rolloutId: string; readonly planned: number }
  | { readonly kind: 'busy'; readonly rolloutId: string; readonly unread?: Unread }
  | { readonly kind: 'nothing'; readonly why: NothingToDo }
  /** Another daemon has a newer config of the policy, and scans it. */
  | { readonly kind: 'outdated'; readonly policy: string; readonly config: ConfigStatus }
  | { readonly kind: 'failed'; readonly why: ScanFailure };

/** A rollout that was aborted or rolled back. */
export type StoppedRollout = Pick<Rollout, 'id' | 'state' | 'targetBuild'>;

/** Why no rollout starts. */
export type NothingToDo =
  | { readonly kind: 'unknownPolicy'; readonly policy: string }
  | { readonly kind: 'noTarget'; readonly why: NoTarget }
  /** The plan has no collector. */
  | {
      readonly kind: 'nobody';
      readonly targetBuild: string;
      readonly leftOut: ReadonlyArray<{ readonly kind: LeftOutKind }>;
    }
  /** The last rollout to this build was aborted or rolled back. */
  | {
      readonly kind: 'stopped';
      readonly policy: string;
      readonly last: StoppedRollout;
    }
  /** Redis lost this rollout. Only an operator starts the policy again. */
  | { readonly kind: 'lost'; readonly lost: Rollout }
  | { readonly kind: 'lostMeanwhile' };

export type ScanFailure =
  | ServiceFailure
  /** A rollout whose policy no config has is still upgrading collectors of the plan. */
  | ({ readonly kind: 'stillRunning' } & StillRunning)
  /** This host's clock differs from Redis's, or could not be compared with it. A plan would have wrong instants. */
  | { readonly kind: 'wrongClock' }
  /** The service answered with a list of collectors that is too short to plan from. */
  | {
      readonly kind: 'shortInventory';
      readonly size: number;
      readonly before: number;
      /** A list that stays short for this long counts as the whole fleet. */
      readonly believedAfterMs: DurationMs;
    };

/** The part of a running rollout's check that failed. */
export type Unread =
  | { readonly of: 'account'; readonly account: ForeignAccount }
  | { readonly of: 'builds'; readonly why: ServiceFailure }
  | { readonly of: 'fleet'; readonly why: ServiceFailure | Implausible };

/** A scan's result as a sentence. */
export const scanWords = makeWords<ScanResult>({
  started: ({ rolloutId, planned }) => `started ${rolloutId} with ${counted(planned, 'collector')}`,
  busy: ({ rolloutId, unread }) =>
    unread === undefined
      ? `${rolloutId} is still running`
      : `${rolloutId} is still running, and could not be checked: ${unreadWords(unread)}`,
  nothing: ({ why }) => nothingWords(why),
  outdated: ({ policy, config }) => configWords(policy, config) ?? '',
  failed: ({ why }) => scanFailureWords(why),
});

const nothingWords = makeWords<NothingToDo>({
  unknownPolicy: ({ policy }) => `no policy ${policy} in the config`,
  noTarget: ({ why }) => noTargetWords(why),
  nobody: (plan) => {
    const reasons = showLeftOut(countLeftOut(plan.leftOut.map(({ kind }) => kind)));
    const words = nobodyPlannedWords(plan);
    return reasons.length === 0 ? words : `${words} (${leftOutLine(reasons)})`;
  },
  stopped: ({ policy, last }) =>
    `${stoppedWords(last)}; only an operator starts it again: upwave start ${policy}`,
  lost: ({ lost }) => needsStartWords(lost),
  lostMeanwhile: () => 'Redis lost its data during planning; the next scan plans again',
});

/** `production-20261121-1 to 19.455-2 was aborted`. */
export function stoppedWords({ id, state, targetBuild }: StoppedRollout): string {
  return `${id} to ${targetBuild} was ${state === 'aborted' ? 'aborted' : 'rolled back'}`;
}

/** A rollout without a policy, and how many collectors of a plan it is upgrading. */
export interface StillRunning {
  readonly rolloutId: string;
  readonly running: number;
}

/** Two rollouts must not upgrade the same collectors, nor add up their slots (P1, P2). */
export function stillRunningWords({ rolloutId, running }: StillRunning): string {
  return (
    `no config has the policy of ${rolloutId} any more, and it is still upgrading ${counted(running, 'collector')} of this ` +
    `policy; the plan is made when they have ended (to end it: upwave abort ${rolloutId})`
  );
}

function scanFailureWords(why: ScanFailure): string {
  if (why.kind === 'stillRunning') return stillRunningWords(why);
  if (why.kind === 'wrongClock') return healthWords.clockForbidsPlans;
  if (why.kind !== 'shortInventory') return describeFailure(why);
  const { size, before, believedAfterMs } = why;
  return (
    `the inventory lists ${counted(size, 'collector')}, ${before} at the last good scan: it is too short to plan from; ` +
    `if it stays so for ${formatDuration(believedAfterMs)}, it counts as the whole fleet`
  );
}

function unreadWords(unread: Unread): string {
  if (unread.of === 'account') return accountWords(unread.account);
  if (unread.of === 'builds') return `the builds on offer: ${describeFailure(unread.why)}`;
  return `the fleet, for late joiners: ${isImplausible(unread.why) ? implausibleWords(unread.why) : describeFailure(unread.why)}`;
}

function isImplausible(why: ServiceFailure | Implausible): why is Implausible {
  return why.kind === 'empty' || why.kind === 'manyGone' || why.kind === 'short';
}
