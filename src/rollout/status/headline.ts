import type { HeadlineKind } from '../../base/vocabulary.ts';
import type { AccountStatus } from '../model/account.ts';
import {
  isRolloutEnd,
  type Rollout,
  type RolloutState,
  type UnreadableRecord,
  type WaveState,
} from '../model/rollout.ts';
import type { ApiBudgetStatus } from './api-budget-status.ts';
import type { WaitsFor } from './eta.ts';

/** What a person reads first of a rollout: what has to be done, rather than the state of its record (P16). */
export interface Headline {
  readonly kind: HeadlineKind;
  /** It does not go on until a person acts. */
  readonly needsPerson: boolean;
}

/** What a headline is made of: parts of the status. */
export interface HeadlineFacts extends ApprovalFacts {
  readonly kind: 'upgrade' | 'rollback';
  /** Whether it belongs to the account of the daemon that was asked: only `own` is worked on. */
  readonly account: AccountStatus['kind'];
  /** Why its own record is unreadable: what is shown is what is known beside it; null while it is readable. */
  readonly recordUnreadable: UnreadableRecord['kind'] | null;
  /** The budget that all rollouts share; null for one that has ended. */
  readonly api: ApiBudgetStatus | null;
  /** What a running rollout waits for while nothing of it is in flight; null else. */
  readonly waitsFor: WaitsFor | null;
  /** Of the rollback of this rollout; null where there is none. */
  readonly rollbackState: RolloutState | null;
}

interface ApprovalFacts extends Pick<Rollout, 'state' | 'endedAt'> {
  readonly waves: ReadonlyArray<{ readonly state: WaveState; readonly waits: string | null }>;
}

/** The one place that decides it: badge, title, exit code and metric all take it from here. */
export function headlineOf(facts: HeadlineFacts): Headline {
  const kind = kindOf(facts);
  // A rollback that is held keeps the rollout that it takes back waiting, too.
  const isRollbackStopped = facts.state === 'rollingBack' && isStopped(facts.rollbackState);
  return { kind, needsPerson: facts.endedAt === null && (isHeadline(kind, 'person') || isRollbackStopped) };
}

/**
 * `person`: a person must act. `failed`: it has ended, or is ending, and did not come to what was asked for. `alarm`: somebody
 * should hear, although nobody has to act. `well`: all is as it should be.
 */
type HeadlineTrait = 'person' | 'failed' | 'alarm' | 'well';

const traits: Readonly<Record<HeadlineKind, readonly HeadlineTrait[]>> = {
  newerVersion: ['person'],
  otherAccount: ['person'],
  held: ['person'],
  paused: ['person'],
  needsApproval: ['person'],
  rollingBack: [],
  waitsForService: ['alarm'],
  waitsForInventory: ['alarm'],
  waitsForWindow: [],
  waitsForCollectors: [],
  running: ['well'],
  succeeded: ['well'],
  finishedWithFailures: ['failed', 'alarm'],
  aborted: ['failed', 'alarm'],
  rolledBack: ['failed'],
  superseded: ['failed'],
};

export function isHeadline(kind: HeadlineKind, trait: HeadlineTrait): boolean {
  return traits[kind].includes(trait);
}

/** Evaluated in order: who has to act comes first, then what the rollout waits for, then what it does. */
function kindOf(facts: HeadlineFacts): HeadlineKind {
  const { state, account } = facts;
  if (facts.endedAt === null && facts.recordUnreadable === 'newer') return 'newerVersion';
  if (!isRolloutEnd(state) && (account === 'another' || account === 'unclear')) return 'otherAccount';
  switch (state) {
    case 'awaitingApproval':
      return 'needsApproval';
    case 'running':
      return runningKindOf(facts);
    default:
      return state;
  }
}

function runningKindOf(facts: HeadlineFacts): HeadlineKind {
  if (awaitsApproval(facts)) return 'needsApproval';
  if (facts.api?.outage?.kind === 'serviceDown') return 'waitsForService';
  switch (facts.waitsFor?.kind) {
    case 'inventory':
      return 'waitsForInventory';
    case 'window':
      return 'waitsForWindow';
    case 'collectors':
      return 'waitsForCollectors';
    default:
      return facts.kind === 'rollback' ? 'rollingBack' : 'running';
  }
}

function isStopped(state: RolloutState | null): boolean {
  return state === 'held' || state === 'paused' || state === 'awaitingApproval';
}

/**
 * True while the rollout, or a wave of it, waits for an operator's `approve`. A wave that has its approval waits for
 * nothing any more, and opens with the next pass; one of a rollout that was stopped for good never opens.
 */
export function awaitsApproval({ state, waves, endedAt }: ApprovalFacts): boolean {
  if (state === 'awaitingApproval') return true;
  if (endedAt !== null || isRolloutEnd(state) || state === 'rollingBack') return false;
  return waves.some((wave) => wave.state === 'awaitingApproval' && wave.waits !== null);
}
