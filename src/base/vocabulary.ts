// The names that the core and the admin API share. A list that lacks a kind of the core, or has one too many, does not
// compile: `rollout/` derives its types from here, or proves that both agree.

export const rolloutStates = [
  'awaitingApproval',
  'running',
  'held',
  'paused',
  'rollingBack',
  'succeeded',
  'finishedWithFailures',
  'aborted',
  'rolledBack',
  'superseded',
] as const;
export type RolloutState = (typeof rolloutStates)[number];

export const waveStates = ['waiting', 'awaitingApproval', 'open', 'soaking', 'passed'] as const;
export type WaveState = (typeof waveStates)[number];

/** Why an upgrade is in its state. */
export const upgradeReasonKinds = [
  'rolloutStopped',
  'braked',
  'inventory',
  'policyChanged',
  'stratumHeld',
  'windowCloses',
  'buildNotOffered',
  'notAlive',
  'silent',
  'notUpgradable',
  'upgradedElsewhere',
  'claimed',
  'unpollable',
  'service',
  'task',
  'buildRefused',
  'createsUnanswered',
  'adoptedEnded',
  'noEnd',
  'endUnseen',
  'notBack',
  'returnUnseen',
  'otherBuild',
  'unwatched',
  'unexplainedTwice',
  'attemptsSpent',
  'returned',
  'onBuild',
  'gone',
  'waitedInVain',
  'rolloutOver',
  'heldToTheEnd',
  'takenBack',
  'recordCorrupt',
  'leftBuild',
  'died',
  'vanished',
  'departed',
  'collectorHeld',
  'retryAsked',
  'repaired',
  'waited',
  'rejoined',
  'text',
] as const;
export type UpgradeReasonKind = (typeof upgradeReasonKinds)[number];

/** Why a rollout stops by itself. */
const stopCauseKinds = [
  'planUnreadable',
  'buildHeld',
  'inventoryUnresolved',
  'noEvidence',
  'gateInconclusive',
  'gateUnknown',
  'onlyHeldStrata',
  'failures',
  'gateMissed',
] as const;

/** Why a rollout is in its state. */
export const rolloutReasonKinds = [
  ...stopCauseKinds,
  'serviceRefuses',
  'buildNotOffered',
  'asked',
  'repaired',
  'awaitsApproval',
  'newerBuild',
  'evidence',
  'allEnded',
  'takesBack',
  'rollbackEnded',
  'nothingTakenBack',
  'recordCorrupt',
  'recordNewer',
  'endedUnread',
  'text',
] as const;
export type RolloutReasonKind = (typeof rolloutReasonKinds)[number];
