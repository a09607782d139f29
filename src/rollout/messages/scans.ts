import { type DurationMs, formatDuration } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { ForeignAccount } from '../model/account.ts';
import type { Implausible } from '../model/assess-inventory.ts';
import { countLeftOut, type LeftOutKind, type NoTarget } from '../model/left-out.ts';
import type { Rollout, RolloutPlan } from '../model/rollout.ts';
import type { ConfigStatus } from '../reload/newest-config.ts';
import { describeFailure, type ServiceFailure } from '../upgrade/failure-classes.ts';
import { accountText } from './account-texts.ts';
import { configText } from './config-texts.ts';
import { healthText } from './daemon-health.ts';
import { needsStartText } from './data-loss-texts.ts';
import { leftOutLine, nobodyPlannedText, noTargetText, showLeftOut } from './exclusions.ts';
import { counted, makeText } from './sentences.ts';
import { implausibleText } from './stop-causes.ts';

/** The result of a scan. */
export type ScanResult =
  | { readonly kind: 'started'; readonly rolloutId: string; readonly planned: number }
  | { readonly kind: 'busy'; readonly rolloutId: string; readonly unread?: Unread }
  | { readonly kind: 'nothing'; readonly why: NothingToDo }
  /** Another daemon has a newer config of the policy, and scans it. */
  | { readonly kind: 'outdated'; readonly policy: string; readonly config: ConfigStatus }
  | { readonly kind: 'failed'; readonly why: ScanFailure };

/** A rollout that was aborted or rolled back. */
export interface StoppedRollout extends Pick<Rollout, 'id' | 'state'> {
  readonly plan: Pick<RolloutPlan, 'targetBuild'>;
}

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

/** A scan's result as a sentence. People may read it long after the scan. */
export const scanText = makeText<ScanResult>({
  started: ({ rolloutId, planned }) => `started ${rolloutId} with ${counted(planned, 'collector')}`,
  busy: ({ rolloutId, unread }) =>
    unread === undefined
      ? `${rolloutId} was still running`
      : `${rolloutId} was still running, and could not be checked: ${unreadText(unread)}`,
  nothing: ({ why }) => nothingText(why),
  outdated: ({ policy, config }) => configText(policy, config) ?? '',
  failed: ({ why }) => scanFailureText(why),
});

/** A rollout that has not ended. Its policy starts no other one. */
type ActiveRollout = Pick<RolloutStatus, 'id' | 'kind' | 'state' | 'rollbackId' | 'rollbackOf'>;

/** Why an operator's start beside this rollout is refused, and what to do instead. A rollback must not be ended for it. */
export function besideText({ id, kind, state, rollbackId, rollbackOf }: ActiveRollout): string {
  if (kind === 'rollback') return `${id} is rolling back ${rollbackOf}; ${waitText(id)}`;
  if (state === 'rollingBack') {
    const by = rollbackId === null ? '' : ` (by ${rollbackId})`;
    return `${id} is rolling back${by}; ${waitText(rollbackId ?? id)}`;
  }
  return (
    `${id} has not ended; new collectors join it at the next scan; ` +
    `for a new plan wait until it ends, or end it: upwave abort ${id}`
  );
}

function waitText(id: string): string {
  return `wait until the rollback has ended: upwave status ${id}`;
}

const nothingText = makeText<NothingToDo>({
  unknownPolicy: ({ policy }) => `no policy ${policy} in the config`,
  noTarget: ({ why }) => noTargetText(why),
  nobody: (plan) => {
    const reasons = showLeftOut(countLeftOut(plan.leftOut.map(({ kind }) => kind)));
    const words = nobodyPlannedText(plan);
    return reasons.length === 0 ? words : `${words} (${leftOutLine(reasons)})`;
  },
  stopped: ({ policy, last }) =>
    `${stoppedText(last)}; only an operator starts it again: upwave start ${policy}`,
  lost: ({ lost }) => needsStartText(lost),
  lostMeanwhile: () => 'Redis lost its data during planning; the next scan plans again',
});

/** `production-20261121-1 to 19.455-2 was aborted`. */
export function stoppedText({ id, state, plan }: StoppedRollout): string {
  return `${id} to ${plan.targetBuild} was ${state === 'aborted' ? 'aborted' : 'rolled back'}`;
}

/** A rollout without a policy, and how many collectors of a plan it is upgrading. */
export interface StillRunning {
  readonly rolloutId: string;
  readonly running: number;
}

/** Two rollouts must not upgrade the same collectors, nor add up their slots (P1, P2). */
export function stillRunningText({ rolloutId, running }: StillRunning): string {
  return (
    `no config has the policy of ${rolloutId} any more, and it is still upgrading ${counted(running, 'collector')} of this ` +
    `policy; the plan is made when they have ended (to end it: upwave abort ${rolloutId})`
  );
}

function scanFailureText(why: ScanFailure): string {
  if (why.kind === 'stillRunning') return stillRunningText(why);
  if (why.kind === 'wrongClock') return healthText.clockForbidsPlans;
  if (why.kind !== 'shortInventory') return describeFailure(why);
  const { size, before, believedAfterMs } = why;
  return (
    `the inventory lists ${counted(size, 'collector')}, ${before} at the last good scan: it is too short to plan from; ` +
    `if it stays so for ${formatDuration(believedAfterMs)}, it counts as the whole fleet`
  );
}

function unreadText(unread: Unread): string {
  if (unread.of === 'account') return accountText(unread.account);
  if (unread.of === 'builds') return `the available builds: ${describeFailure(unread.why)}`;
  return `the fleet, for late joiners: ${isImplausible(unread.why) ? implausibleText(unread.why) : describeFailure(unread.why)}`;
}

function isImplausible(why: ServiceFailure | Implausible): why is Implausible {
  return why.kind === 'empty' || why.kind === 'manyGone' || why.kind === 'short';
}
