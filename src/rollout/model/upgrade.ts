import type { DurationMs, EpochMs } from '../../base/time.ts';
import { type UpgradeFailureClass, type UpgradeState, upgradeStates } from '../../base/vocabulary.ts';
import type { UpgradeReason } from './upgrade-reason.ts';

export { type UpgradeState, upgradeStates };

/**
 * One collector's passage through a rollout.
 *
 *   pending ──► queued ──► starting ──► upgrading ──► verifying ──► succeeded
 *
 * Every arrow, and why:
 *
 *   pending     → queued      its turn            → withdrawn
 *   queued      → starting    its create leaves   → upgrading    the answer came late    → verifying  has the build
 *               → pending, retrying  put back     → deferred     not alive, or someone else upgrades it
 *               → failed      a refused create    → withdrawn
 *   starting    → upgrading   created, or found running          → verifying  has the build
 *               → queued      not sent, refused, or never arrived
 *               → pending, retrying  the service refuses all     → retrying, failed  the service refuses this one
 *               → deferred    not alive, or someone else upgrades it
 *               → timedOut, unconfirmed  cannot be polled, or is abandoned               → withdrawn  is gone
 *   upgrading   → verifying   the task ended, or the build is there
 *               → retrying, failed, timedOut  the task failed, or never ended
 *               → unconfirmed abandoned           → withdrawn    is gone
 *   verifying   → succeeded   back on the build   → unconfirmed  not back, or abandoned  → withdrawn  is gone
 *   retrying    → queued      its turn            → withdrawn
 *   deferred    → retrying    may start again     → verifying    has the build           → withdrawn
 *   succeeded   → unconfirmed died, or left the build            → withdrawn  left the fleet  → rolledBack
 *   failed, timedOut, unconfirmed  → retrying  an operator asked → rolledBack
 *   withdrawn   → pending     rejoined
 *
 * `queued`, `starting` and `upgrading` hold a slot: the service may be running a task of ours (P2). A create in doubt stays
 * in `starting`, keeps its slot, and is settled by polls (P1). The rules of each state are in `rollout/upgrade/`.
 */
export interface Upgrade<Progress extends UpgradeProgress = UpgradeProgress> {
  readonly identity: UpgradeIdentity;
  readonly tally: UpgradeTally;
  readonly progress: Progress;
  /** Counts saved changes; a save names the one it was made from, so a stale one is refused. */
  readonly rev: number;
}

/** An upgrade in one of these states. */
export type UpgradeIn<State extends UpgradeState> = Upgrade<ProgressIn<State>>;
export type ProgressIn<State extends UpgradeState> = Extract<UpgradeProgress, { readonly state: State }>;

/** What the plan froze: which collector, to which build, and its place in the plan. */
export interface UpgradeIdentity {
  readonly rolloutId: string;
  readonly collectorId: number;
  readonly collectorName: string;
  /** Index of its wave in the plan. */
  readonly wave: number;
  /** Its place among all planned collectors. */
  readonly order: number;
  readonly fromBuild: string;
  /** The rollout's target; in a rollback, the build this one had before. */
  readonly toBuild: string;
  /** Indexes into the plan's groups. */
  readonly lane: number;
  readonly stratum: number;
  readonly domains: readonly number[];
  /** When the plan's reading showed it eligible; 0 when it had not been heard from, or was not on the list. */
  readonly eligibleAt: EpochMs;
  /** The service's clock when the plan's reading showed that it would start this upgrade; absent when unknown. */
  readonly offeredAt?: EpochMs;
  /** It comes and goes by itself: the service deletes it after 12 h without a heartbeat (collector-api.md §3). Absent: it does not. */
  readonly ephemeral?: true;
}

/** What is counted over an upgrade's whole life. */
export interface UpgradeTally {
  /** Tasks created so far. */
  readonly attempts: number;
  /** Creates whose answer never came. */
  readonly createsInDoubt: number;
  /** Failures without an explanation: the second one is permanent. */
  readonly unexplained: number;
  /** Failed polls in a row; the wait before the next one grows with them. */
  readonly failedPolls: number;
  /** Since when the service answers others and not about this one, after its time was up; absent while it does. */
  readonly unansweredSince?: EpochMs;
  /** How long it has been deferred in all since it was last upgrading; absent while it was not. */
  readonly deferredMs?: DurationMs;
  /** How often the rollout's brakes had changed when it was given its turn; absent: never. */
  readonly turnChanges?: number;
  /** When the first task was created, for the duration. */
  readonly firstStartedAt: EpochMs | null;
  /** The latest attempts, oldest first; absent before the first. */
  readonly tasks?: readonly Attempt[];
}

