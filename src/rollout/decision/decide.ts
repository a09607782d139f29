import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import {
  type ImplausibleInventory,
  implausibleHoldAfterMs,
  isImplausibleTooLong,
} from '../model/assess-inventory.ts';
import {
  type BuildHold,
  type HeldFor,
  isRolloutEnd,
  type Rollout,
  type RolloutState,
  type RolloutView,
} from '../model/rollout.ts';
import { isEnd } from '../model/upgrade.ts';
import { hasExcessAcknowledged } from './acknowledged-failures.ts';
import { admit, earliest } from './admission.ts';
import { raiseAlarm } from './breaker.ts';
import type { Action, Decision } from './decision.ts';
import { assessedAt, total } from './failure-limits.ts';
import { decideForeign } from './foreign-rollout.ts';
import {
  implausibleBesideHold,
  implausibleBlocker,
  implausibleHeldWords,
  rollbackImplausibleWords,
} from './implausible-inventory.ts';
import { decideUnreadable } from './unreadable-upgrades.ts';
import { decideWave } from './wave-progress.ts';

/**
 * Decides what a rollout does now. Pure: no clock, no store; the same view and instant give the same decision.
 * It carries P2 (slots and caps), P3 (order), P7 (windows) and P14 (inconclusive is a hold), together with the guards
 * of the store, which refuse what was decided from a view that has changed since.
 */
export function decide(view: RolloutView, now: EpochMs): Decision {
  const { rollout } = view;
  if (rollout.endedAt !== null) return { actions: [], holds: [], wakeAt: null };
  const isForeign = view.account !== undefined && view.account.kind !== 'own';
  const decision = isForeign ? decideForeign(view, view.account, now) : decideByState(view, now);
  if (view.unreadable === undefined || (isForeign && !isRolloutEnd(rollout.state))) return decision;
  const { actions, hold, wakeAt } = decideUnreadable(view.unreadable, rollout, now);
  // First: what else is to be done may wait for them.
  return {
    actions: [...actions, ...decision.actions],
    holds: [...decision.holds, hold],
    wakeAt: earliest([decision.wakeAt, wakeAt]),
  };
}

// Without them nobody knows which caps a collector counts for (P2, P14).
const groupsUnreadableWords =
  "the groups of its plan in Redis can't be read: abort it; what runs is watched to its end";

function decideByState(view: RolloutView, now: EpochMs): Decision {
  const { rollout } = view;
  const deliver = deliverOverdue(view);
  switch (rollout.state) {
    case 'running':
      return decideRunning(view, deliver, now);
    case 'rollingBack':
      return decideRollingBack(view, deliver);
    case 'held':
      return rollout.heldFor === undefined
        ? rests(view, deliver, now)
        : decideHeldFor(view, rollout.heldFor, deliver, now);
    case 'planned':
    case 'awaitingApproval':
    case 'paused':
      return rests(view, deliver, now);
    case 'succeeded':
    case 'finishedWithFailures':
    case 'aborted':
    case 'rolledBack':
    case 'superseded':
      return decideEnded(view, deliver);
    default:
      return assertNever(rollout.state);
  }
}

function decideRunning(view: RolloutView, deliver: readonly Action[], now: EpochMs): Decision {
  if (view.groupsUnreadable) return stop({ do: 'hold', reason: groupsUnreadableWords }, now);
  if (hasExcessAcknowledged(view))
    return { actions: [{ do: 'lowerAcknowledged' }, ...deliver], holds: [], wakeAt: now };
  const alarm = raiseAlarm(view);
  if (alarm?.kind === 'act') return stop(alarm.action, now);
  if (alarm?.kind === 'wait') {
    const { reason } = alarm;
    const brake: Action[] = view.braked ? [] : [{ do: 'setBrake', reason }];
    const { doubt } = view.rollout;
    // One on its way may have been deleted, which is seen only once the inventory can be believed again.
    const check: Action[] = doubt === undefined ? [] : [{ do: 'checkInventory' }];
    const holds = [{ reason, until: null }, ...(doubt === undefined ? [] : [implausibleBlocker(doubt, now)])];
    return { actions: [...brake, ...check, ...deliver], holds, wakeAt: null };
  }
  if (view.rollout.doubt !== undefined) return decideImplausible(view, view.rollout.doubt, { deliver, now });
  const progress = decideWave(view, now);
  // Before the hold of the build: its own breach is what that came from, and what follows is the policy's word.
  if (progress.stops && (view.buildHold === null || isBreach(progress.actions))) {
    return { ...stopOf(progress.actions), wakeAt: now };
  }
  if (view.buildHold !== null) return stop(holdForBuild(view.buildHold), now);
  const liftBrake: Action[] = view.braked ? [{ do: 'liftBrake' }] : [];
  const admission = admit(view, now);
  const slots = view.rollout.policy.concurrency;
  const admits: Action[] =
    admission.picks.length === 0 ? [] : [{ do: 'admit', picks: admission.picks, slots }];
  return {
    actions: [...liftBrake, ...progress.actions, ...admits, ...deliver],
    holds: [...progress.holds, ...admission.holds],
    wakeAt: earliest([progress.wakeAt, admission.wakeAt]),
  };
}

/**
 * Held for something that may come by itself: then the rollout continues, unless something else speaks against it by now,
 * which takes the place of this hold.
 */
