import { assertNever } from '../../base/assert.ts';
import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import {
  isIn,
  type ProgressIn,
  type Refusal,
  type Upgrade,
  type UpgradeIn,
  type VerifyingProgress,
} from '../model/upgrade.ts';
import type { CollectorObservation, RowObservation } from './facts.ts';
import {
  nextAgainAt,
  nextDeferredPollAt,
  nextHeartbeatAt,
  nextTaskPollAt,
  nextVerifyPollAt,
} from './poll-schedule.ts';
import {
  adopt,
  afterTaskFailed,
  again,
  defer,
  type EvolveContext,
  end,
  fail,
  lose,
  retryOrFail,
  timeOut,
  to,
  verify,
  waitedInVain,
} from './upgrade-changes.ts';

// Creates without an answer, each settled by looking, after which something is wrong with this one collector.
const createsInDoubtMax = 10;

// Looks in a row, each with a newer heartbeat, after which one that comes late is taken for one in time.
const latePollsMax = 4;

// Polls of a collector that someone else upgraded and that is not back yet: three minutes where an upgrade takes five.
const returnPollsMax = 6;

// A restart keeps a collector silent for up to a minute where an upgrade takes five: seen after half of that.
const restartShare = 1 / 10;

export function afterCollectorSeen(
  upgrade: Upgrade,
  seen: CollectorObservation,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const atTarget = isSameBuild(seen.build, upgrade.identity.toBuild);
  const late = () => verify(upgrade, { at, serviceAt: seen.serviceAt, late: true }, context);
  if (isIn(upgrade, 'queued')) {
    const { refused } = upgrade.progress;
    if (refused !== undefined) return settleRefusal(upgrade, refused, atTarget, { ...seen, at }, context);
    return atTarget ? late() : judgeFit(upgrade, seen, at, context);
  }
  if (isIn(upgrade, 'starting')) return settle(upgrade, seen, atTarget, at, context);
  if (isIn(upgrade, 'upgrading')) {
    const { taskId, ending } = upgrade.progress;
    if (atTarget && (taskId === null || ending !== null)) return late();
    if (ending !== null) return judge(upgrade, at, context);
    return taskId === null ? watch(upgrade, seen, at, context) : upgrade;
  }
  if (isIn(upgrade, 'verifying')) return judgeReturn(upgrade, seen, at, context);
  if (isIn(upgrade, 'deferred')) return atTarget ? late() : judgeDeferred(upgrade, seen, at, context);
  return upgrade;
}

/**
 * Its create was refused, and this is what the collector shows since (DESIGN §4, What a failure means). A create of ours
 * from before may have brought the build; otherwise someone else did, and nothing is left to do.
 */
function settleRefusal(
  upgrade: UpgradeIn<'queued'>,
  refused: Refusal,
  atTarget: boolean,
  seen: CollectorObservation & { readonly at: EpochMs },
  context: EvolveContext,
): Upgrade {
  const { at } = seen;
  if (atTarget) {
    const isOurs = upgrade.tally.attempts > 0 || upgrade.tally.createsInDoubt > 0;
    if (isOurs) return verify(upgrade, { at, serviceAt: seen.serviceAt, late: true }, context);
    // Its soak observes only a collector that was heard from on the build, and this one may still restart.
    const mayReturn = mayRestart(seen);
    if (mayReturn && upgrade.tally.failedPolls < returnPollsMax) return again(upgrade, at, context);
    const reason = 'runs the build already';
    if (mayReturn) return end(upgrade, 'withdrawn', at, reason);
    return to(upgrade, {
      ...{ state: 'withdrawn', endedAt: at, reason, weight: 0, lost: false },
      onBuild: true,
    });
  }
  // It is there all the same, so the service contradicts itself: that spends an attempt (P13).
  if (refused.of === 'collector')
    return retryOrFail(
      { ...upgrade, tally: { ...upgrade.tally, attempts: upgrade.tally.attempts + 1 } },
      refused.reason,
      at,
      context,
    );
  const { freshAt, startBy } = upgrade.progress;
  return to(
    upgrade,
    { state: 'queued', dueAt: at, freshAt, startBy, refused: { ...refused, isObserved: true } },
    { failedPolls: 0 },
  );
}

