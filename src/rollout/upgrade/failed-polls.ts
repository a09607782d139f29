import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { PolledState, Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { FactOf } from './facts.ts';
import { classifyPollFailure } from './failure-classes.ts';
import type { PollLimit } from './state-rules.ts';
import { count, type EvolveContext, end, pollAgain } from './transitions.ts';

// Where only the polls of one upgrade get no answer, it has a day beyond its time: enough to repair the service.
export const unansweredForMs: DurationMs = 86_400_000;

/**
 * A failed poll shows nothing, so it is repeated; but not for ever, since the slot stays taken, and the rollout cannot
 * end. A poll that is refused ends the upgrade when its time is up. One without any answer ends it a day after that, and
 * only when the service answered others all the while: a service that is down says nothing about anybody (P13).
 */
export function afterPollFailed<State extends PolledState>(
  upgrade: UpgradeIn<State>,
  poll: FactOf<'pollFailed'>,
  context: EvolveContext,
  limit: PollLimit<State>,
): Upgrade {
  const { of, failure, at } = poll;
  const isUnknown = classifyPollFailure(failure) === 'gone' && of !== 'builds';
  if (isUnknown && of === 'task') return upgrade;
  if (isUnknown && poll.isGone === true) return end(upgrade, 'withdrawn', at, { kind: 'gone' });
  const again = pollAgain(upgrade, at, context);
  if (!limit.isTimeUp(upgrade, at, context.policy)) return again;
  if (failure.kind === 'refused') return limit.giveUp(upgrade, poll, context);
  if (failure.kind !== 'unavailable' && !isUnknown)
    return keepUnanswered(again, upgrade.tally.unansweredSince);
  // A 404 that the inventory does not confirm is an answer, though it says nothing.
  if (poll.othersAnswered !== true && !isUnknown) return again;
  const unansweredSince = upgrade.tally.unansweredSince ?? at;
  return at - unansweredSince >= limit.unansweredForMs
    ? limit.giveUp(upgrade, poll, context)
    : keepUnanswered(again, unansweredSince);
}

function keepUnanswered(upgrade: Upgrade, unansweredSince: EpochMs | undefined): Upgrade {
  return unansweredSince === undefined ? upgrade : count(upgrade, { unansweredSince });
}