function decideHeldFor(
  view: RolloutView,
  heldFor: HeldFor,
  deliver: readonly Action[],
  now: EpochMs,
): Decision {
  if (view.rollout.doubt !== undefined) return rests(view, deliver, now);
  const alarm = raiseAlarm(view);
  if (alarm?.kind === 'act') return stop(alarm.action, now);
  if (view.buildHold !== null) return stop(holdForBuild(view.buildHold), now);
  const evidence = assessedAt(view, heldFor.wave)?.assessment.evidence ?? 'none';
  if (alarm !== undefined || view.groupsUnreadable || evidence === 'none') return rests(view, deliver, now);
  const name = view.rollout.waves[heldFor.wave]?.name ?? '';
  const reason =
    evidence === 'shown'
      ? `wave ${name} has an upgraded collector now`
      : `wave ${name} has a collector to upgrade again`;
  return { ...stopOf([{ do: 'endHold', reason }]), wakeAt: now };
}

function holdForBuild({ build, reason }: BuildHold): Extract<Action, { do: 'hold' }> {
  return { do: 'hold', reason: `build ${build} is held: ${reason}` };
}

/** Stopped by a person or a hold; what the inventory shows is kept up to date, so that what is told is true. */
function rests(view: RolloutView, deliver: readonly Action[], now: EpochMs): Decision {
  const { rollout } = view;
  const hold = { reason: holdWords(rollout), until: null };
  const lower: Action[] = hasExcessAcknowledged(view) ? [{ do: 'lowerAcknowledged' }] : [];
  const actions = [...lower, ...deliver];
  if (rollout.doubt === undefined) return { actions, holds: [hold], wakeAt: null };
  return {
    actions: [...actions, { do: 'checkInventory' }],
    holds: [hold, implausibleBesideHold(rollout.doubt, now)],
    wakeAt: null,
  };
}

/** Who is there at all is not known: nothing starts and no wave moves on, until it is, or a person says so (P14). */
function decideImplausible(
  view: RolloutView,
  doubt: ImplausibleInventory,
  { deliver, now }: { readonly deliver: readonly Action[]; readonly now: EpochMs },
): Decision {
  if (isImplausibleTooLong(doubt, now))
    return stop({ do: 'hold', reason: implausibleHeldWords(doubt), forDoubt: true }, now);
  const hold = implausibleBlocker(doubt, now);
  const brake: Action[] = view.braked ? [] : [{ do: 'setBrake', reason: hold.reason }];
  return {
    actions: [...brake, { do: 'checkInventory' }, ...deliver],
    holds: [hold],
    wakeAt: doubt.since + implausibleHoldAfterMs,
  };
}

/** Ended before its time: what waits is withdrawn, what runs is watched to its end. */
function decideEnded(view: RolloutView, deliver: readonly Action[]): Decision {
  const { waiting, open } = countOpen(view);
  const actions: Action[] = [...deliver];
  if (waiting > 0) actions.push({ do: 'withdrawWaiting', reason: `the rollout was ${view.rollout.state}` });
  else if (open === 0) actions.push({ do: 'close' });
  const reasons: string[] = [];
  if (waiting > 0) reasons.push(`what waits is withdrawn (${upgrades(waiting)})`);
  if (open > waiting) reasons.push(`what runs is watched to its end (${upgrades(open - waiting)})`);
  return { actions, holds: reasons.map((reason) => ({ reason, until: null })), wakeAt: null };
}

function upgrades(count: number): string {
  return count === 1 ? '1 upgrade' : `${count} upgrades`;
}

/** First everything ends, then a rollout of its own takes the upgraded ones back, then this one is over. */
function decideRollingBack(view: RolloutView, deliver: readonly Action[]): Decision {
  const { rollout, rollback } = view;
  const { waiting, open } = countOpen(view);
  const waits = (reason: string, ...actions: readonly Action[]): Decision => ({
    actions: [...deliver, ...actions],
    holds: [{ reason, until: null }],
    wakeAt: null,
  });
  if (waiting > 0)
    return waits('what waits is withdrawn', { do: 'withdrawWaiting', reason: 'the rollout is rolled back' });
  if (open > 0) return waits(`${open} upgrades are watched to their end before the rollback`);
  if (rollback === null) {
    const reason =
      rollout.doubt === undefined ? 'the rollback is being planned' : rollbackImplausibleWords(rollout.doubt);
    return waits(reason, { do: 'beginRollback' });
  }
  if (rollback.endedAt === null) return waits(`rollback ${rollback.id} is ${rollback.state}`);
  const reason = `by ${rollback.id}, which ${endWords[rollback.state] ?? `is ${rollback.state}`}`;
  return waits('the rollback is over', {
    do: 'endRollback',
    reason: rollout.rollbackId === null ? '' : reason,
  });
}

const endWords: Partial<Record<RolloutState, string>> = {
  succeeded: 'succeeded',
  finishedWithFailures: 'finished with failures',
  aborted: 'was aborted',
};

function countOpen(view: RolloutView): { readonly waiting: number; readonly open: number } {
  const waiting = total(view, (state) => state === 'pending' || state === 'retrying' || state === 'deferred');
  return { waiting, open: total(view, (state) => !isEnd(state)) };
}

function isBreach(actions: readonly Action[]): boolean {
  return actions.some((action) => action.do === 'breach');
}

function stop(action: Action, now: EpochMs): Decision {
  return { ...stopOf([action]), wakeAt: now };
}

function stopOf(actions: readonly Action[]): Omit<Decision, 'wakeAt'> {
  const holds = actions.flatMap((action) =>
    'reason' in action ? [{ reason: action.reason, until: null }] : [],
  );
  return { actions, holds };
}

function deliverOverdue(view: RolloutView): readonly Action[] {
  return view.overdue.length === 0 ? [] : [{ do: 'deliver', collectorIds: view.overdue }];
}

function holdWords(rollout: Rollout): string {
  return `${rollout.state}: ${rollout.reason}`;
}
