import { formatDuration } from '../../base/time.ts';
import type { UpgradeReasonKind } from '../../base/vocabulary.ts';
import { reasonOf, type Upgrade } from '../model/upgrade.ts';
import { failureBefore } from '../model/upgrade-figures.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import { counted, makeText, stateText } from './sentences.ts';
import { implausibleText } from './stop-causes.ts';
import { byText, stratumHeldText } from './stratum-reasons.ts';

/** Why an upgrade is in its state; empty without a particular reason. */
export function upgradeText(upgrade: Upgrade): string {
  const reason = reasonOf(upgrade);
  if (reason === undefined) return '';
  const failure = failureBefore(upgrade);
  const words = upgradeReasonText(reason);
  return failure === undefined ? words : `${words}; failed before: ${upgradeReasonText(failure)}`;
}

export const upgradeReasonText: (reason: UpgradeReason) => string = makeText<
  UpgradeReason,
  UpgradeReasonKind
>({
  rolloutStopped: ({ state }) => `the rollout is ${stateText(state)}`,
  braked: () => 'the rollout stopped before it could start',
  inventory: ({ why }) => implausibleText(why),
  policyMissing: ({ policy }) => `no config has the policy ${policy} any more`,
  policyChanged: () => 'limits or windows changed after it was admitted',
  stratumHeld: stratumHeldText,
  windowCloses: () => 'the window closes too soon to start it',
  buildNotOffered: () => 'the target build is no longer offered',

  notAlive: () => 'the collector is not alive',
  silent: () => 'the collector is silent: it restarts, or is going away',
  notUpgradable: () => 'the service offers it no upgrade: one may be running',
  upgradedElsewhere: () => 'the collector is being upgraded by someone else',
  claimed: ({ rollout }) => `the collector is being upgraded by ${rollout}`,
  unpollable: ({ detail, before }) => {
    const lead = before === undefined ? '' : `${upgradeReasonText(before)}; `;
    return `${lead}the collector can't be polled: ${detail}`;
  },

  service: ({ detail }) => detail,
  task: ({ message }) => (message === '' ? 'the service gave no reason' : message),
  buildRefused: ({ detail }) => `the service refuses this build for this collector: ${detail}`,
  createsUnanswered: ({ creates }) =>
    `${counted(creates, 'create request')} got no answer and started no upgrade`,
  adoptedEnded: () => 'an upgrade whose answer was lost ended without the build',
  noEnd: ({ withinMs }) => `no end within ${formatDuration(withinMs)}`,
  endUnseen: ({ withinMs, detail }) => `no end seen within ${formatDuration(withinMs)}: ${detail}`,
  notBack: ({ withinMs }) => `did not come back within ${formatDuration(withinMs)}`,
  returnUnseen: ({ withinMs, detail }) => `no successful poll within ${formatDuration(withinMs)}: ${detail}`,
  otherBuild: ({ build, afterMs }) => `shows build ${build || 'none'} after ${formatDuration(afterMs)}`,
  unwatched: () =>
    'it was in another account when its rollout was ended, and could not be watched to its end',
  unexplainedTwice: ({ last }) => `failed twice: ${upgradeReasonText(last)}`,
  attemptsSpent: ({ attempts, attemptsMax, last }) => {
    // A retry that an operator asks for goes beyond the policy's attempts.
    const ofMax = attempts > attemptsMax ? '' : ` of ${attemptsMax}`;
    return `attempt ${attempts}${ofMax}: ${upgradeReasonText(last)}`;
  },

  returned: ({ late }) =>
    late ? 'on the build, although the task reported no success' : 'on the build and alive',
  onBuild: ({ but }) =>
    but === undefined ? 'runs the build already' : `ran the build already, but ${upgradeReasonText(but)}`,
  gone: () => 'the collector is gone from the service',
  deferExpired: ({ before, forMs }) => `${upgradeReasonText(before)}, for ${formatDuration(forMs)}`,
  rolloutOver: ({ state }) =>
    state === 'rollingBack' ? 'the rollout is rolling back' : `the rollout was ${stateText(state)}`,
  heldToTheEnd: ({ labels }) => `its stratum was held to the end: ${labels.join('; ')}`,
  rolledBack: ({ build, rollback }) => `rolled back to ${build} by ${rollback}`,

  leftBuild: ({ build }) => `left the build during the soak: it shows ${build || 'none'}`,
  died: ({ silentMs }) =>
    silentMs === null
      ? 'died during the soak'
      : `died during the soak: silent for ${formatDuration(Math.round(silentMs / 1_000) * 1_000)}`,
  wentSilent: ({ before, windowMs }) =>
    `went silent during the soak: no message in ${formatDuration(windowMs)}, ${before} before the upgrade`,
  vanished: () => 'vanished during the soak: the service no longer knows the collector (404)',
  departed: ({ because }) =>
    `left the fleet during the soak: ${because === 'ephemeral' ? 'it is ephemeral' : 'an operator holds it'}`,

  collectorHeld: (reason) => `held ${byText(reason)}`,
  retryAsked: (reason) => `asked for ${byText(reason)}`,

  waited: ({ before }) => `was waiting: ${upgradeReasonText(before)}`,
  rejoined: ({ before }) => `is back: ${upgradeReasonText(before)}`,
});
