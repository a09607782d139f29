import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { PolledState, Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { FactOf } from './facts.ts';
import { classifyPollFailure, describeFailure } from './failure-classes.ts';
import type { PollLimit } from './state-rules.ts';
import { type EvolveContext, endUpgrade, failUpgrade, pollAgain, withTally } from './transitions.ts';

// How long after its deadline an upgrade may stay without answers while others get them: enough to repair the service.
export const unansweredForMs: DurationMs = 86_400_000;

/**
 * Repeats a failed poll, but not forever, because the slot stays taken and the rollout can't end. A refused poll ends the
 * upgrade once its time is up. A poll without any answer ends it a day later, and only if the service answered other
 * requests in the meantime: an outage is no evidence about a single upgrade (P13).
 */
export function afterPollFailed<State extends PolledState>(
  upgrade: UpgradeIn<State>,
  poll: FactOf<'pollFailed'>,
  context: EvolveContext,
  limit: PollLimit<State>,
): Upgrade {
  const { of: polled, failure, at } = poll;
  const isUnknown = classifyPollFailure(failure) === 'gone' && polled !== 'builds';
  if (isUnknown && polled === 'task') return upgrade;
  if (isUnknown && poll.isGone === true) return endUpgrade(upgrade, 'withdrawn', at, { kind: 'gone' });
  const again = pollAgain(upgrade, at, context);
  if (!limit.isTimeUp(upgrade, at, context.policy)) return again;
  if (failure.kind === 'refused') return limit.giveUp(upgrade, poll, context);
  if (failure.kind !== 'unavailable' && !isUnknown)
    return keepUnanswered(again, upgrade.tally.unansweredSince);
  // A 404 that the inventory does not confirm shows that the service answers.
  if (poll.othersAnswered !== true && !isUnknown) return again;
  const unansweredSince = upgrade.tally.unansweredSince ?? at;
  return at - unansweredSince >= limit.unansweredForMs
    ? limit.giveUp(upgrade, poll, context)
    : keepUnanswered(again, unansweredSince);
}

/** No poll could show the end of the task. */
export function failUnseen(
  upgrade: Upgrade,
  { at, failure }: FactOf<'pollFailed'>,
  { policy }: EvolveContext,
): Upgrade {
  const withinMs = policy.upgrade.deadlineMs;
  return failUpgrade(upgrade, 'timedOut', at, {
    kind: 'endUnseen',
    withinMs,
    detail: describeFailure(failure),
  });
}

function keepUnanswered(upgrade: Upgrade, unansweredSince: EpochMs | undefined): Upgrade {
  return unansweredSince === undefined ? upgrade : withTally(upgrade, { unansweredSince });
}