/** Looked at before a create: a collector that is silent may be restarting from an upgrade of someone else's (P1). */
function judgeFit(
  upgrade: UpgradeIn<'queued'>,
  seen: CollectorObservation,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  if (!seen.alive) return defer(upgrade, 'notAlive', at, 'the collector is not alive', context);
  const heartbeat = assessHeartbeat(seen.lastSeenAlive, seen.serviceAt);
  if (heartbeat === 'silent') {
    return defer(upgrade, 'notAlive', at, 'the collector is silent: it restarts, or is going away', context);
  }
  if (seen.upgradable === false && isListed(upgrade))
    return defer(upgrade, 'inUpgrade', at, 'the service offers it no upgrade: one may be running', context);
  const heartbeatAfter = seen.upgradable === true ? seen.offeredAt : upgrade.progress.heartbeatAfter;
  const isHeard =
    heartbeatAfter === undefined || (seen.lastSeenAlive ?? Number.POSITIVE_INFINITY) > heartbeatAfter;
  const { startBy } = upgrade.progress;
  const cleared = (): Upgrade =>
    to(upgrade, { state: 'queued', dueAt: at, freshAt: at, startBy }, { failedPolls: 0 });
  // Without a time to compare with, one that restarts looks like any other: newer heartbeats tell them apart.
  const isUnjudged = seen.serviceAt === null && seen.lastSeenAlive !== null;
  if (isHeard && heartbeat !== 'late' && !isUnjudged) return cleared();
  const late = countLate(upgrade.progress, seen.lastSeenAlive ?? 0);
  if (late.looks >= latePollsMax) return cleared();
  if (heartbeatAfter === undefined)
    return again({ ...upgrade, progress: { ...upgrade.progress, late } }, at, context);
  // It was in no upgrade then, which need not be asked again: what is missing is its heartbeat.
  const dueAt = Math.max(
    nextAgainAt(at, upgrade.tally.failedPolls, context.policy),
    nextHeartbeatAt(at, context.policy),
  );
  return to(
    upgrade,
    { state: 'queued', dueAt, freshAt: at, heartbeatAfter, startBy, late },
    { failedPolls: upgrade.tally.failedPolls + 1 },
  );
}

/** Whether a row of the inventory is as good as a look before its create: alive, not at the build, and heard from since. */
export function showsEligible(
  { identity: { toBuild } }: Upgrade,
  { build, alive, lastSeenAlive, serviceAt }: Omit<RowObservation, 'at'>,
  heartbeatAfter: EpochMs | undefined,
): boolean {
  if (!alive || lastSeenAlive === null || isSameBuild(build, toBuild)) return false;
  return assessHeartbeat(lastSeenAlive, serviceAt) === 'heard' && lastSeenAlive > (heartbeatAfter ?? 0);
}

/**
 * Whether the service's list of upgradable collectors leaves it out for a reason. Whether it ever has one that is above the
 * build is not specified (collector-api.md §4.3): where it has, that tells; where not, nothing is known.
 */
function isListed({ identity: { fromBuild, toBuild } }: Upgrade): boolean {
  return (compareBuildVersions(fromBuild, toBuild) ?? 0) <= 0;
}

/** One that restarts shows no newer heartbeat, and is silent soon; with newer ones it is the service that lags. */
function countLate(
  { late }: ProgressIn<'queued'>,
  heartbeatAt: EpochMs,
): NonNullable<ProgressIn<'queued'>['late']> {
  if (late === undefined) return { looks: 1, heartbeatAt };
  return heartbeatAt > late.heartbeatAt ? { looks: late.looks + 1, heartbeatAt } : late;
}

