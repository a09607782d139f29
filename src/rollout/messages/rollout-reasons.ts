import type { RolloutReasonKind } from '../../base/vocabulary.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import type { UnreadableRecord } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { leftBehindWords } from './exclusions.ts';
import { makeWords, stateWords } from './sentences.ts';
import { stopSentences } from './stop-causes.ts';
import { byWords } from './stratum-reasons.ts';

/** Why a rollout is in its state, with what a person can do about it. */
export const rolloutReasonWords: (reason: RolloutReason) => string = makeWords<
  RolloutReason,
  RolloutReasonKind
>({
  ...stopSentences,
  serviceRefuses: ({ detail }) => `${detail} Then resume.`,
  buildNotOffered: ({ build }) =>
    `the service no longer offers build ${build}; abort, or resume once it is offered again`,
  asked: byWords,
  awaitsApproval: () => 'waits for approval',
  newerBuild: ({ build }) => `build ${build} is available, and the policy upgrades to it at once`,
  evidence: ({ wave, isShown }) =>
    `wave ${wave} has ${isShown ? 'an upgraded collector now' : 'a collector to upgrade again'}`,
  allEnded: () => 'every collector of the plan has ended',
  rollsBack: ({ rollout }) => `rolls back ${rollout}`,
  rollbackEnded: ({ rollback, state }) =>
    `by ${rollback}, which ${state === 'aborted' ? 'was ' : ''}${stateWords(state)}`,
  nothingRolledBack: ({ left }) => `no collector could be rolled back${notRolledBackWords(left)}`,
  recordNewer: ({ version, readable }) => unreadableWords({ kind: 'newer', version, readable }),
});

/** `; 3 stay: an operator holds them`; empty if all can be rolled back. */
export function notRolledBackWords(left: ReadonlyArray<Pick<LeftBehind, 'count' | 'why'>>): string {
  return left.map(({ count, why }) => `; ${count} stay: ${leftBehindWords(why)}`).join('');
}

/** Why a rollout with an unreadable record starts nothing, and what to do about it. */
export const unreadableWords = makeWords<UnreadableRecord>({
  newer: ({ version, readable }) =>
    `it was written by a newer upwave (record version ${version}, this upwave reads ${readable}): this daemon leaves it alone. Start a daemon of that version`,
  corrupt: ({ key }) => stopSentences.recordsUnreadable({ kind: 'recordsUnreadable', keys: [key] }),
});
