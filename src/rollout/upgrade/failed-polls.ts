import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import { isIn, type Upgrade, type UpgradeIn } from '../model/upgrade.ts';
import { classifyPollFailure, describeFailure, type ServiceFailure } from './failure-classes.ts';
import { again, defer, type EvolveContext, end, fail, to } from './upgrade-changes.ts';

/** What a look that brought nothing means. */
export interface FailedPoll {
  readonly of: 'task' | 'collector' | 'builds';
  readonly failure: ServiceFailure;
  /** Whether the service answered another question right after; absent where that changes nothing. */
  readonly othersAnswered?: boolean;
  /** For a 404 of a collector: whether a plausible inventory, read after it, lacks the collector too. */
  readonly isGone?: boolean;
}

type Looked = UpgradeIn<'queued' | 'starting' | 'upgrading' | 'verifying' | 'deferred'>;

// A collector that waits for its create has no deadline of its own; after so many looks in a row it gives its slot back.
const queuedMissesMax = 3;

// One that alone gets no answer is given a day beyond its time: whoever looks after the service has it repaired by then.
const unheardForMs: DurationMs = 86_400_000;

/**
 * A failed look is no news, so it is repeated; but not for ever, since its slot stays taken, and its rollout can't end.
 * One that is refused ends when the time is up in which it was to show something. One without any answer ends a day
 * after that, and only when the service answered others all the while: one that is down says nothing about anybody (P13).
 */
export function afterPollFailed(
  upgrade: Upgrade,
  look: FailedPoll,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  if (!isLookedAt(upgrade)) return upgrade;
  const { of, failure } = look;
  const isUnknown = classifyPollFailure(failure) === 'gone' && of !== 'builds';
  if (isUnknown && of === 'collector' && look.isGone === true)
    return end(upgrade, 'withdrawn', at, 'the collector is gone from the service');
  if (isUnknown && of === 'task') {
    if (upgrade.progress.state !== 'upgrading') return upgrade;
    return to(upgrade, { ...upgrade.progress, dueAt: at, ending: { kind: 'missing' } }, { failedPolls: 0 });
  }
  if (!isTimeUp(upgrade, at, context.policy)) return again(upgrade, at, context);
  if (failure.kind === 'refused') return giveUp(upgrade, look, at, context);
  if (failure.kind !== 'unavailable' && !isUnknown)
    return keepUnheard(again(upgrade, at, context), upgrade.tally.unansweredSince);
  // A 404 that the inventory does not bear out is an answer, though it says nothing.
  if (look.othersAnswered !== true && !isUnknown) return again(upgrade, at, context);
  const unansweredSince = upgrade.tally.unansweredSince ?? at;
  // A slot in `queued` is given back at once: nothing runs, and who is deferred is looked at again.
  if (upgrade.progress.state === 'queued' || at - unansweredSince >= unheardForMs)
    return giveUp(upgrade, look, at, context);
  return keepUnheard(again(upgrade, at, context), unansweredSince);
}

/** True when it matters whether the service answers others, while it gives no answer about this one. */
export function isQuestionable(
  upgrade: Upgrade,
  failure: ServiceFailure,
  at: EpochMs,
  policy: Policy,
): boolean {
  return failure.kind === 'unavailable' && isLookedAt(upgrade) && isTimeUp(upgrade, at, policy);
}

function keepUnheard(upgrade: Upgrade, unansweredSince: EpochMs | undefined): Upgrade {
  return unansweredSince === undefined
    ? upgrade
    : { ...upgrade, tally: { ...upgrade.tally, unansweredSince } };
}

function isLookedAt(upgrade: Upgrade): upgrade is Looked {
  return isIn(upgrade, 'queued', 'starting', 'upgrading', 'verifying', 'deferred');
}

/** Whether it should have shown by now what it was looked at for. */
function isTimeUp(upgrade: Looked, at: EpochMs, policy: Policy): boolean {
  switch (upgrade.progress.state) {
    case 'queued':
      return upgrade.tally.failedPolls >= queuedMissesMax;
    case 'starting':
      return at >= upgrade.progress.sentAt + policy.upgrade.deadlineMs;
    case 'upgrading':
      return at >= upgrade.progress.deadlineAt;
    case 'verifying':
      return at >= upgrade.progress.verifyBy;
    case 'deferred':
      return at >= upgrade.progress.since + policy.defer.upToMs;
    default:
      return assertNever(upgrade.progress);
  }
}

function giveUp(upgrade: Looked, look: FailedPoll, at: EpochMs, context: EvolveContext): Upgrade {
  const { deadlineMs, verifyWithinMs } = context.policy.upgrade;
  const words = describeFailure(look.failure);
  switch (upgrade.progress.state) {
    case 'queued':
      return defer(upgrade, 'notAlive', at, `the collector can't be looked at: ${words}`, context);
    case 'upgrading':
      // The collector may still tell what its task does not.
      if (look.of === 'task')
        return to(
          upgrade,
          { ...upgrade.progress, dueAt: at, ending: { kind: 'deadline' } },
          { failedPolls: 0 },
        );
      return fail(upgrade, 'timedOut', at, `no end seen within ${formatDuration(deadlineMs)}: ${words}`);
    case 'starting':
      return fail(upgrade, 'timedOut', at, `no end seen within ${formatDuration(deadlineMs)}: ${words}`);
    case 'verifying':
      // Nothing says that it is lost, so it weighs as one.
      return fail(upgrade, 'unconfirmed', at, `not seen within ${formatDuration(verifyWithinMs)}: ${words}`);
    case 'deferred':
      return end(
        upgrade,
        'withdrawn',
        at,
        `${upgrade.progress.reason}; the collector can't be looked at: ${words}`,
      );
    default:
      return assertNever(upgrade.progress);
  }
}
