import type { RolloutReasonKind } from '../../base/vocabulary.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import type { RolloutState, UnreadableRecord } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { leftBehindText } from './exclusions.ts';
import { makeText, stateText } from './sentences.ts';
import { stopSentences } from './stop-causes.ts';
import { byText } from './stratum-reasons.ts';

/** Why a rollout is in its state, with what a person can do about it. */
export const rolloutReasonText: (reason: RolloutReason) => string = makeText<
  RolloutReason,
  RolloutReasonKind
>({
  ...stopSentences,
  serviceRefuses: ({ detail }) => `${detail} Then resume.`,
  buildNotOffered: ({ build }) =>
    `the service no longer offers build ${build}; abort, or resume once it is offered again`,
  asked: byText,
  awaitsApproval: () => 'waits for approval',
  newerBuild: ({ build }) => `build ${build} is available, and the policy upgrades to it immediately`,
  evidence: ({ wave, isShown }) =>
    `wave ${wave} has ${isShown ? 'an upgraded collector now' : 'a collector to upgrade again'}`,
  allEnded: () => 'every collector of the plan has ended',
  rollsBack: ({ rollout }) => `rolls back ${rollout}`,
  rollbackEnded: ({ rollback, state }) => `by ${rollback}, which ${rollbackEnds[state] ?? stateText(state)}`,
  nothingRolledBack: ({ left }) => `no collector could be rolled back${notRolledBackText(left)}`,
  recordNewer: ({ version, readable }) => unreadableText({ kind: 'newer', version, readable }),
});

const rollbackEnds: Readonly<Partial<Record<RolloutState, string>>> = {
  aborted: 'was aborted',
  finishedWithFailures: 'did not roll back all',
};

/** `; 3 stay: an operator holds them`; empty if all can be rolled back. */
export function notRolledBackText(left: ReadonlyArray<Pick<LeftBehind, 'count' | 'why'>>): string {
  return left.map(({ count, why }) => `; ${count} stay: ${leftBehindText(why)}`).join('');
}

/** Why a rollout with an unreadable record starts nothing, and what to do about it. */
export const unreadableText = makeText<UnreadableRecord>({
  newer: ({ version, readable }) =>
    `it was written by a newer upwave (record version ${version}, this upwave reads ${readable}): this daemon leaves it alone. Start a daemon of that version`,
  corrupt: ({ key }) => stopSentences.recordsUnreadable({ kind: 'recordsUnreadable', keys: [key] }),
});
