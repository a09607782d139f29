import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import {
  mayRunUnseen,
  type ProgressIn,
  type RefusedCreate,
  type Upgrade,
  type UpgradeIn,
} from '../model/upgrade.ts';
import type { CollectorSeen, FactOf, InventoryRow, RowObservation } from './facts.ts';
import { afterPollFailed } from './failed-polls.ts';
import { describeFailure } from './failure-classes.ts';
import { mayRestart, showsEligible } from './heartbeats.ts';
import { nextAgainAt, nextHeartbeatAt, postponePoll } from './poll-schedule.ts';
import {
  ignoreFacts,
  type PollLimit,
  type RowContext,
  type RowVerdict,
  type StateRules,
} from './state-rules.ts';
import { freshForMs, type Step } from './step.ts';
import {
  adoptTask,
  beginTask,
  deferUpgrade,
  type EvolveContext,
  endUpgrade,
  enterState,
  failUpgrade,
  noteLeftOut,
  pollAgain,
  putBack,
  retryOrFail,
  spendAttempt,
  verifyLate,
  withdrawUpgrade,
} from './transitions.ts';

type Queued = UpgradeIn<'queued'>;

// The state has no deadline. After this many failed polls in a row the upgrade releases its slot.
const failedPollsMax = 3;

// After this many polls in a row, each with a newer heartbeat, a late heartbeat is accepted.
const latePollsMax = 4;

// Polls of a collector that someone else upgraded and that is not back yet: three minutes for a five-minute upgrade.
const returnPollsMax = 6;

const polls: PollLimit<'queued'> = {
  isTimeUp: ({ tally }) => tally.failedPolls >= failedPollsMax,
  // Once no task can be running: a deferred collector is polled again.
  unansweredForMs: 0,
  giveUp: (upgrade, { at, failure }, context) => {
    if (mayRunUnseen(upgrade, at)) return pollAgain(upgrade, at, context);
    const reason = { kind: 'unpollable', detail: describeFailure(failure) } as const;
    return deferUpgrade(upgrade, 'notAlive', { at, reason }, context);
  },
};

