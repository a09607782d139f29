import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import {
  isEnd,
  isFailed,
  isIn,
  isNotStarted,
  isOnBuild,
  type Upgrade,
  type UpgradeIn,
} from '../model/upgrade.ts';
import { noteAttempts } from './attempts.ts';
import { afterCollectorSeen, showsEligible } from './collector-observations.ts';
import type { UpgradeFact } from './facts.ts';
import { afterPollFailed } from './failed-polls.ts';
import { classifyCreateFailure, describeFailure, refusalOf, type ServiceFailure } from './failure-classes.ts';
import { afterChangeHinted, afterQuiet } from './inventory-rows.ts';
import { firstTaskPollAt, nextAgainAt, nextHeartbeatAt, nextTaskPollAt } from './poll-schedule.ts';
import {
  adopt,
  again,
  defer,
  type EvolveContext,
  end,
  fail,
  lose,
  putBack,
  retryOrFail,
  to,
  verify,
} from './upgrade-changes.ts';

/**
 * The only way an upgrade changes (DESIGN §3). A fact that does not fit the state is late news: it returns the very
 * same record, so that a repeated or overtaken step changes nothing.
 */
export function evolve(upgrade: Upgrade, fact: UpgradeFact, context: EvolveContext): Upgrade {
  const next = change(upgrade, fact, context);
  return next === upgrade ? upgrade : noteAttempts(upgrade, next, fact.at);
}

function change(upgrade: Upgrade, fact: UpgradeFact, context: EvolveContext): Upgrade {
  switch (fact.kind) {
    case 'admitted':
      return isIn(upgrade, 'pending', 'retrying') ? afterAdmitted(upgrade, fact, context) : upgrade;
    case 'putBack':
      return upgrade.progress.state === 'queued' ? putBack(upgrade, fact.at, fact.reason) : upgrade;
    case 'claimed':
      return upgrade.progress.state === 'queued'
        ? defer(upgrade, 'inUpgrade', fact.at, fact.reason, context)
        : upgrade;
    case 'createSent':
      // From here until its answer is stored the create is in doubt, and whoever gets the job next may settle it.
      if (upgrade.progress.state !== 'queued') return upgrade;
      return to(upgrade, {
        state: 'starting',
        sentAt: fact.at,
        dueAt: fact.at,
        startBy: upgrade.progress.startBy,
      });
    case 'createNotSent':
      if (upgrade.progress.state !== 'starting') return upgrade;
      return to(upgrade, { state: 'queued', dueAt: fact.at, freshAt: 0, startBy: upgrade.progress.startBy });
    case 'created':
      return afterCreated(upgrade, fact.taskId, fact.at, context);
    case 'createFailed':
      return isIn(upgrade, 'starting') ? afterCreateFailed(upgrade, fact.failure, fact.at, context) : upgrade;
    case 'buildsSeen':
      if (upgrade.progress.state !== 'queued' || upgrade.progress.refused?.isObserved !== true)
        return upgrade;
      if (!fact.stillOffered) return putBack(upgrade, fact.at, 'the target build is no longer offered');
      return fail(
        upgrade,
        'permanent',
        fact.at,
        `the service refuses this build for this collector: ${upgrade.progress.refused.reason}`,
      );
    case 'taskSeen':
      if (!isIn(upgrade, 'upgrading') || upgrade.progress.ending !== null) return upgrade;
      return afterTaskSeen(upgrade, fact, context);
    case 'collectorSeen':
      return afterCollectorSeen(upgrade, fact, fact.at, context);
    case 'changeHinted':
      return afterChangeHinted(upgrade, fact.at);
    case 'quiet':
      return afterQuiet(upgrade, fact, context.policy);
    case 'pollFailed':
      return afterPollFailed(upgrade, fact, fact.at, context);
    case 'withdrawn':
      return isNotStarted(upgrade.progress.state) ? end(upgrade, 'withdrawn', fact.at, fact.reason) : upgrade;
    case 'abandoned':
      if (isEnd(upgrade.progress.state)) return upgrade;
      return isNotStarted(upgrade.progress.state)
        ? end(upgrade, 'withdrawn', fact.at, fact.reason)
        : fail(upgrade, 'unconfirmed', fact.at, fact.reason);
    case 'regressed':
      // Not of our doing: what it showed of the build counts no more, and it is no failure.
      if (isOnBuild(upgrade))
        return end(upgrade, 'withdrawn', fact.at, `ran the build already, but ${fact.reason}`);
      if (upgrade.progress.state !== 'succeeded') return upgrade;
      if (fact.lost) return lose(upgrade, fact.at, fact.reason, context.policy);
      return fail(upgrade, 'unconfirmed', fact.at, fact.reason);
    case 'departed':
      return upgrade.progress.state === 'succeeded' || isOnBuild(upgrade)
        ? end(upgrade, 'withdrawn', fact.at, fact.reason)
        : upgrade;
    case 'retryAsked':
      return isFailed(upgrade.progress.state)
        ? to(upgrade, { state: 'retrying', dueAt: fact.at, reason: fact.reason }, { failedPolls: 0 })
        : upgrade;
    case 'rejoined':
      if (upgrade.progress.state !== 'withdrawn') return upgrade;
      // Whatever the plan's reading showed of it is old by now.
      return to(
        { ...upgrade, identity: { ...upgrade.identity, eligibleAt: 0 } },
        { state: 'pending', reason: fact.reason },
        { failedPolls: 0 },
      );
    case 'rolledBack':
      return upgrade.progress.state === 'succeeded' || isFailed(upgrade.progress.state)
        ? end(upgrade, 'rolledBack', fact.at, fact.reason)
        : upgrade;
    default:
      return assertNever(fact);
  }
}

