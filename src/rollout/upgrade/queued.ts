import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { ProgressIn, RefusedCreate, Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import type { CollectorSeen, FactOf, InventoryRow, RowObservation } from './facts.ts';
import { afterPollFailed } from './failed-polls.ts';
import { describeFailure } from './failure-classes.ts';
import { mayRestart, showsEligible } from './heartbeats.ts';
import { nextAgainAt, nextHeartbeatAt, putOff } from './poll-schedule.ts';
import { ignore, type PollLimit, type RowContext, type RowVerdict, type StateRules } from './state-rules.ts';
import { freshForMs, type Step } from './step.ts';
import {
  defer,
  type EvolveContext,
  end,
  fail,
  pollAgain,
  putBack,
  retryOrFail,
  run,
  spendAttempt,
  to,
  verifyLate,
  withdraw,
} from './transitions.ts';

type Queued = UpgradeIn<'queued'>;

// It has no deadline of its own; after so many failed polls in a row it gives its slot back.
const failedPollsMax = 3;

// Polls in a row, each with a newer heartbeat, after which one that comes late is taken for one in time.
const latePollsMax = 4;

// Polls of a collector that someone else upgraded and that is not back yet: three minutes where an upgrade takes five.
const returnPollsMax = 6;

const polls: PollLimit<'queued'> = {
  isTimeUp: ({ tally }) => tally.failedPolls >= failedPollsMax,
  // Nothing runs, and one that is deferred is polled again.
  unansweredForMs: 0,
  giveUp: (upgrade, { at, failure }, context) => {
    const reason = { kind: 'unpollable', detail: describeFailure(failure) } as const;
    return defer(upgrade, 'notAlive', { at, reason }, context);
  },
};

/** Has a slot: its create leaves once the collector was seen eligible a moment ago. */
export const queued: StateRules<'queued'> = {
  nextStep,
  polls,
  rows: { isWatched: ({ progress }) => progress.heartbeatAfter !== undefined, judge: judgeRow },
  on: {
    putBack,
    claimed: (upgrade, fact, context) => defer(upgrade, 'inUpgrade', fact, context),
    // From here until its answer is stored the create is in doubt, and whoever gets the job next may settle it.
    createSent: (upgrade, { at }) =>
      to(upgrade, { state: 'starting', sentAt: at, dueAt: at, startBy: upgrade.progress.startBy }),
    created: (upgrade, { at, taskId }, context) => run(upgrade, { taskId, startedAt: at }, context),
    buildsSeen: afterBuildsSeen,
    collectorSeen: afterCollectorSeen,
    unchanged: afterUnchanged,
    pollFailed: (upgrade, fact, context) => afterPollFailed(upgrade, fact, context, polls),
    withdrawn: withdraw,
    abandoned: withdraw,
    ...ignore('admitted', 'createNotSent', 'createFailed', 'taskSeen', 'changeHinted'),
    ...ignore('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

function nextStep({ progress }: Queued, now: EpochMs, trustedSince: EpochMs): Step {
  const { refused, startBy, freshAt, heartbeatAfter } = progress;
  // Before its window is judged: what was refused is known by now, and is not asked again later.
  if (refused?.isObserved) return { do: 'askBuilds' };
  if (refused !== undefined) return { do: 'pollCollector', why: 'refused', askUpgradable: false };
  if (startBy !== null && now > startBy) return { do: 'giveBack', reason: { kind: 'windowCloses' } };
  // Until then a create that Redis has lost may still arrive, and no poll before shows it (P1).
  if (now < trustedSince) return { do: 'wait', until: trustedSince };
  // What was seen in the future was seen by another clock, or by ours before it was set back: who knows when.
  const isFresh = Math.abs(now - freshAt) <= freshForMs;
  if (isFresh && freshAt >= trustedSince && heartbeatAfter === undefined) return { do: 'start' };
  // Its upgrade may be running, which a collector does not show until it restarts: the upgradable list does.
  return { do: 'pollCollector', why: 'recheck', askUpgradable: freshAt < trustedSince };
}

function judgeRow(upgrade: Queued, row: InventoryRow, { trustedSince }: RowContext): RowVerdict {
  const { heartbeatAfter, freshAt } = upgrade.progress;
  // One whose record may be older than a lost create is looked up on the list, which a row does not show (P1).
  if (heartbeatAfter === undefined || freshAt < trustedSince) return 'none';
  const isAtTarget = isSameBuild(row.build, upgrade.identity.toBuild);
  if (isAtTarget || showsEligible(upgrade, row, heartbeatAfter)) return 'collectorSeen';
  // With its next heartbeat the next page shows it eligible; one that falls silent is polled.
  return assessHeartbeat(row.lastSeenAlive, row.serviceAt) === 'heard' ? 'unchanged' : 'none';
}

/** Whether a row of the inventory is as good as the poll before a create: newer than what is known, and eligible. */
export function isPollReplaced(upgrade: Upgrade, row: RowObservation): boolean {
  const { progress, tally } = upgrade;
  if (progress.state !== 'queued' || progress.refused !== undefined || tally.createsInDoubt > 0) return false;
  // 0: it has to be polled.
  const isNewer = progress.freshAt > 0 && row.at > progress.freshAt;
  return isNewer && showsEligible(upgrade, row, progress.heartbeatAfter);
}

function afterUnchanged(upgrade: Queued, { at, until }: FactOf<'unchanged'>): Upgrade {
  const { state, freshAt, heartbeatAfter, startBy } = upgrade.progress;
  const dueAt = putOff(upgrade.progress.dueAt, at, until);
  if (dueAt === upgrade.progress.dueAt || heartbeatAfter === undefined) return upgrade;
  return to(upgrade, { state, dueAt, freshAt, heartbeatAfter, startBy });
}

function afterBuildsSeen(upgrade: Queued, { at, stillOffered }: FactOf<'buildsSeen'>): Upgrade {
  const { refused } = upgrade.progress;
  if (refused?.isObserved !== true) return upgrade;
  if (!stillOffered) return putBack(upgrade, { at, reason: { kind: 'buildNotOffered' } });
  return fail(upgrade, 'permanent', at, { kind: 'buildRefused', detail: refused.detail });
}

function afterCollectorSeen(upgrade: Queued, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { refused } = upgrade.progress;
  const isAtTarget = isSameBuild(seen.build, upgrade.identity.toBuild);
  if (refused !== undefined && isAtTarget) return settleOnBuild(upgrade, seen, context);
  if (refused !== undefined) return settleRefusal(upgrade, refused, seen.at, context);
  return isAtTarget ? verifyLate(upgrade, seen, context) : judgeEligible(upgrade, seen, context);
}

/**
 * Its create was refused, and it shows the build since (DESIGN §4, What a failure means). A create of ours from before
 * may have brought the build; otherwise someone else did, and nothing is left to do.
 */
function settleOnBuild(upgrade: Queued, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { attempts, createsInDoubt, failedPolls } = upgrade.tally;
  if (attempts > 0 || createsInDoubt > 0) return verifyLate(upgrade, seen, context);
  // Its soak observes only a collector that was heard from on the build, and this one may still restart.
  const mayReturn = mayRestart(seen);
  if (mayReturn && failedPolls < returnPollsMax) return pollAgain(upgrade, seen.at, context);
  const reason = { kind: 'onBuild' } as const;
  if (mayReturn) return end(upgrade, 'withdrawn', seen.at, reason);
  const ended = { state: 'withdrawn', endedAt: seen.at, reason, weight: 0, lost: false } as const;
  return to(upgrade, { ...ended, onBuild: true });
}

/** Its create was refused, and it runs another build since. */
function settleRefusal(
  upgrade: Queued,
  refused: RefusedCreate,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const { freshAt, startBy } = upgrade.progress;
  // It is there all the same, so the service contradicts itself: that spends an attempt (P13).
  if (refused.of === 'collector')
    return retryOrFail(
      spendAttempt(upgrade),
      { at, reason: { kind: 'service', detail: refused.detail } },
      context,
    );
  const observed: RefusedCreate = { ...refused, isObserved: true };
  return to(upgrade, { state: 'queued', dueAt: at, freshAt, startBy, refused: observed }, { failedPolls: 0 });
}

/** Polled before a create: a collector that is silent may be restarting from an upgrade of someone else's (P1). */
function judgeEligible(upgrade: Queued, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { at, lastSeenAlive, serviceAt, upgradable } = seen;
  const postpone = (condition: 'notAlive' | 'inUpgrade', reason: UpgradeReason) =>
    defer(upgrade, condition, { at, reason }, context);
  if (!seen.alive) return postpone('notAlive', { kind: 'notAlive' });
  const heartbeat = assessHeartbeat(lastSeenAlive, serviceAt);
  if (heartbeat === 'silent') return postpone('notAlive', { kind: 'silent' });
  if (upgradable === false && isListed(upgrade)) return postpone('inUpgrade', { kind: 'notUpgradable' });
  const { startBy, heartbeatAfter: waitedFor } = upgrade.progress;
  const heartbeatAfter = upgradable === true ? seen.offeredAt : waitedFor;
  const isHeard =
    heartbeatAfter === undefined || (lastSeenAlive ?? Number.POSITIVE_INFINITY) > heartbeatAfter;
  // Without a time to compare with, one that restarts looks like any other: only newer heartbeats distinguish them.
  const isUnjudged = serviceAt === null && lastSeenAlive !== null;
  const isInTime = isHeard && heartbeat !== 'late' && !isUnjudged;
  const late = countLate(upgrade.progress, lastSeenAlive ?? 0);
  if (isInTime || late.polls >= latePollsMax)
    return to(upgrade, { state: 'queued', dueAt: at, freshAt: at, startBy }, { failedPolls: 0 });
  if (heartbeatAfter === undefined)
    return pollAgain({ ...upgrade, progress: { ...upgrade.progress, late } }, at, context);
  // It was in no upgrade then, which need not be asked again: what is missing is its heartbeat.
  const { failedPolls } = upgrade.tally;
  const againAt = nextAgainAt(at, failedPolls, context.policy);
  const dueAt = Math.max(againAt, nextHeartbeatAt(at, context.policy));
  return to(
    upgrade,
    { state: 'queued', dueAt, freshAt: at, heartbeatAfter, startBy, late },
    { failedPolls: failedPolls + 1 },
  );
}

/**
 * Whether the service's list of upgradable collectors leaves it out for a reason. Whether it ever has one that is above the
 * build is not specified (collector-api.md §4.3): where the plan's reading had it, it has; else nothing is known.
 */
function isListed({ identity: { fromBuild, toBuild, offeredAt } }: Queued): boolean {
  return offeredAt !== undefined || (compareBuildVersions(fromBuild, toBuild) ?? 0) <= 0;
}

/** One that restarts shows no newer heartbeat, and is silent soon; with newer ones it is the service that lags. */
function countLate(
  { late }: ProgressIn<'queued'>,
  heartbeatAt: EpochMs,
): NonNullable<ProgressIn<'queued'>['late']> {
  if (late === undefined) return { polls: 1, heartbeatAt };
  return heartbeatAt > late.heartbeatAt ? { polls: late.polls + 1, heartbeatAt } : late;
}
