import { isRolloutEnd } from '../model/rollout.ts';
import { isFailed, mayHaveBuild, upgradeStates } from '../model/upgrade.ts';
import { awaitsApproval, type RolloutStatus } from '../status/status.ts';
import { type AskedVerb, type RolloutVerb, rolloutVerbs } from './verbs.ts';

/** What an operator can do now (DESIGN §5, Status): the verbs that would change something. `judgeVerb` has the last word. */
export function legalVerbs(status: RolloutStatus): readonly RolloutVerb[] {
  return rolloutVerbs.filter((verb) => {
    if (status.recordUnreadable === 'newer') return false;
    if (verb !== 'abort' && status.recordUnreadable === 'corrupt') return false;
    if (verb !== 'abort' && verb !== 'pause' && isLeftAlone(status)) return false;
    return isLegal[verb](status);
  });
}

/** Whose one is that is over is found out when an operator opens it again. */
function isLeftAlone({ account, endedAt }: RolloutStatus): boolean {
  return account !== 'own' && !(account === 'unknown' && endedAt !== null);
}

const isLegal: Readonly<Record<RolloutVerb, (status: RolloutStatus) => boolean>> = {
  pause: ({ state, heldFor }) => state === 'running' || heldFor !== null,
  resume: ({ state, buildHold }) => (state === 'paused' || state === 'held') && buildHold === null,
  approve: awaitsApproval,
  skipSoak: (status) => isUnderWay(status) && status.waves.some(({ state }) => state === 'soaking'),
  abort: (status) => isUnderWay(status) || (status.state === 'rollingBack' && status.account !== 'own'),
  rollback: isRollbackUseful,
  retry: isRetryUseful,
};

function isUnderWay({ state }: RolloutStatus): boolean {
  return !isRolloutEnd(state) && state !== 'rollingBack';
}

function isRollbackUseful({ kind, state, counts, window }: RolloutStatus): boolean {
  // A rollback can be let start outside its window.
  if (kind === 'rollback') return !isRolloutEnd(state) && window !== null && !window.isOpen;
  return (
    upgradeStates.some((each) => mayHaveBuild(each) && counts[each] > 0) &&
    state !== 'awaitingApproval' &&
    state !== 'rollingBack' &&
    state !== 'rolledBack'
  );
}

function isRetryUseful(status: RolloutStatus): boolean {
  const { state, counts } = status;
  const failed = upgradeStates.some((each) => isFailed(each) && counts[each] > 0);
  // One that is over, and yet tries again: whoever asked for it died before the rollout was open again.
  if (state === 'finishedWithFailures') return failed || counts.retrying > 0;
  return failed && isUnderWay(status) && state !== 'awaitingApproval';
}

/** A verb as whoever sees this status would mean it; undefined while there is nothing that it could be for. */
export function askedNow(status: RolloutStatus, verb: RolloutVerb): AskedVerb | undefined {
  switch (verb) {
    case 'approve': {
      if (status.state === 'awaitingApproval') return { verb, planHash: status.planHash };
      const wave = awaitsApproval(status) ? waveThat(status, 'awaitingApproval') : undefined;
      return wave === undefined ? undefined : { verb, wave };
    }
    case 'skipSoak': {
      const wave = waveThat(status, 'soaking');
      return wave === undefined ? undefined : { verb, wave };
    }
    case 'resume':
      return status.hold === null ? undefined : { verb, hold: status.hold };
    case 'retry': {
      const failed = upgradeStates.filter(isFailed).reduce((sum, state) => sum + status.counts[state], 0);
      return failed + status.counts.retrying === 0 ? undefined : { verb, failed };
    }
    default:
      return { verb };
  }
}

/** True for a verb that has to name what it is for (P15). */
export function needsName(asked: AskedVerb | undefined): boolean {
  return asked !== undefined && asked.verb !== 'pause' && asked.verb !== 'abort' && asked.verb !== 'rollback';
}

function waveThat({ waves }: RolloutStatus, state: RolloutStatus['waves'][number]['state']) {
  return waves.find((wave) => wave.state === state)?.name;
}
