import type { DurationMs, EpochMs } from '../../base/time.ts';
import { type UpgradeFailureClass, type UpgradeState, upgradeStates } from '../../base/vocabulary.ts';
import type { UpgradeReason } from './upgrade-reason.ts';

export { type UpgradeState, upgradeStates };

/**
 * One collector's passage through a rollout.
 *
 *   pending ──► queued ──► starting ──► upgrading ──► verifying ──► succeeded
 *
 * Every transition with its causes:
 *
 *   pending     → queued      its turn            → withdrawn
 *   queued      → starting    its create leaves   → verifying    has the build
 *               → upgrading   the answer came late, or found running
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
 * in `starting`, keeps its slot, and is settled by polls (P1). Where only a list settled it, `queued` keeps the slot, too. The rules of each state are in `rollout/upgrade/`.
 */
export interface Upgrade<Progress extends UpgradeProgress = UpgradeProgress> {
  readonly identity: UpgradeIdentity;
  readonly tally: UpgradeTally;
  readonly progress: Progress;
  /** Number of saved changes. A save names the `rev` it is based on, and a stale save is refused. */
  readonly rev: number;
}

/** An upgrade in one of these states. */
export type UpgradeIn<State extends UpgradeState> = Upgrade<ProgressIn<State>>;
export type ProgressIn<State extends UpgradeState> = Extract<UpgradeProgress, { readonly state: State }>;

/** Fixed by the plan: the collector, its target build, and its position. */
export interface UpgradeIdentity {
  readonly rolloutId: string;
  readonly collectorId: number;
  readonly collectorName: string;
  /** Index of its wave in the plan. */
  readonly wave: number;
  /** Its position among all planned collectors. */
  readonly order: number;
  readonly fromBuild: string;
  /** The rollout's target; in a rollback, the collector's previous build. */
  readonly toBuild: string;
  /** Indexes into the plan's groups. */
  readonly lane: number;
  readonly stratum: number;
  readonly domains: readonly number[];
  /** When the plan's reading showed it eligible; 0 without a recent heartbeat or entry on the upgradable list. */
  readonly eligibleAt: EpochMs;
  /** The service's clock when the plan's reading listed it as upgradable; absent if unknown. */
  readonly offeredAt?: EpochMs;
  /** The service deletes it after 12 h without a heartbeat (collector-api.md §3). */
  readonly ephemeral?: true;
}

/** Counters over the whole life of an upgrade. */
export interface UpgradeTally {
  /** Tasks created so far. */
  readonly attempts: number;
  /** Creates without an answer. */
  readonly createsInDoubt: number;
  /**
   * Until when the task of such a create may be running although a list says that it never arrived: some services list
   * collectors in upgrade, too. Only in `queued` and `starting`.
   */
  readonly inDoubtUntil?: EpochMs;
  /** Failures without an explanation: the second one is permanent. */
  readonly unexplained: number;
  /** Consecutive failed polls. The interval of polls grows with them. */
  readonly failedPolls: number;
  /** Since when, after the deadline, polls of this upgrade fail while other requests succeed. */
  readonly unansweredSince?: EpochMs;
  /** Total time it has been deferred since it was last upgrading. */
  readonly deferredMs?: DurationMs;
  /** How often the rollout's limits had changed when it was admitted; absent if never. */
  readonly turnChanges?: number;
  /** How much of the rollout's pace its create uses up, by that admission; absent without a pace. */
  readonly turnPaceMs?: DurationMs;
  /** How often it has been put back since a create of it last left; absent if never. */
  readonly putBacks?: number;
  /** When the first task was created, for the duration. */
  readonly firstStartedAt: EpochMs | null;
  /** The latest attempts, oldest first; absent before the first. */
  readonly tasks?: readonly Attempt[];
}