/** A create in doubt, and what the collector shows: done, never arrived, or running (P1). */
function settle(
  upgrade: UpgradeIn<'starting'>,
  seen: CollectorObservation,
  atTarget: boolean,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  if (atTarget) return verify(upgrade, { at, serviceAt: seen.serviceAt, late: true }, context);
  if (seen.upgradable !== true)
    return adopt(
      { ...upgrade, tally: { ...upgrade.tally, createsInDoubt: upgrade.tally.createsInDoubt + 1 } },
      upgrade.progress.sentAt,
      context,
    );
  // Not in an upgrade now, but the create may still be on its way.
  if (at < upgrade.progress.sentAt + context.answerWithinMs) return again(upgrade, at, context);
  // It may have worked after all.
  if (mayRestart(seen) && at < upgrade.progress.sentAt + context.policy.upgrade.deadlineMs)
    return again(upgrade, at, context);
  if (upgrade.tally.createsInDoubt + 1 >= createsInDoubtMax) {
    return fail(upgrade, 'retry', at, `${createsInDoubtMax} creates brought no answer and no upgrade`);
  }
  // A heartbeat may be the last one before such a restart, so it is looked at once more before the next create.
  const dueAt = restartSeenAt(at, upgrade.tally.createsInDoubt, context);
  return to(
    upgrade,
    { state: 'queued', dueAt, freshAt: 0, startBy: upgrade.progress.startBy },
    { createsInDoubt: upgrade.tally.createsInDoubt + 1, failedPolls: 0 },
  );
}

/**
 * A collector that restarts at the end of its upgrade still shows the old build, and is offered again. So may one whose
 * heartbeat there is no time to compare with.
 */
function mayRestart({ alive, lastSeenAlive, serviceAt }: CollectorObservation): boolean {
  const heartbeat = assessHeartbeat(lastSeenAlive, serviceAt);
  const isUnjudged = serviceAt === null && lastSeenAlive !== null;
  return !alive || isUnjudged || heartbeat === 'silent' || heartbeat === 'late';
}

/** When a collector whose last heartbeat came right before its restart shows that it restarts. */
function restartSeenAt(at: EpochMs, lookedBefore: number, { policy }: EvolveContext): EpochMs {
  return Math.max(nextAgainAt(at, lookedBefore, policy), at + policy.upgrade.expectMs * restartShare);
}

/** The collector, looked at after its task stopped without success, does not show the target. */
function judge(upgrade: UpgradeIn<'upgrading'>, at: EpochMs, context: EvolveContext): Upgrade {
  const { ending } = upgrade.progress;
  if (ending === null) return upgrade;
  switch (ending.kind) {
    case 'failed':
      return afterTaskFailed(upgrade, ending.message, at, context);
    case 'missing':
      // The service does not know the task, and the build is not there: keep looking until the deadline.
      if (at >= upgrade.progress.deadlineAt) return timeOut(upgrade, at, context);
      return to(
        upgrade,
        {
          ...upgrade.progress,
          ending: null,
          dueAt: nextTaskPollAt({ ...upgrade.progress, at }, context.policy),
        },
        { failedPolls: 0 },
      );
    case 'deadline':
      return timeOut(upgrade, at, context);
    default:
      return assertNever(ending);
  }
}

/** An adopted upgrade: the service would take a new one, and it does not restart, so it is over without the build. */
function watch(
  upgrade: UpgradeIn<'upgrading'>,
  seen: CollectorObservation,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const isOver = seen.upgradable === true && !mayRestart(seen);
  // The heartbeat may be the last one before its restart, so a second look judges it.
  if (isOver && upgrade.tally.failedPolls === 0 && at < upgrade.progress.deadlineAt) {
    return to(upgrade, { ...upgrade.progress, dueAt: restartSeenAt(at, 0, context) }, { failedPolls: 1 });
  }
  if (isOver || (seen.upgradable === true && at >= upgrade.progress.deadlineAt)) {
    const ended = { ...upgrade, tally: { ...upgrade.tally, attempts: upgrade.tally.attempts + 1 } };
    return afterTaskFailed(ended, 'an upgrade whose answer was lost ended without the build', at, context);
  }
  if (at >= upgrade.progress.deadlineAt) return timeOut(upgrade, at, context);
  return to(
    upgrade,
    { ...upgrade.progress, dueAt: nextTaskPollAt({ ...upgrade.progress, at }, context.policy) },
    { failedPolls: 0 },
  );
}

