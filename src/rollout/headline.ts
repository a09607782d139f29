import { awaitsApproval } from './awaits-approval.ts';
import { isRolloutEnd, type RolloutState } from './rollout.ts';
import type { RolloutStatus } from './status.ts';

export const headlineKinds = [
  'otherAccount',
  'held',
  'paused',
  'needsApproval',
  'rollingBack',
  'waitsForService',
  'waitsForInventory',
  'waitsForWindow',
  'waitsForCollectors',
  'running',
  'planned',
  'succeeded',
  'finishedWithFailures',
  'aborted',
  'rolledBack',
  'superseded',
] as const;
export type HeadlineKind = (typeof headlineKinds)[number];

/** What a person reads first of a rollout: what has to be done, rather than the state of its record (P16). */
export interface Headline {
  readonly kind: HeadlineKind;
  /** It does not go on until a person acts. */
  readonly needsPerson: boolean;
}

/** What a headline is made of. */
export type HeadlineFacts = Pick<
  RolloutStatus,
  'kind' | 'state' | 'endedAt' | 'account' | 'waves' | 'api' | 'waitsFor'
> & {
  /** Of the rollback of this rollout; null where there is none. */
  readonly rollbackState: RolloutState | null;
};

/** The one place that decides it: badge, title, exit code and metric all take it from here. */
export function headlineOf(facts: HeadlineFacts): Headline {
  const kind = kindOf(facts);
  // A rollback that is held keeps the rollout that it takes back waiting, too.
  const isRollbackStopped = facts.state === 'rollingBack' && isStopped(facts.rollbackState);
  return { kind, needsPerson: facts.endedAt === null && (forPerson.has(kind) || isRollbackStopped) };
}

const forPerson: ReadonlySet<HeadlineKind> = new Set(['otherAccount', 'held', 'paused', 'needsApproval']);

/** Evaluated in order: who has to act comes first, then what the rollout waits for, then what it does. */
function kindOf(facts: HeadlineFacts): HeadlineKind {
  const { state, account } = facts;
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
  if (facts.api?.standstill?.kind === 'serviceDown') return 'waitsForService';
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