/** Has a slot. The create is sent once a recent observation shows the collector eligible. */
export const queued: StateRules<'queued'> = {
  nextStep,
  polls,
  rows: { isWatched: ({ progress }) => progress.heartbeatAfter !== undefined, verdictOnRow },
  on: {
    putBack: (upgrade, fact, context) =>
      mayRunUnseen(upgrade, fact.at) ? waitUnseen(upgrade, fact.at, context) : putBack(upgrade, fact),
    claimed: (upgrade, fact, context) => deferUpgrade(upgrade, 'inUpgrade', fact, context),
    // The create is in doubt until its answer is stored. Any daemon that gets the job may settle it by polling.
    createSent: (upgrade, { at }) =>
      enterState(upgrade, { state: 'starting', sentAt: at, dueAt: at, startBy: upgrade.progress.startBy }),
    created: (upgrade, { at, taskId }, context) => beginTask(upgrade, { taskId, startedAt: at }, context),
    buildsSeen: afterBuildsSeen,
    collectorSeen: afterCollectorSeen,
    unchanged: afterUnchanged,
    pollFailed: (upgrade, fact, context) => afterPollFailed(upgrade, fact, context, polls),
    withdrawn: afterWithdrawn,
    abandoned: withdrawUpgrade,
    ...ignoreFacts('admitted', 'createNotSent', 'createFailed', 'taskSeen', 'changeHinted'),
    ...ignoreFacts('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

function nextStep({ progress }: Queued, now: EpochMs, trustedSince: EpochMs): Step {
  const { refused, startBy, freshAt, heartbeatAfter } = progress;
  // Settled before the window is checked, because the refusal is current now.
  if (refused?.isObserved) return { do: 'askBuilds' };
  if (refused !== undefined) return { do: 'pollCollector', why: 'refused', askUpgradable: false };
  if (startBy !== null && now > startBy) return { do: 'giveBack', reason: { kind: 'windowCloses' } };
  // A create that Redis has lost may still arrive until then, and no earlier poll shows it (P1).
  if (now < trustedSince) return { do: 'wait', until: trustedSince };
  // An observation in the future comes from another clock, or from ours before it was set back.
  const isFresh = Math.abs(now - freshAt) <= freshForMs;
  if (isFresh && freshAt >= trustedSince && heartbeatAfter === undefined) return { do: 'start' };
  // An unknown upgrade may be running. Only the upgradable list shows that before the restart.
  return { do: 'pollCollector', why: 'recheck', askUpgradable: freshAt < trustedSince };
}

function verdictOnRow(upgrade: Queued, row: InventoryRow, { trustedSince }: RowContext): RowVerdict {
  const { heartbeatAfter, freshAt } = upgrade.progress;
  // If the record may lack a create, only the upgradable list is sufficient, not a row (P1).
  if (heartbeatAfter === undefined || freshAt < trustedSince) return 'none';
  const isAtTarget = isSameBuild(row.build, upgrade.identity.toBuild);
  if (isAtTarget || showsEligible(upgrade, row, heartbeatAfter)) return 'collectorSeen';
  // The next page will show the next heartbeat. A collector that is silent is polled.
  return assessHeartbeat(row.lastSeenAlive, row.serviceAt) === 'heard' ? 'unchanged' : 'none';
}

/** Whether an inventory row can replace the poll before a create: newer than the last observation, and eligible. */
export function isPollReplaced(upgrade: Upgrade, row: RowObservation): boolean {
  const { progress, tally } = upgrade;
  if (progress.state !== 'queued' || progress.refused !== undefined || tally.createsInDoubt > 0) return false;
  // 0 means that it has to be polled.
  const isNewer = progress.freshAt > 0 && row.at > progress.freshAt;
  return isNewer && showsEligible(upgrade, row, progress.heartbeatAfter);
}

/**
 * Its rollout is over, so nothing is awaited that a create would need. An upgrade that may have been started is polled first:
 * it would end as withdrawn although it has the build (P9).
 */
function afterWithdrawn(upgrade: Queued, fact: FactOf<'withdrawn'>, context: EvolveContext): Upgrade {
  const { reason, at, trustedSince = 0 } = fact;
  const { refused, freshAt } = upgrade.progress;
  const isKnown = refused === undefined && upgrade.tally.createsInDoubt === 0;
  const isTrusted = freshAt >= trustedSince && at >= trustedSince;
  if (reason.kind === 'rolloutOver' && !(isKnown && isTrusted)) return upgrade;
  if (mayRunUnseen(upgrade, at)) return waitUnseen(upgrade, at, context);
  return withdrawUpgrade(upgrade, fact);
}

/** Waits for the next poll. A fact that is repeated before it is due changes nothing. */
function waitUnseen(upgrade: Queued, at: EpochMs, context: EvolveContext): Upgrade {
  return upgrade.progress.dueAt > at ? upgrade : pollAgain(upgrade, at, context);
}

function afterUnchanged(upgrade: Queued, { at, until, isAwaited }: FactOf<'unchanged'>): Upgrade {
  const { state, freshAt, heartbeatAfter, startBy, awaitsList } = upgrade.progress;
  if (heartbeatAfter === undefined || (isAwaited && awaitsList)) return upgrade;
  const dueAt = postponePoll(upgrade.progress.dueAt, at, until);
  if (dueAt === upgrade.progress.dueAt) return upgrade;
  return enterState(upgrade, {
    state,
    dueAt,
    freshAt,
    heartbeatAfter,
    startBy,
    ...((isAwaited || awaitsList) && { awaitsList: true }),
  });
}

function afterBuildsSeen(upgrade: Queued, { at, stillOffered }: FactOf<'buildsSeen'>): Upgrade {
  const { refused } = upgrade.progress;
  if (refused?.isObserved !== true) return upgrade;
  if (!stillOffered) return putBack(upgrade, { at, reason: { kind: 'buildNotOffered' } });
  return failUpgrade(upgrade, 'permanent', at, { kind: 'buildRefused', detail: refused.detail });
}

function afterCollectorSeen(upgrade: Queued, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { refused } = upgrade.progress;
  const isAtTarget = isSameBuild(seen.build, upgrade.identity.toBuild);
  if (refused !== undefined && isAtTarget) return settleOnBuild(upgrade, seen, context);
  if (refused !== undefined) return settleRefusal(upgrade, refused, seen.at, context);
  return isAtTarget ? verifyLate(upgrade, seen, context) : settleEligible(upgrade, seen, context);
}

/**
 * The create was refused, and the collector runs the target (DESIGN §4, What a failure means). An earlier create of ours
 * may have upgraded it. Otherwise someone else did, and the upgrade ends as withdrawn.
 */
function settleOnBuild(upgrade: Queued, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { attempts, createsInDoubt, failedPolls } = upgrade.tally;
  if (attempts > 0 || createsInDoubt > 0) return verifyLate(upgrade, seen, context);
  // The soak covers only collectors with a heartbeat on the target, and this one may still be restarting.
  const mayReturn = mayRestart(seen);
  if (mayReturn && failedPolls < returnPollsMax) return pollAgain(upgrade, seen.at, context);
  const reason = { kind: 'onBuild' } as const;
  if (mayReturn) return endUpgrade(upgrade, 'withdrawn', seen.at, reason);
  const ended = { state: 'withdrawn', endedAt: seen.at, reason, weight: 0, lost: false } as const;
  return enterState(upgrade, { ...ended, onBuild: true });
}

/** The create was refused, and the collector does not run the target. */
function settleRefusal(
  upgrade: Queued,
  refused: RefusedCreate,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const { freshAt, startBy } = upgrade.progress;
  // The collector exists although the service refused it as unknown. The contradiction spends an attempt (P13).
  if (refused.of === 'collector')
    return retryOrFail(
      spendAttempt(upgrade),
      { at, reason: { kind: 'service', detail: refused.detail } },
      context,
    );
  const observed: RefusedCreate = { ...refused, isObserved: true };
  return enterState(
    upgrade,
    { state: 'queued', dueAt: at, freshAt, startBy, refused: observed },
    { failedPolls: 0 },
  );
}

/** Judges the poll before a create. A silent collector may be restarting from someone else's upgrade (P1). */
function settleEligible(upgrade: Queued, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { at, lastSeenAlive, serviceAt, upgradable } = seen;
  const mayRun = mayRunUnseen(upgrade, at);
  const isSilent = assessHeartbeat(lastSeenAlive, serviceAt) === 'silent';
  if (!seen.alive || isSilent) {
    const reason = { kind: seen.alive ? 'silent' : 'notAlive' } as const;
    return mayRun
      ? pollAgain(upgrade, at, context)
      : deferUpgrade(upgrade, 'notAlive', { at, reason }, context);
  }
  if (upgradable === false && isListed(upgrade)) {
    if (mayRun) return noteLeftOut(adoptTask(upgrade, at, context), seen);
    return deferUpgrade(upgrade, 'inUpgrade', { at, reason: { kind: 'notUpgradable' } }, context);
  }
  const { startBy, heartbeatAfter: waitedFor } = upgrade.progress;
  const heartbeatAfter = upgradable === true ? seen.offeredAt : waitedFor;
  const isHeard =
    heartbeatAfter === undefined || (lastSeenAlive ?? Number.POSITIVE_INFINITY) > heartbeatAfter;
  // Without the service's clock, only newer heartbeats rule out a restart.
  const isInTime = isHeard && !mayRestart(seen);
  const late = countLate(upgrade.progress, lastSeenAlive ?? 0);
  if (isInTime || late.polls >= latePollsMax)
    return enterState(upgrade, { state: 'queued', dueAt: at, freshAt: at, startBy }, { failedPolls: 0 });
  if (heartbeatAfter === undefined)
    return pollAgain({ ...upgrade, progress: { ...upgrade.progress, late } }, at, context);
  // It was in no upgrade at `heartbeatAfter`. Only a newer heartbeat is still missing.
  const { failedPolls } = upgrade.tally;
  const againAt = nextAgainAt(at, failedPolls, context.policy);
  const dueAt = Math.max(againAt, nextHeartbeatAt(at, context.policy));
  return enterState(
    upgrade,
    { state: 'queued', dueAt, freshAt: at, heartbeatAfter, startBy, late },
    { failedPolls: failedPolls + 1 },
  );
}

/**
 * Whether a missing entry on the upgradable list is meaningful. The API does not specify whether it lists collectors above
 * the target (collector-api.md §4.3); it does if the plan's reading had this collector.
 */
function isListed({ identity: { fromBuild, toBuild, offeredAt } }: Queued): boolean {
  return offeredAt !== undefined || (compareBuildVersions(fromBuild, toBuild) ?? 0) <= 0;
}

/** Counts late heartbeats. A restarting collector sends no newer ones; with newer ones the service itself lags. */
function countLate(
  { late }: ProgressIn<'queued'>,
  heartbeatAt: EpochMs,
): NonNullable<ProgressIn<'queued'>['late']> {
  if (late === undefined) return { polls: 1, heartbeatAt };
  return heartbeatAt > late.heartbeatAt ? { polls: late.polls + 1, heartbeatAt } : late;
}