/** Is it back, on the build, with a heartbeat newer than the task's end (P10)? */
function judgeReturn(
  upgrade: UpgradeIn<'verifying'>,
  seen: CollectorObservation,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const back = isHeartbeatNew(upgrade.progress, seen);
  if (isReturned(upgrade, seen)) {
    return end(
      upgrade,
      'succeeded',
      at,
      upgrade.progress.late ? 'came late: the collector shows the build' : 'on the build and alive',
    );
  }
  if (at >= upgrade.progress.verifyBy && !isFirstToCompare(upgrade.progress, seen)) {
    const within = formatDuration(context.policy.upgrade.verifyWithinMs);
    if (back && seen.alive)
      return fail(upgrade, 'unconfirmed', at, `shows build ${seen.build || 'none'} after ${within}`);
    return lose(upgrade, at, `did not come back within ${within}`, context.policy);
  }
  // A first look that came too late has nothing to compare with: its time to come back begins with it.
  const verifyBy =
    at < upgrade.progress.verifyBy ? upgrade.progress.verifyBy : at + context.policy.upgrade.verifyWithinMs;
  return to(
    upgrade,
    {
      ...upgrade.progress,
      verifyBy,
      dueAt: nextVerifyPollAt({ verifyBy, at }, context.policy),
      baselineHeartbeatAt: upgrade.progress.baselineHeartbeatAt ?? seen.lastSeenAlive,
    },
    { failedPolls: 0 },
  );
}

/** Where the service tells no time, the first heartbeat seen proves nothing: only a newer one does. */
function isFirstToCompare(
  { endedServiceAt, baselineHeartbeatAt }: VerifyingProgress,
  { alive, lastSeenAlive }: CollectorObservation,
): boolean {
  return alive && lastSeenAlive !== null && endedServiceAt === null && baselineHeartbeatAt === null;
}

/** Proof of the return: alive, on the build, with a heartbeat newer than the task's end (P10). */
export function isReturned(upgrade: UpgradeIn<'verifying'>, seen: CollectorObservation): boolean {
  return (
    seen.alive && isSameBuild(seen.build, upgrade.identity.toBuild) && isHeartbeatNew(upgrade.progress, seen)
  );
}

/** A deferred collector that was not alive may be tried again. */
export function isHeardAgain(
  seen: Pick<CollectorObservation, 'alive' | 'lastSeenAlive' | 'serviceAt'>,
): boolean {
  return seen.alive && assessHeartbeat(seen.lastSeenAlive, seen.serviceAt) !== 'silent';
}

function isHeartbeatNew(upgrade: VerifyingProgress, seen: CollectorObservation): boolean {
  if (seen.lastSeenAlive === null) return false;
  if (upgrade.endedServiceAt !== null && seen.lastSeenAlive > upgrade.endedServiceAt) return true;
  return upgrade.baselineHeartbeatAt !== null && seen.lastSeenAlive > upgrade.baselineHeartbeatAt;
}

function judgeDeferred(
  upgrade: UpgradeIn<'deferred'>,
  seen: CollectorObservation,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const ready = upgrade.progress.condition === 'notAlive' ? isHeardAgain(seen) : seen.upgradable === true;
  if (ready) {
    // The upgrade that it was in may have ended right now: it shows the old build until it restarts (P1).
    const dueAt = upgrade.progress.condition === 'inUpgrade' ? restartSeenAt(at, 0, context) : at;
    return to(
      upgrade,
      { state: 'retrying', dueAt, reason: `was waiting: ${upgrade.progress.reason}` },
      { failedPolls: 0, deferredMs: at - upgrade.progress.since },
    );
  }
  const { upToMs } = context.policy.defer;
  if (at - upgrade.progress.since >= upToMs)
    return waitedInVain(upgrade, upgrade.progress.reason, at, context);
  const dueAt = Math.min(
    nextDeferredPollAt({ since: upgrade.progress.since, at }, context.policy),
    upgrade.progress.since + upToMs,
  );
  const { condition, since, reason } = upgrade.progress;
  return to(upgrade, { state: 'deferred', condition, since, reason, dueAt }, { failedPolls: 0 });
}
