import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { CollectorSeen, FactOf } from './facts.ts';
import { afterPollFailed, failUnseen, unansweredForMs } from './failed-polls.ts';
import { classifyCreateFailure, describeFailure, refusedOf } from './failure-classes.ts';
import { mayRestart, restartSeenAt } from './heartbeats.ts';
import { nextAgainAt } from './poll-schedule.ts';
import { ignoreFacts, type PollLimit, type StateRules } from './state-rules.ts';
import {
  abandonUpgrade,
  adoptTask,
  beginTask,
  deferUpgrade,
  type EvolveContext,
  enterState,
  failUpgrade,
  noteLeftOut,
  pollAgain,
  putBack,
  retryOrFail,
  spendAttempt,
  verifyLate,
  withTally,
} from './transitions.ts';

type Starting = UpgradeIn<'starting'>;

// After this many creates without an answer, the cause is probably this collector.
const createsInDoubtMax = 10;

const polls: PollLimit<'starting'> = {
  isTimeUp: ({ progress }, at, { upgrade }) => at >= progress.sentAt + upgrade.deadlineMs,
  unansweredForMs,
  giveUp: failUnseen,
};

/** The create was sent, and is in doubt until an answer or a poll settles it. The upgrade keeps its slot. */
export const starting: StateRules<'starting'> = {
  nextStep: () => ({ do: 'pollCollector', why: 'settle', askUpgradable: true }),
  polls,
  on: {
    createNotSent: (upgrade, { at }) => queueAgain(upgrade, { dueAt: at }),
    created: (upgrade, { at, taskId }, context) => beginTask(upgrade, { taskId, startedAt: at }, context),
    createFailed: afterCreateFailed,
    collectorSeen: afterCollectorSeen,
    pollFailed: (upgrade, fact, context) => afterPollFailed(upgrade, fact, context, polls),
    abandoned: abandonUpgrade,
    ...ignoreFacts('admitted', 'putBack', 'claimed', 'createSent', 'buildsSeen'),
    ...ignoreFacts('taskSeen', 'changeHinted', 'unchanged', 'withdrawn'),
    ...ignoreFacts('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

/** Returns the upgrade to the queue with its slot. The collector has to be polled again before the next create (P1). */
function queueAgain(
  upgrade: Starting,
  waiting: Pick<UpgradeIn<'queued'>['progress'], 'dueAt' | 'refused'>,
  changes: Partial<Upgrade['tally']> = {},
): Upgrade {
  const { startBy } = upgrade.progress;
  return enterState(upgrade, { state: 'queued', freshAt: 0, startBy, ...waiting }, changes);
}

function afterCreateFailed(
  upgrade: Starting,
  { at, failure }: FactOf<'createFailed'>,
  context: EvolveContext,
): Upgrade {
  const { failedPolls, createsInDoubt } = upgrade.tally;
  const detail = describeFailure(failure);
  const reason = { kind: 'service', detail } as const;
  const failureClass = classifyCreateFailure(failure);
  switch (failureClass) {
    case 'again':
      // The service did not act on it: the upgrade keeps its slot and spends no attempt.
      return queueAgain(
        upgrade,
        { dueAt: nextAgainAt(at, failedPolls, context.policy) },
        { failedPolls: failedPolls + 1 },
      );
    case 'inDoubt':
      return pollOnceArrived(upgrade, context);
    case 'observe':
      return queueAgain(upgrade, { dueAt: at, refused: { of: refusedOf(failure) ?? 'collector', detail } });
    case 'hold':
      return putBack(upgrade, { at, reason });
    case 'defer':
      return deferUpgrade(upgrade, 'notAlive', { at, reason: { kind: 'notAlive' } }, context);
    case 'adopt': {
      // An earlier create of ours got no answer, so the running upgrade is probably ours and keeps its slot (P2).
      if (createsInDoubt > 0) return adoptTask(upgrade, at, context);
      return deferUpgrade(upgrade, 'inUpgrade', { at, reason: { kind: 'upgradedElsewhere' } }, context);
    }
    case 'permanent':
      return failUpgrade(upgrade, 'permanent', at, reason);
    case 'retry':
      return retryOrFail(spendAttempt(upgrade), { at, reason }, context);
    default:
      return assertNever(failureClass);
  }
}

/** The create arrives by then, or never. An earlier poll that shows no upgrade settles nothing, and costs a list, too. */
function pollOnceArrived(upgrade: Starting, { answerWithinMs }: EvolveContext): Upgrade {
  const { progress, tally } = upgrade;
  const dueAt = progress.sentAt + answerWithinMs;
  return enterState(upgrade, { ...progress, dueAt }, { failedPolls: tally.failedPolls + 1 });
}

/** Settles a create in doubt by the collector's state: upgraded, running, or the create never arrived (P1). */
function afterCollectorSeen(upgrade: Starting, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { at } = seen;
  const { sentAt } = upgrade.progress;
  if (isSameBuild(seen.build, upgrade.identity.toBuild)) return verifyLate(upgrade, seen, context);
  const before = upgrade.tally.createsInDoubt;
  const createsInDoubt = before + 1;
  if (seen.upgradable !== true)
    return noteLeftOut(adoptTask(withTally(upgrade, { createsInDoubt }), sentAt, context), seen);
  // Not in an upgrade now, but the create may still arrive, or the collector may be restarting after it.
  const isRestarting = mayRestart(seen) && at < sentAt + context.policy.upgrade.deadlineMs;
  if (at < sentAt + context.answerWithinMs) return pollOnceArrived(upgrade, context);
  if (isRestarting) return pollAgain(upgrade, at, context);
  if (createsInDoubt >= createsInDoubtMax) {
    return failUpgrade(upgrade, 'retry', at, { kind: 'createsUnanswered', creates: createsInDoubtMax });
  }
  // The heartbeat may be the last one before a restart, so the collector is polled once more before the next create.
  return queueAgain(
    upgrade,
    { dueAt: restartSeenAt(at, before, context) },
    { createsInDoubt, failedPolls: 0, inDoubtUntil: sentAt + context.policy.upgrade.deadlineMs },
  );
}