/** One attempt: an upgrade task, or a create that the service refused permanently. */
export interface Attempt {
  /** null if the create was refused, or the task was adopted. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** Absent in the last attempt while the upgrade's own state is its result. */
  readonly ended?: {
    readonly at: EpochMs;
    readonly state: UpgradeState;
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
      /** When the wait would have started if all waits since it was last upgrading were consecutive. */
      readonly since: EpochMs;
      readonly dueAt: EpochMs;
      readonly reason: UpgradeReason;
    }
  | { [State in EndState]: EndedProgress<State> }[EndState];

export interface QueuedProgress {
  readonly state: 'queued';
  readonly dueAt: EpochMs;
  /** When it was last seen eligible; 0 if it has to be polled before its create. */
  readonly freshAt: EpochMs;
  /**
   * The service's clock when the collector was in no upgrade. Another upgrade may have ended just before, and the collector
   * may be restarting into a build that it does not show yet. A create needs a heartbeat newer than this (P1). Absent once
   * there was one.
   */
  readonly heartbeatAfter?: EpochMs;
  /** Its poll was left to the next list, which may show nothing: this happens once before each poll. */
  readonly awaitsList?: true;
  /** The last instant at which its create may be sent to end before the window closes (P7). */
  readonly startBy: EpochMs | null;
  /** Consecutive polls with a late heartbeat, each newer than the one before; absent if the last was not late. */
  readonly late?: { readonly polls: number; readonly heartbeatAt: EpochMs };
  /** The service refused its create for a reason that has to be checked by observation first. */
  readonly refused?: RefusedCreate;
}

export interface EndedProgress<State extends EndState> {
  readonly state: State;
  readonly endedAt: EpochMs;
  readonly reason: UpgradeReason;
  /** As how many failures it counts (DESIGN §4, Failures). */
  readonly weight: number;
  /** The collector did not come back, or went down during the soak. */
  readonly lost: boolean;
  /** For a failure: its class, by which `retry` can select. */
  readonly failureClass?: UpgradeFailureClass;
  /** For a withdrawn upgrade: someone else upgraded the collector, and it was alive. It soaks with its wave (P14). */
  readonly onBuild?: true;
}

/** A refused create that a person's action may explain. The collector is polled before the refusal is judged. */
export interface RefusedCreate {
  /** `collector`: the service does not know the collector. `version`: it refuses the build for this collector. */
  readonly of: 'collector' | 'version';
  /** The service's message. */
  readonly detail: string;
  /** The collector was polled since, and runs another build. The offered builds are read next. */
  readonly isObserved?: true;
}

/** The states in which an upgrade is polled when it is due. */
export type PolledState = 'queued' | 'starting' | 'upgrading' | 'verifying' | 'deferred';

export interface UpgradingProgress {
  readonly state: 'upgrading';
  /** null for an adopted task: a create in doubt was found running, and its task id is unknown. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** When it was last seen running. */
  readonly polledAt: EpochMs;
  /** When a list last showed it unchanged; of an adopted one, when a list of upgradable collectors last left it out. */
  readonly unchangedAt?: EpochMs;
  readonly deadlineAt: EpochMs;
  readonly dueAt: EpochMs;
  /** Set if the task ended without success and the collector still has to be polled. */
  readonly ending: TaskEnding | null;
}

/** How a task ended without success. */
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
  /** The service's clock when the end was seen. A heartbeat newer than this shows that the collector has returned. */
  readonly endedServiceAt: EpochMs | null;
  /** The heartbeat at the first poll after the end. A newer heartbeat also shows that the collector has returned. */
  readonly baselineHeartbeatAt: EpochMs | null;
  /** Its poll was left to the next list, which may not have this collector: this happens once until a list shows it. */
  readonly awaitsList?: true;
  /** The task did not report success, but the collector showed the build. */
  readonly late: boolean;
}

type Trait =
  /** A task of ours may be running at the service (P2). */
  | 'slot'
  /** Waits for admission or a condition, without a slot. Every state is `waiting`, `running` or an `end`. */
  | 'waiting'
  /** Admitted, and has not ended. */
  | 'running'
  /** The collector has the build or may get it, so a rollback includes it. */
  | 'build'
  /** No create can be under way, so it can still be withdrawn. */
  | 'notStarted'
  /** Left only by an operator's request (`retry`, `release`, `rollback`), or when the collector fails during the soak. */
  | 'end'
  /** An end that counts as a failure (DESIGN §4, Failures). */
  | 'failed';

/** The traits of every state. */
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
  // Its task may still end.
  timedOut: ['end', 'failed', 'build'],
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
/** True from the create on until the upgrade ends. */
export const isUnderWay = (state: UpgradeState): boolean => isRunning(state) && !isNotStarted(state);
export const isEnd = (state: UpgradeState): state is EndState => has(state, 'end');
export const isFailed = (state: UpgradeState): state is FailedState => has(state, 'failed');

export const notStartedStates = upgradeStates.filter(isNotStarted);
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

/**
 * Whether a task of an earlier create without an answer may be running, although a list says that the create never arrived.
 * Then the slot is kept, whatever prevents another create (P2).
 */
export function mayRunUnseen({ tally: { inDoubtUntil = 0 } }: Upgrade, at: EpochMs): boolean {
  return at < inDoubtUntil;
}

/** How the last attempt of an upgrade had ended that was rolled back or withdrawn later; undefined: there was none. */
export function formerEndOf({ progress: { state }, tally }: Upgrade): Attempt['ended'] {
  return state === 'rolledBack' || state === 'withdrawn' ? tally.tasks?.at(-1)?.ended : undefined;
}

/** When the upgrade's next step is due; undefined if it waits for admission or has ended. */
export function dueAtOf(upgrade: Upgrade): EpochMs | undefined {
  return 'dueAt' in upgrade.progress ? upgrade.progress.dueAt : undefined;
}

/** Why the upgrade is in its state; undefined without a particular reason. */
export function reasonOf({ progress }: Upgrade): UpgradeReason | undefined {
  return 'reason' in progress ? progress.reason : undefined;
}

/** As how many failures the upgrade counts in its wave (DESIGN §4, Failures); 0 unless it failed. */
export function weightOf(upgrade: Upgrade): number {
  return 'weight' in upgrade.progress ? upgrade.progress.weight : 0;
}

/** True if the collector was lost. */
export function isLost(upgrade: Upgrade): boolean {
  return 'lost' in upgrade.progress && upgrade.progress.lost;
}

/** True if someone else upgraded the collector: it is evidence for the build, but no success of the rollout. */
export function isOnBuild({ progress }: Upgrade): boolean {
  return progress.state === 'withdrawn' && progress.onBuild === true;
}
