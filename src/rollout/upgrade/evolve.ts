import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import { isEnd, isFailed, isNotStarted, isOnBuild, type Upgrade } from '../model/upgrade.ts';
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
  type In,
  lose,
  progress,
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
      if (upgrade.state !== 'pending' && upgrade.state !== 'retrying') return upgrade;
      return afterAdmitted(upgrade, fact, context);
    case 'putBack':
      return upgrade.state === 'queued' ? putBack(upgrade, fact.at, fact.reason) : upgrade;
    case 'claimed':
      return upgrade.state === 'queued'
        ? defer(upgrade, 'inUpgrade', fact.at, fact.reason, context)
        : upgrade;
    case 'createSent':
      // From here until its answer is stored the create is in doubt, and whoever gets the job next may settle it.
      if (upgrade.state !== 'queued') return upgrade;
      return to(upgrade, {
        state: 'starting',
        sentAt: fact.at,
        dueAt: fact.at,
        startBy: upgrade.startBy,
      });
    case 'createNotSent':
      if (upgrade.state !== 'starting') return upgrade;
      return to(upgrade, { state: 'queued', dueAt: fact.at, freshAt: 0, startBy: upgrade.startBy });
    case 'created':
      return afterCreated(upgrade, fact.taskId, fact.at, context);
    case 'createFailed':
      return upgrade.state === 'starting'
        ? afterCreateFailed(upgrade, fact.failure, fact.at, context)
        : upgrade;
    case 'buildsSeen':
      if (upgrade.state !== 'queued' || upgrade.refused?.isObserved !== true) return upgrade;
      if (!fact.stillOffered) return putBack(upgrade, fact.at, 'the target build is no longer offered');
      return fail(
        upgrade,
        'permanent',
        fact.at,
        `the service refuses this build for this collector: ${upgrade.refused.reason}`,
      );
    case 'taskSeen':
      if (upgrade.state !== 'upgrading' || upgrade.ending !== null) return upgrade;
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
      return isNotStarted(upgrade) ? end(upgrade, 'withdrawn', fact.at, fact.reason) : upgrade;
    case 'abandoned':
      if (isEnd(upgrade.state)) return upgrade;
      return isNotStarted(upgrade)
        ? end(upgrade, 'withdrawn', fact.at, fact.reason)
        : fail(upgrade, 'unconfirmed', fact.at, fact.reason);
    case 'regressed':
      // Not of our doing: what it showed of the build counts no more, and it is no failure.
      if (isOnBuild(upgrade))
        return end(upgrade, 'withdrawn', fact.at, `ran the build already, but ${fact.reason}`);
      if (upgrade.state !== 'succeeded') return upgrade;
      if (fact.lost) return lose(upgrade, fact.at, fact.reason, context.policy);
      return fail(upgrade, 'unconfirmed', fact.at, fact.reason);
    case 'departed':
      return upgrade.state === 'succeeded' || isOnBuild(upgrade)
        ? end(upgrade, 'withdrawn', fact.at, fact.reason)
        : upgrade;
    case 'retryAsked':
      return isFailed(upgrade.state)
        ? to(upgrade, { state: 'retrying', dueAt: fact.at, reason: fact.reason }, { failedPolls: 0 })
        : upgrade;
    case 'rejoined':
      if (upgrade.state !== 'withdrawn') return upgrade;
      // Whatever the plan's reading showed of it is old by now.
      return to({ ...upgrade, eligibleAt: 0 }, { state: 'pending', reason: fact.reason }, { failedPolls: 0 });
    case 'rolledBack':
      return upgrade.state === 'succeeded' || isFailed(upgrade.state)
        ? end(upgrade, 'rolledBack', fact.at, fact.reason)
        : upgrade;
    default:
      return assertNever(fact);
  }
}

function afterAdmitted(
  upgrade: In<'pending' | 'retrying'>,
  { at, startBy, seen, changes }: Extract<UpgradeFact, { kind: 'admitted' }>,
  { policy }: EvolveContext,
): Upgrade {
  const { offeredAt, eligibleAt } = upgrade;
  const isUntouched = upgrade.state === 'pending' && upgrade.createsInDoubt === 0;
  const turn = changes === undefined ? {} : { turnChanges: changes };
  if (isUntouched && seen !== undefined && showsEligible(upgrade, seen, offeredAt))
    return to(upgrade, { state: 'queued', dueAt: at, freshAt: seen.at, startBy }, turn);
  // A retry's collector has been through something since it was last looked at, so it is looked at anew (P1).
  if (upgrade.state === 'retrying' || offeredAt === undefined) {
    const freshAt = upgrade.state === 'retrying' ? 0 : eligibleAt;
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
  if (upgrade.state === 'upgrading' && upgrade.taskId === null) {
    return to(upgrade, { ...progress(upgrade), taskId }, { attempts: upgrade.attempts + 1 });
  }
  if (upgrade.state !== 'starting' && upgrade.state !== 'queued') return upgrade;
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
    { attempts: upgrade.attempts + 1, failedPolls: 0, firstStartedAt: upgrade.firstStartedAt ?? at },
  );
}

function afterCreateFailed(
  upgrade: In<'starting'>,
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
          dueAt: nextAgainAt(at, upgrade.failedPolls, context.policy),
          // It waits, maybe again and again: by then the collector has to be looked at anew (P1).
          freshAt: 0,
          startBy: upgrade.startBy,
        },
        { failedPolls: upgrade.failedPolls + 1 },
      );
    case 'look':
      return again(upgrade, at, context);
    case 'observe':
      return to(upgrade, {
        state: 'queued',
        dueAt: at,
        freshAt: 0,
        startBy: upgrade.startBy,
        refused: { of: refusalOf(failure) ?? 'collector', reason },
      });
    case 'hold':
      return putBack(upgrade, at, reason);
    case 'defer':
      return defer(upgrade, 'notAlive', at, 'the collector is not alive', context);
    case 'adopt':
      // An earlier create of ours got no answer: the running upgrade is most likely ours, and keeps its slot (P2).
      if (upgrade.createsInDoubt > 0) return adopt(upgrade, at, context);
      return defer(upgrade, 'inUpgrade', at, 'the collector is being upgraded by someone else', context);
    case 'permanent':
      return fail(upgrade, 'permanent', at, reason);
    case 'retry':
      return retryOrFail({ ...upgrade, attempts: upgrade.attempts + 1 }, reason, at, context);
    default:
      return assertNever(failureClass);
  }
}

function afterTaskSeen(
  upgrade: In<'upgrading'>,
  fact: Extract<UpgradeFact, { kind: 'taskSeen' }>,
  context: EvolveContext,
): Upgrade {
  const { at } = fact;
  if (fact.status === 2) return verify(upgrade, { at, serviceAt: fact.serviceAt, late: false }, context);
  if (fact.status === 3) {
    const ending = { kind: 'failed', message: fact.message, seenDelayMs: at - upgrade.polledAt } as const;
    return to(upgrade, { ...progress(upgrade), dueAt: at, ending }, { failedPolls: 0 });
  }
  // 0, 1, 6, and every value nobody has told us about (P13): still on its way.
  if (at >= upgrade.deadlineAt) {
    return to(upgrade, { ...progress(upgrade), dueAt: at, ending: { kind: 'deadline' } }, { failedPolls: 0 });
  }
  return to(
    upgrade,
    { ...progress(upgrade), polledAt: at, dueAt: nextTaskPollAt({ ...upgrade, at }, context.policy) },
    { failedPolls: 0 },
  );
}