function afterAdmitted(
  upgrade: UpgradeIn<'pending' | 'retrying'>,
  { at, startBy, seen, changes }: Extract<UpgradeFact, { kind: 'admitted' }>,
  { policy }: EvolveContext,
): Upgrade {
  const { offeredAt, eligibleAt } = upgrade.identity;
  const isUntouched = upgrade.progress.state === 'pending' && upgrade.tally.createsInDoubt === 0;
  const turn = changes === undefined ? {} : { turnChanges: changes };
  if (isUntouched && seen !== undefined && showsEligible(upgrade, seen, offeredAt))
    return to(upgrade, { state: 'queued', dueAt: at, freshAt: seen.at, startBy }, turn);
  // A retry's collector has been through something since it was last looked at, so it is looked at anew (P1).
  if (upgrade.progress.state === 'retrying' || offeredAt === undefined) {
    const freshAt = upgrade.progress.state === 'retrying' ? 0 : eligibleAt;
    return to(upgrade, { state: 'queued', dueAt: at, freshAt, startBy }, turn);
  }
  // Of one that is admitted right after its plan was made a newer heartbeat is not to be seen yet.
  const heardAt = nextHeartbeatAt(eligibleAt, policy);
  const dueAt = heardAt > at ? Math.min(heardAt, nextHeartbeatAt(at, policy)) : at;
  return to(
    upgrade,
    { state: 'queued', dueAt, freshAt: eligibleAt, heartbeatAfter: offeredAt, startBy },
    turn,
  );
}

function afterCreated(upgrade: Upgrade, taskId: string, at: EpochMs, context: EvolveContext): Upgrade {
  const { policy } = context;
  // The answer may come after another daemon has taken the create for lost: it still names our task.
  if (upgrade.progress.state === 'upgrading' && upgrade.progress.taskId === null) {
    return to(upgrade, { ...upgrade.progress, taskId }, { attempts: upgrade.tally.attempts + 1 });
  }
  if (upgrade.progress.state !== 'starting' && upgrade.progress.state !== 'queued') return upgrade;
  return to(
    upgrade,
    {
      state: 'upgrading',
      taskId,
      startedAt: at,
      polledAt: at,
      deadlineAt: at + policy.upgrade.deadlineMs,
      dueAt: firstTaskPollAt(at, policy),
      ending: null,
    },
    {
      attempts: upgrade.tally.attempts + 1,
      failedPolls: 0,
      firstStartedAt: upgrade.tally.firstStartedAt ?? at,
    },
  );
}

function afterCreateFailed(
  upgrade: UpgradeIn<'starting'>,
  failure: ServiceFailure,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const failureClass = classifyCreateFailure(failure);
  const reason = describeFailure(failure);
  switch (failureClass) {
    case 'again':
      // Certainly not acted on: it keeps its slot, and spends no attempt.
      return to(
        upgrade,
        {
          state: 'queued',
          dueAt: nextAgainAt(at, upgrade.tally.failedPolls, context.policy),
          // It waits, maybe again and again: by then the collector has to be looked at anew (P1).
          freshAt: 0,
          startBy: upgrade.progress.startBy,
        },
        { failedPolls: upgrade.tally.failedPolls + 1 },
      );
    case 'look':
      return again(upgrade, at, context);
    case 'observe':
      return to(upgrade, {
        state: 'queued',
        dueAt: at,
        freshAt: 0,
        startBy: upgrade.progress.startBy,
        refused: { of: refusalOf(failure) ?? 'collector', reason },
      });
    case 'hold':
      return putBack(upgrade, at, reason);
    case 'defer':
      return defer(upgrade, 'notAlive', at, 'the collector is not alive', context);
    case 'adopt':
      // An earlier create of ours got no answer: the running upgrade is most likely ours, and keeps its slot (P2).
      if (upgrade.tally.createsInDoubt > 0) return adopt(upgrade, at, context);
      return defer(upgrade, 'inUpgrade', at, 'the collector is being upgraded by someone else', context);
    case 'permanent':
      return fail(upgrade, 'permanent', at, reason);
    case 'retry':
      return retryOrFail(
        { ...upgrade, tally: { ...upgrade.tally, attempts: upgrade.tally.attempts + 1 } },
        reason,
        at,
        context,
      );
    default:
      return assertNever(failureClass);
  }
}

function afterTaskSeen(
  upgrade: UpgradeIn<'upgrading'>,
  fact: Extract<UpgradeFact, { kind: 'taskSeen' }>,
  context: EvolveContext,
): Upgrade {
  const { at } = fact;
  if (fact.status === 2) return verify(upgrade, { at, serviceAt: fact.serviceAt, late: false }, context);
  if (fact.status === 3) {
    const ending = {
      kind: 'failed',
      message: fact.message,
      seenDelayMs: at - upgrade.progress.polledAt,
    } as const;
    return to(upgrade, { ...upgrade.progress, dueAt: at, ending }, { failedPolls: 0 });
  }
  // 0, 1, 6, and every value nobody has told us about (P13): still on its way.
  if (at >= upgrade.progress.deadlineAt) {
    return to(upgrade, { ...upgrade.progress, dueAt: at, ending: { kind: 'deadline' } }, { failedPolls: 0 });
  }
  return to(
    upgrade,
    { ...upgrade.progress, polledAt: at, dueAt: nextTaskPollAt({ ...upgrade.progress, at }, context.policy) },
    { failedPolls: 0 },
  );
}
