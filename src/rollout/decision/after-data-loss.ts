import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { Rollout } from '../model/rollout.ts';

/**
 * Whether a lost rollout had been stopped, completely or partly, by an operator or because of failures. Redis lost the stop
 * as well, so a daemon must not start the policy again by itself (P4, P11). An abort or a rollback stops one build. Every
 * other stop waits for an operator.
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
      return isSameBuild(lost.plan.targetBuild, targetBuild);
    case 'running':
      // In a new plan, the waiting collectors could become canaries.
      return lost.strata.held.length > 0 || lost.waves.some(({ state }) => state === 'awaitingApproval');
    case 'succeeded':
    case 'finishedWithFailures':
    case 'superseded':
      return false;
    default:
      return assertNever(lost.state);
  }
}
