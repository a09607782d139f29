// The names that the core and the admin API share. `rollout/` derives its types from these lists, so a list with a
// missing or superfluous kind does not compile there.

/** The states of an upgrade, in the order in which they are shown. */
export const upgradeStates = [
  'pending',
  'queued',
  'starting',
  'upgrading',
  'verifying',
  'retrying',
  'deferred',
  'succeeded',
  'failed',
  'timedOut',
  'unconfirmed',
  'withdrawn',
  'rolledBack',
] as const;
export type UpgradeState = (typeof upgradeStates)[number];

/** `permanent`: a retry would not have helped. `retry`: all attempts were used up. */
export const upgradeFailureClasses = ['permanent', 'retry', 'timedOut', 'unconfirmed'] as const;
export type UpgradeFailureClass = (typeof upgradeFailureClasses)[number];

/** The verbs of an operator for a whole rollout. */
export const rolloutVerbs = ['pause', 'resume', 'approve', 'skipSoak', 'abort', 'rollback', 'retry'] as const;
export type RolloutVerb = (typeof rolloutVerbs)[number];

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

export const gateVerdicts = ['pass', 'fail', 'hold', 'inconclusive', 'waiting'] as const;
export type GateVerdict = (typeof gateVerdicts)[number];

/** Why an upgrade is in its state. */
export const upgradeReasonKinds = [
  'rolloutStopped',
  'braked',
  'inventory',
  'policyMissing',
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
  'deferExpired',
  'rolloutOver',
  'heldToTheEnd',
  'rolledBack',
  'leftBuild',
  'died',
  'wentSilent',
  'vanished',
  'departed',
  'collectorHeld',
  'retryAsked',
  'waited',
  'rejoined',
] as const;
export type UpgradeReasonKind = (typeof upgradeReasonKinds)[number];

/** Why a rollout stops by itself. */
const stopCauseKinds = [
  'recordsUnreadable',
  'buildHeld',
  'inventoryUnresolved',
  'noEvidence',
  'gateInconclusive',
  'gateUnknown',
  'onlyHeldStrata',
  'failures',
  'gateMissed',
] as const;

/** Why something does not start now. */
export const blockerKinds = [
  'planApproval',
  'held',
  'paused',
  'outliersUnclear',
  'groupMoves',
  'inventory',
  'newerVersion',
  'account',
  'policyMissing',
  'storeReturned',
  'over',
  'withdrawing',
  'watching',
  'abandoning',
  'rollbackPlan',
  'rollback',
  'waveApproval',
  'soak',
  'lateJoiners',
  'soakCheck',
  'gate',
  'deferred',
  'waveOrder',
  'retryNotDue',
  'turn',
  'concurrency',
  'pace',
  'stratumHeld',
  'window',
  'freeze',
  'notBefore',
  'windowTooShort',
  'cap',
  ...stopCauseKinds,
] as const;
export type BlockerKind = (typeof blockerKinds)[number];

/** Why a stratum is held alone. */
export const stratumReasonKinds = ['outlier', 'asked'] as const;

/** Why a rollback does not take a collector back. */
export const leftBehindKinds = [
  'unknown',
  'notListed',
  'notSeen',
  'buildNotOffered',
  'claimed',
  'held',
  'failed',
  'withdrawn',
] as const;
export type LeftBehindKind = (typeof leftBehindKinds)[number];

/** Why the end of a rollout is not known. */
export const etaUnknownReasons = [
  'account',
  'collectors',
  'ending',
  'held',
  'inventory',
  'newerVersion',
  'noWindow',
  'paused',
  'policyMissing',
  'rollingBack',
  'serviceDown',
  'windowTooShort',
] as const;
export type EtaUnknownReason = (typeof etaUnknownReasons)[number];

/** Why a rollout is in its state. */
export const rolloutReasonKinds = [
  ...stopCauseKinds,
  'serviceRefuses',
  'buildNotOffered',
  'asked',
  'awaitsApproval',
  'newerBuild',
  'evidence',
  'allEnded',
  'rollsBack',
  'rollbackEnded',
  'nothingRolledBack',
  'recordNewer',
] as const;
export type RolloutReasonKind = (typeof rolloutReasonKinds)[number];

/** The headlines of a rollout. */
export const headlineKinds = [
  'newerVersion',
  'otherAccount',
  'policyMissing',
  'held',
  'paused',
  'needsApproval',
  'rollingBack',
  'waitsForService',
  'waitsForInventory',
  'waitsForWindow',
  'waitsForCollectors',
  'running',
  'succeeded',
  'finishedWithFailures',
  'aborted',
  'rolledBack',
  'superseded',
] as const;
export type HeadlineKind = (typeof headlineKinds)[number];

/** Why the rules of a plan leave a collector out. */
export const planExclusions = [
  'notSelected',
  'excluded',
  'notInShare',
  // The request names other collectors.
  'notAsked',
  'atTarget',
  // It runs a newer build, and the policy allows no downgrade.
  'newer',
  'held',
  // It is in another policy's rollout.
  'claimed',
  'failedBefore',
  'notAlive',
  'notOffered',
] as const;
export type PlanExclusion = (typeof planExclusions)[number];

/** Why a collector is in its state. */
export const explanationKinds = [
  // It is part of the running rollout.
  'planned',
  // Its record is unreadable.
  'unreadable',
  ...planExclusions,
  // The policy has no target build.
  'noTarget',
  // The rollout to this build was rolled back or aborted: a person starts the next one.
  'rolledBack',
  'aborted',
  // The rollback of this build left it there.
  'stays',
  // The next scan plans it.
  'eligible',
  // The service no longer lists it.
  'gone',
  // The service is unavailable.
  'unknown',
] as const;
export type ExplanationKind = (typeof explanationKinds)[number];

const holdEvents = [
  ...(['build.held', 'build.released', 'collector.held', 'collector.released'] as const),
  ...(['group.held', 'group.released'] as const),
] as const;
export type HoldEvent = (typeof holdEvents)[number];

/** What the audit records: holds, also those of the daemon, verbs over all rollouts, reloads, and losses of the record. */
export const auditEvents = [
  ...holdEvents,
  'record.lost',
  'config.reloaded',
  'rollout.started',
  'rollout.held',
  'rollout.paused',
  'rollout.resumed',
  'rollout.approved',
  'wave.soakSkipped',
  'rollout.aborted',
  'rollout.rollingBack',
  'rollout.retried',
  'stratum.held',
  'stratum.released',
] as const;
export type AuditEvent = (typeof auditEvents)[number];

/** Names that events use for causes other than a person. */
export const reservedNames: readonly string[] = ['daemon', 'schedule'];
