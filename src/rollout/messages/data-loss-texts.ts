import { someNames } from '../../base/names.ts';
import { isRolloutEnd, type Rollout } from '../model/rollout.ts';
import { rolloutReasonText } from './rollout-reasons.ts';
import { stateText } from './sentences.ts';
import { stratumReasonText } from './stratum-reasons.ts';

/** What is known about a loss of Redis data. */
export interface DataLoss {
  /** Lost rollouts. */
  readonly rollouts: readonly Rollout[];
  /** Lost rollouts that an operator has to start again. */
  readonly stopped: readonly Rollout[];
  /** Builds and collectors that are held again. */
  readonly heldAgain: readonly string[];
}

/** What Redis lost, what was stored again, and what an operator has to do. */
export function dataLossText({ rollouts, stopped, heldAgain }: DataLoss): string {
  const active = rollouts.filter(({ state }) => !isRolloutEnd(state));
  const parts = [
    `Redis lost its data; active rollouts: ${namesOf(active.map(({ id, state }) => `${id} (${state})`))}`,
    `held again: ${namesOf(heldAgain)}`,
  ];
  if (stopped.length > 0) {
    parts.push(`waiting for \`upwave start\`: ${someNames(stopped.map(stoppedText))}`);
  }
  return [...parts, 'the daemon plans the other policies again'].join('; ');
}

/** Why a policy whose rollout was lost does not start by itself, and what an operator does. */
export function needsStartText(lost: Rollout): string {
  return `${lostText(lost)}; only an operator starts it again: upwave start ${lost.policy.name}`;
}

/** Why a policy whose rollout was lost does not start by itself. */
export function lostText(lost: Rollout): string {
  return `Redis lost its data, and ${stoppedText(lost)}`;
}

/** Includes held strata, because the operator who starts the policy again has to hold them again. */
function stoppedText({ id, state, reason, waves, strata }: Rollout): string {
  const wave = waves.find((each) => each.state === 'awaitingApproval');
  const words = rolloutReasonText(reason);
  const because = words === '' || state === 'running' || state === 'awaitingApproval' ? '' : `: ${words}`;
  return [
    `${id} was ${stateText(state)}${because}`,
    ...(state === 'running' && wave !== undefined ? [`its wave ${wave.name} waited for approval`] : []),
    ...strata.held.map(
      ({ label, reason: why }) => `its stratum ${label} was held: ${stratumReasonText(why)}`,
    ),
  ].join(', and ');
}

function namesOf(names: readonly string[]): string {
  return names.length === 0 ? 'none known' : someNames(names);
}