/** One attempt: an upgrade task, or a create that the service refused for good. */
export interface Attempt {
  /** null: refused before there was a task, or adopted. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** Absent in the last one while the record's own state is its outcome. */
  readonly ended?: {
    readonly at: EpochMs;
    readonly state: UpgradeState;
    /** Absent where there is nothing to say. */
    readonly reason?: UpgradeReason;
  };
}

export type UpgradeProgress =
  | { readonly state: 'pending'; readonly reason?: UpgradeReason }
  | QueuedProgress
  | {
      readonly state: 'starting';
      readonly sentAt: EpochMs;
      readonly dueAt: EpochMs;
      readonly startBy: EpochMs | null;
    }
  | UpgradingProgress
  | VerifyingProgress
  | { readonly state: 'retrying'; readonly dueAt: EpochMs; readonly reason: UpgradeReason }
  | {
      readonly state: 'deferred';
      readonly condition: 'notAlive' | 'inUpgrade';
      /** As if all its waits since it was last upgrading were one. */
      readonly since: EpochMs;
      readonly dueAt: EpochMs;
      readonly reason: UpgradeReason;
    }
  | { [State in EndState]: EndedProgress<State> }[EndState];

export interface QueuedProgress {
  readonly state: 'queued';
  readonly dueAt: EpochMs;
  /** When it was last seen eligible; 0: it has to be polled before its create. */
  readonly freshAt: EpochMs;
  /**
   * The service's clock at an instant at which it was in no upgrade. One that had just ended would have it restart by
   * now, into a build that it does not show yet: only a heartbeat newer than this clears the way for a create (P1).
   * Absent once there was one.
   */
  readonly heartbeatAfter?: EpochMs;
  /** The last instant at which its create may leave, so that it is expected to end before the window closes (P7). */
  readonly startBy: EpochMs | null;
  /** Polls in a row that showed a late heartbeat, each a newer one; absent when the last was not late. */
  readonly late?: { readonly polls: number; readonly heartbeatAt: EpochMs };
  /** The service refused its create, for a reason that observation has to settle before anything else; absent otherwise. */
  readonly refused?: RefusedCreate;
}

export interface EndedProgress<State extends EndState> {
  readonly state: State;
  readonly endedAt: EpochMs;
  readonly reason: UpgradeReason;
  /** The failures it counts as (DESIGN §4, Failures). */
  readonly weight: number;
  /** The collector did not come back, or died while its wave soaked. */
  readonly lost: boolean;
  /** For a failure: what kind, so that `retry` can choose. */
  readonly failureClass?: UpgradeFailureClass;
  /** For a withdrawn one: someone else had upgraded it, and it was alive on the build. It soaks with its wave (P14). */
  readonly onBuild?: true;
}

/** A refused create whose reason a person's action may explain: the collector is observed before it is judged. */
export interface RefusedCreate {
  /** `collector`: the service knows no such collector. `version`: it does not take the build for this collector. */
  readonly of: 'collector' | 'version';
  /** What the service said. */
  readonly detail: string;
  /** The collector was observed since, and runs another build: the builds on offer are asked for. */
  readonly isObserved?: true;
}

/** The states in which an upgrade is polled when it is due. */
export type PolledState = 'queued' | 'starting' | 'upgrading' | 'verifying' | 'deferred';

export interface UpgradingProgress {
  readonly state: 'upgrading';
  /** null: adopted. A create in doubt was found running, its task id is not known, so the build is watched. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** When it was last seen running; its end came after that. */
  readonly polledAt: EpochMs;
  /** When the inventory last showed it unchanged, so that its poll could wait. */
  readonly unchangedAt?: EpochMs;
  readonly deadlineAt: EpochMs;
  readonly dueAt: EpochMs;
  /** Set when the task is over without success and the collector itself has still to be polled. */
  readonly ending: TaskEnding | null;
}

/** How a task stopped without having succeeded. */
export type TaskEnding =
  | { readonly kind: 'failed'; readonly message: string; readonly seenDelayMs: DurationMs }
  | { readonly kind: 'missing' }
  | { readonly kind: 'deadline' };

