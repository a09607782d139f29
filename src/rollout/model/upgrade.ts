import type { DurationMs, EpochMs } from '../../base/time.ts';

/**
 * One collector's passage through a rollout. The drawing of its states:
 *
 *   pending ──► queued ──► starting ──► upgrading ──► verifying ──► succeeded
 *      ▲          │▲          │             │             └───────► unconfirmed
 *      └──────────┘│          │             ├─► failed, timedOut
 *        put back  │          ▼             ▼
 *                  └────── retrying ◄───────┤      (waits for an instant)
 *                             ▲             ▼
 *                             └───────── deferred  (waits for a condition) ─► withdrawn
 *
 * `queued`, `starting` and `upgrading` hold a slot: the service may be running a task of ours (P2). A create whose
 * answer is missing stays in `starting`, keeps its slot, and is settled by looking (P1).
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
  /** When the plan's reading showed it eligible; 0 when it had not been heard from, or the list was not read. */
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
  readonly ended?: { readonly at: EpochMs; readonly state: UpgradeState; readonly reason: string };
}

export type UpgradeProgress =
  | { readonly state: 'pending'; readonly reason?: string }
  | {
      readonly state: 'queued';
      readonly dueAt: EpochMs;
      readonly freshAt: EpochMs;
      /**
       * The service's clock at an instant at which it was in no upgrade. One that had just ended would have it restart by
       * now, into a build that it does not show yet: only a heartbeat newer than this clears the way for a create (P1).
       * Absent once there was one.
       */
      readonly heartbeatAfter?: EpochMs;
      /** The last instant at which its create may leave, so that it is expected to end before the window closes (P7). */
      readonly startBy: EpochMs | null;
      /** Looks in a row that showed a late heartbeat, each a newer one; absent when the last was not late. */
      readonly late?: { readonly looks: number; readonly heartbeatAt: EpochMs };
      /** The service refused its create, for a reason that observation has to settle before anything else; absent else. */
      readonly refused?: Refusal;
    }
  | {
      readonly state: 'starting';
      readonly sentAt: EpochMs;
      readonly dueAt: EpochMs;
      readonly startBy: EpochMs | null;
    }
  | UpgradingProgress
  | VerifyingProgress
  | { readonly state: 'retrying'; readonly dueAt: EpochMs; readonly reason: string }
  | {
      readonly state: 'deferred';
      readonly condition: 'notAlive' | 'inUpgrade';
      /** As if all its waits since it was last upgrading were one. */
      readonly since: EpochMs;
      readonly dueAt: EpochMs;
      readonly reason: string;
    }
  | {
      readonly state: EndState;
      readonly endedAt: EpochMs;
      readonly reason: string;
      /** The failures it counts as (DESIGN §4, Failures). */
      readonly weight: number;
      /** The collector did not come back, or died while its wave soaked. */
      readonly lost: boolean;
      /** For a failure: what kind, so that `retry` can choose. */
      readonly failureClass?: UpgradeFailureClass;
      /** For a withdrawn one: someone else had upgraded it, and it was alive on the build. It soaks with its wave (P14). */
      readonly onBuild?: true;
    };

/** A refused create whose reason a person's action may explain: the collector is observed before it is judged. */
export interface Refusal {
  /** `collector`: the service knows no such collector. `version`: it does not take the build for this collector. */
  readonly of: 'collector' | 'version';
  /** What the service said. */
  readonly reason: string;
  /** The collector was observed since, and runs another build: the builds on offer are asked for. */
  readonly isObserved?: true;
}

export const upgradeFailureClasses = ['permanent', 'retry', 'timedOut', 'unconfirmed'] as const;
/** `permanent`: waiting would not have helped; `retry`: its attempts were spent. */
export type UpgradeFailureClass = (typeof upgradeFailureClasses)[number];

export interface UpgradingProgress {
  readonly state: 'upgrading';
  /** null: adopted. A create in doubt was found running, its task id is not known, so the build is watched. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** When it was last seen on its way; its end came after that. */
  readonly polledAt: EpochMs;
  /** When the inventory last showed nothing new of it, so that its look could wait. */
  readonly quietAt?: EpochMs;
  readonly deadlineAt: EpochMs;
  readonly dueAt: EpochMs;
  /** Set when the task is over without success and the collector itself has still to be looked at. */
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
  /** The heartbeat shown at the first look after the end; any newer one proves it too. */
  readonly baselineHeartbeatAt: EpochMs | null;
  /** The task did not say `succeeded`: the build was found on the collector. */
  readonly late: boolean;
}

export const endStates = [
  'succeeded',
  'failed',
  'timedOut',
  'unconfirmed',
  'withdrawn',
  'rolledBack',
] as const;
export type EndState = (typeof endStates)[number];

export const upgradeStates = [
  'pending',
  'queued',
  'starting',
  'upgrading',
  'verifying',
  'retrying',
  'deferred',
  ...endStates,
] as const;
export type UpgradeState = (typeof upgradeStates)[number];

/** True in the states in which a task of ours may be running at the service (P2). */
export function holdsSlot(state: UpgradeState): boolean {
  return state === 'queued' || state === 'starting' || state === 'upgrading';
}

/**
 * True for the states that an upgrade leaves only by an operator's word (`retry`, `release`, `rollback`), or when its
 * collector goes bad while its wave soaks.
 */
export function isEnd(state: UpgradeState): state is EndState {
  return (endStates as readonly UpgradeState[]).includes(state);
}

/** True while an upgrade is on its way: neither waiting for its turn, nor deferred, nor ended. */
export function isActive(state: UpgradeState): boolean {
  return !isEnd(state) && state !== 'pending' && state !== 'deferred';
}

/** Narrows an upgrade to some of its states; not for ends, which share their data. */
export function isIn<State extends Exclude<UpgradeState, EndState>>(
  upgrade: Upgrade,
  ...states: readonly State[]
): upgrade is UpgradeIn<State> {
  return (states as readonly UpgradeState[]).includes(upgrade.progress.state);
}

/** When this upgrade wants attention next; undefined when it waits for its turn or has ended. */
export function dueAtOf(upgrade: Upgrade): EpochMs | undefined {
  return 'dueAt' in upgrade.progress ? upgrade.progress.dueAt : undefined;
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

/** The ends that count as failures (DESIGN §4, Failures). */
export const failedStates = ['failed', 'timedOut', 'unconfirmed'] as const satisfies readonly EndState[];

export function isFailed(state: UpgradeState): state is (typeof failedStates)[number] {
  return (failedStates as readonly UpgradeState[]).includes(state);
}

/** True in the states in which the collector has the build, or may get it: what a rollback would take back. */
export function mayHaveBuild(state: UpgradeState): boolean {
  if (state === 'succeeded' || state === 'unconfirmed') return true;
  return isActive(state) && state !== 'retrying';
}

/** True while no create of it can be on its way: it may still be taken out of the rollout. */
export function isNotStarted(state: UpgradeState): boolean {
  return state === 'pending' || state === 'retrying' || state === 'deferred' || state === 'queued';
}

/** The name of a state for a person: `finishedWithFailures` becomes `finished with failures`. */
export function stateWords(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
