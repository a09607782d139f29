import type { HeadlineKind } from '../../base/vocabulary.ts';
import type { Headline, RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { isRolloutEnd, type RolloutState } from '../model/rollout.ts';

/** The parts of the status that decide the headline. */
export interface HeadlineFacts
  extends ApprovalFacts,
    Pick<RolloutStatus, 'kind' | 'account' | 'recordUnreadable' | 'api' | 'waitsFor'> {
  /** Whether the config lacks its policy. */
  readonly isPolicyMissing: boolean;
  /** State of this rollout's rollback; null if there is none. */
  readonly rollbackState: RolloutState | null;
}

interface ApprovalFacts extends Pick<RolloutStatus, 'state' | 'endedAt'> {
  readonly waves: ReadonlyArray<Pick<WaveStatus, 'state' | 'waits'>>;
}

/** The only place that decides the headline. Badge, title, exit code and metric use it. */
export function headlineOf(facts: HeadlineFacts): Headline {
  const kind = kindOf(facts);
  // A held rollback also stops the rollout that is being rolled back.
  const isRollbackWaiting = facts.state === 'rollingBack' && awaitsPerson(facts.rollbackState);
  return { kind, needsPerson: facts.endedAt === null && (isHeadline(kind, 'person') || isRollbackWaiting) };
}

/**
 * `person`: a person must act. `failed`: the rollout ended, or is ending, without reaching its goal. `alarm`: worth a
 * notification although no action is needed. `well`: everything is normal.
 */
type HeadlineTrait = 'person' | 'failed' | 'alarm' | 'well';

const traits: Readonly<Record<HeadlineKind, readonly HeadlineTrait[]>> = {
  newerVersion: ['person'],
  otherAccount: ['person'],
  policyMissing: ['person'],
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

/** Evaluated in order: required actions come first, then what the rollout waits for, then its state. */
function kindOf(facts: HeadlineFacts): HeadlineKind {
  const { state, account } = facts;
  if (facts.endedAt === null && facts.recordUnreadable === 'newer') return 'newerVersion';
  if (!isRolloutEnd(state) && (account === 'another' || account === 'unclear')) return 'otherAccount';
  if (!isRolloutEnd(state) && facts.isPolicyMissing) return 'policyMissing';
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

function awaitsPerson(state: RolloutState | null): boolean {
  return state === 'held' || state === 'paused' || state === 'awaitingApproval';
}

/**
 * True while the rollout or one of its waves waits for `approve`. An approved wave keeps its state until the next pass
 * opens it, and waves of an ended rollout never open; neither counts.
 */
export function awaitsApproval({ state, waves, endedAt }: ApprovalFacts): boolean {
  if (state === 'awaitingApproval') return true;
  if (endedAt !== null || isRolloutEnd(state) || state === 'rollingBack') return false;
  return waves.some((wave) => wave.state === 'awaitingApproval' && wave.waits !== null);
}