export interface VerifyingProgress {
  readonly state: 'verifying';
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  readonly verifyBy: EpochMs;
  readonly dueAt: EpochMs;
  /** The service's own clock when the end was seen; a heartbeat newer than this proves the collector back. */
  readonly endedServiceAt: EpochMs | null;
  /** The heartbeat shown at the first poll after the end; any newer one proves it too. */
  readonly baselineHeartbeatAt: EpochMs | null;
  /** The task did not say `succeeded`: the build was found on the collector. */
  readonly late: boolean;
}

type Trait =
  /** A task of ours may be running at the service (P2). */
  | 'slot'
  /** It waits for its turn or for a condition, without a slot. Every state is `waiting`, `running` or an `end`. */
  | 'waiting'
  /** It has been given its turn, and has not ended. */
  | 'running'
  /** The collector has the build, or may get it: what a rollback would take back. */
  | 'build'
  /** No create of it can be under way: it may still be taken out of the rollout. */
  | 'notStarted'
  /** Left only by an operator's request (`retry`, `release`, `rollback`), or when its collector goes bad in the soak. */
  | 'end'
  /** An end that counts as a failure (DESIGN §4, Failures). */
  | 'failed';

/** Every state, with all that is true in it. */
const traits = {
  pending: ['waiting', 'notStarted'],
  queued: ['running', 'slot', 'build', 'notStarted'],
  starting: ['running', 'slot', 'build'],
  upgrading: ['running', 'slot', 'build'],
  verifying: ['running', 'build'],
  retrying: ['waiting', 'notStarted'],
  deferred: ['waiting', 'notStarted'],
  succeeded: ['end', 'build'],
  failed: ['end', 'failed'],
  timedOut: ['end', 'failed'],
  unconfirmed: ['end', 'failed', 'build'],
  withdrawn: ['end'],
  rolledBack: ['end'],
} as const satisfies Readonly<Record<UpgradeState, readonly Trait[]>>;

type StateWith<Wanted extends Trait> = {
  [State in UpgradeState]: Wanted extends (typeof traits)[State][number] ? State : never;
}[UpgradeState];
export type EndState = StateWith<'end'>;
export type FailedState = StateWith<'failed'>;

function has(state: UpgradeState, trait: Trait): boolean {
  return (traits[state] as readonly Trait[]).includes(trait);
}

export const holdsSlot = (state: UpgradeState): boolean => has(state, 'slot');
export const isWaiting = (state: UpgradeState): boolean => has(state, 'waiting');
export const isRunning = (state: UpgradeState): boolean => has(state, 'running');
export const mayHaveBuild = (state: UpgradeState): boolean => has(state, 'build');
export const isNotStarted = (state: UpgradeState): boolean => has(state, 'notStarted');
/** True from its create on, for as long as the collector may be changing. */
export const isUnderWay = (state: UpgradeState): boolean => isRunning(state) && !isNotStarted(state);
export const isEnd = (state: UpgradeState): state is EndState => has(state, 'end');
export const isFailed = (state: UpgradeState): state is FailedState => has(state, 'failed');

export const waitingStates = upgradeStates.filter(isWaiting);
export const runningStates = upgradeStates.filter(isRunning);
export const endStates = upgradeStates.filter(isEnd);
export const failedStates = upgradeStates.filter(isFailed);

/** Narrows an upgrade to some of its states. */
export function isIn<State extends UpgradeState>(
  upgrade: Upgrade,
  ...states: readonly State[]
): upgrade is UpgradeIn<State> {
  return (states as readonly UpgradeState[]).includes(upgrade.progress.state);
}

/** When this upgrade wants attention next; undefined when it waits for its turn or has ended. */
export function dueAtOf(upgrade: Upgrade): EpochMs | undefined {
  return 'dueAt' in upgrade.progress ? upgrade.progress.dueAt : undefined;
}

/** Why it is in its state; undefined where there is nothing to say. */
export function reasonOf({ progress }: Upgrade): UpgradeReason | undefined {
  return 'reason' in progress ? progress.reason : undefined;
}

/** The failures this upgrade counts as in its wave (DESIGN §4, Failures): 0 unless it failed. */
export function weightOf(upgrade: Upgrade): number {
  return 'weight' in upgrade.progress ? upgrade.progress.weight : 0;
}

/** True when the collector did not come back from its upgrade. */
export function isLost(upgrade: Upgrade): boolean {
  return 'lost' in upgrade.progress && upgrade.progress.lost;
}

/** True when someone else upgraded the collector: it shows how the build does, and is no success of the rollout. */
export function isOnBuild({ progress }: Upgrade): boolean {
  return progress.state === 'withdrawn' && progress.onBuild === true;
}
