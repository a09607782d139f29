import { awaitsApproval } from './awaits-approval.ts';
import type { RolloutStatus } from './status.ts';
import { isFailed, upgradeStates } from './upgrade.ts';
import type { AskedVerb, RolloutVerb } from './verbs.ts';

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
