import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { Rollout } from '../model/rollout.ts';

/**
 * Whether a rollout that Redis lost had been stopped, in whole or in part, by an operator or by its failures. The stop was
 * lost with it, so a daemon that only sees an empty store must not start the policy again (P4, P11). An abort or a
 * rollback stops one build; every other stop waits for an operator.
 */
export function wasStopped(lost: Rollout, targetBuild: string): boolean {
  switch (lost.state) {
    case 'awaitingApproval':
    case 'held':
    case 'paused':
      return true;
    case 'aborted':
    case 'rollingBack':
    case 'rolledBack':
      return isSameBuild(lost.targetBuild, targetBuild);
    case 'running':
      // A new plan could make canaries of the collectors that were to wait.
      return lost.heldStrata.length > 0 || lost.waves.some(({ state }) => state === 'awaitingApproval');
    case 'succeeded':
    case 'finishedWithFailures':
    case 'superseded':
      return false;
    default:
      return assertNever(lost.state);
  }
}
