import { assertNever } from '../../base/assert.ts';
import { type EpochMs, earliest } from '../../base/time.ts';
import type { GroupHold } from '../../contract/admin/holds.ts';
import type { HeldFor } from '../../contract/admin/rollout-status.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';
import { isForeign } from '../model/account.ts';
import {
  type ImplausibleInventory,
  implausibleHoldAfterMs,
  isImplausibleTooLong,
} from '../model/assess-inventory.ts';
import { indexOfStratum } from '../model/plan-groups.ts';
import { isRolloutEnd, type RolloutView } from '../model/rollout.ts';
import type { HoldCause } from '../model/stop-cause.ts';
import { hasExcessAcknowledged } from './acknowledged-failures.ts';
import { admissionOf } from './admission.ts';
import { type AssessedView, assess, countOpen, isOnlyUnreadableOpen } from './assess.ts';
import { type Blocker, stateBlocker, storeBlockers } from './blocker.ts';
import type { Action, Decision } from './decision.ts';
import { allOverAt, decideForeign } from './foreign-rollout.ts';
import { implausibleBlocker, rollbackContinuesAt } from './implausible-inventory.ts';
import { findUnmoved, heldGroup } from './outlier-group.ts';
import { paceShareOf } from './pace.ts';
import { raiseAlarm } from './raise-alarm.ts';
import { reasonNow } from './reason-now.ts';
import { decideWave } from './wave-progress.ts';

/**
 * Decides what a rollout does now. Pure: no clock, no store; the same view and instant give the same decision.
 * It keeps P2 (slots and caps), P3 (order), P7 (windows) and P14 (inconclusive is a hold), together with the guards of the
 * store, which refuse decisions from an outdated view.
 */
export function decide(view: RolloutView, now: EpochMs): Decision {
  return decideAssessed(assess(view), now);
}

/** `decide` for a view that is assessed already. */
export function decideAssessed(view: AssessedView, now: EpochMs): Decision {
  const { rollout } = view;
  if (rollout.endedAt !== null) return { actions: [], blockers: [], wakeAt: null };
  if (rollout.unreadable?.kind === 'newer') {
    const { version, readable } = rollout.unreadable;
    return {
      actions: [],
      blockers: [{ kind: 'newerVersion', version, readable, until: null }],
      wakeAt: null,
    };
  }
  // A rollback begins and ends also then: its own rollout is what waits for the policy, and can be aborted.
  if (view.isPolicyMissing && !isRolloutEnd(rollout.state) && rollout.state !== 'rollingBack') {
    // Its running upgrades are watched to their end, so a lost step is delivered again.
    const missing = { rollout: rollout.id, policy: rollout.policy.name, until: null } as const;
    return { actions: deliverOverdue(view), blockers: [{ kind: 'policyMissing', ...missing }], wakeAt: null };
  }
  const { account } = view;
  const decision = isForeign(account) ? decideForeign(view, account, now) : decideByState(view, now);
  const unreadable = unreadableCause(view);
  if (unreadable === undefined) return decision;
  const isShown = [rollout.reason, ...decision.blockers].some(
    (each) => each.kind === unreadable.kind && unreadable.keys.every((key) => each.keys.includes(key)),
  );
  if (isShown) return decision;
  return { ...decision, blockers: [...decision.blockers, { ...unreadable, until: null }] };
}

/** A group that was held before is a stratum like any other. */
function holdMissed(missed: GroupHold, { groups }: RolloutView): Action {
  const { label, by, at, reason: words } = missed;
  const reason = { kind: 'asked', by, words } as const;
  const stratum = indexOfStratum(groups.strata, label);
  return stratum < 0
    ? { do: 'holdGroup', group: missed, change: { kind: 'groupHeld', held: heldGroup(missed, reason) } }
    : { do: 'save', change: { kind: 'strataHeld', strata: [{ stratum, label, reason, by, at }] } };
}

type UnreadableCause = Extract<HoldCause, { kind: 'recordsUnreadable' }>;

function unreadableCause({ unreadableRecords }: RolloutView): UnreadableCause | undefined {
  return unreadableRecords && { kind: 'recordsUnreadable', keys: unreadableRecords.keys };
}

function deliverOverdue({ overdue }: RolloutView): readonly Action[] {
  return overdue.length === 0 ? [] : [{ do: 'deliver', collectorIds: overdue }];
}

function decideByState(view: AssessedView, now: EpochMs): Decision {
  const { rollout } = view;
  const deliver = deliverOverdue(view);
  if (isRolloutEnd(rollout.state)) return decideEnded(view, deliver, now);
  switch (rollout.state) {
    case 'running':
      return decideRunning(view, deliver, now);
    case 'rollingBack':
      return decideRollingBack(view, deliver, now);
    case 'held':
      return rollout.hold?.heldFor === undefined
        ? decideStopped(view, deliver, now)
        : decideHeldFor(view, rollout.hold.heldFor, deliver, now);
    case 'awaitingApproval':
    case 'paused':
      return decideStopped(view, deliver, now);
    default:
      return assertNever(rollout.state);
  }
}

function decideRunning(view: AssessedView, deliver: readonly Action[], now: EpochMs): Decision {
  // An unreadable record may hide a running task, a failure, or the caps for which a collector counts (P1, P2, P14).
  const cause = unreadableCause(view);
  if (cause !== undefined) return stop({ do: 'hold', cause }, now);
  const moves = moveGroups(view);
  if (moves !== undefined)
    return { actions: [...moves.actions, ...deliver], blockers: [moves.blocker], wakeAt: null };
  if (hasExcessAcknowledged(view))
    return { actions: [lowerAcknowledged(view), ...deliver], blockers: [], wakeAt: now };
  const alarm = raiseAlarm(view);
  if (alarm?.kind === 'act') return stop(alarm.action, now);
  const { implausible } = view.rollout.inventory;
  if (alarm?.kind === 'wait') {
    // A running collector may have been deleted, which shows only after the inventory is plausible again.
    const check: Action[] = implausible === null ? [] : [{ do: 'checkInventory' }];
    const unclear = { kind: 'outliersUnclear', failures: alarm.failures, until: null } as const;
    const blockers = [unclear, ...(implausible === null ? [] : [implausibleBlocker(implausible, now)])];
    return { actions: [...setBrake(view), ...check, ...deliver], blockers, wakeAt: null };
  }
  if (implausible !== null) return decideImplausible(view, implausible, { deliver, now });
  const progress = decideWave(view, now);
  // A breach comes before the hold of the build, which it causes: `onBreach` decides what happens to this rollout.
  const isBreach = progress.actions.some((action) => action.do === 'breach');
  if (progress.stops && (view.buildHold === null || isBreach)) {
    return { ...stopOf(progress.actions), wakeAt: now };
  }
  if (view.buildHold !== null) return stop(holdForBuild(view.buildHold), now);
  const liftBrake: Action[] = view.braked ? [{ do: 'liftBrake' }] : [];
  const admission = admissionOf(view, now);
  const slots = view.rollout.policy.concurrency;
  const admits: Action[] =
    admission.picks.length === 0
      ? []
      : [{ do: 'admit', picks: admission.picks, slots, ...paceShareOf(view) }];
  return {
    actions: [...liftBrake, ...progress.actions, ...admits, ...deliver],
    blockers: [...storeBlockers(view), ...progress.blockers, ...admission.blockers],
    wakeAt: earliest([progress.wakeAt, admission.wakeAt]),
  };
}

/** Moves the collectors of a held group to their own stratum. Nothing starts meanwhile. @returns undefined if all are there */
function moveGroups(
  view: AssessedView,
): { readonly actions: readonly Action[]; readonly blocker: Blocker } | undefined {
  const [missed] = view.missedGroups ?? [];
  const label = missed?.label ?? findUnmoved(view)?.label;
  if (label === undefined) return undefined;
  const move: Action = missed === undefined ? { do: 'moveGroup', label } : holdMissed(missed, view);
  return {
    actions: [...setBrake(view), move],
    blocker: { kind: 'groupMoves', label, until: null },
  };
}

/**
 * A hold whose condition may be met without an operator. The rollout continues then, unless another reason blocks it by
 * now, which replaces this hold.
 */
function decideHeldFor(
  view: AssessedView,
  heldFor: HeldFor,
  deliver: readonly Action[],
  now: EpochMs,
): Decision {
  if (view.rollout.inventory.implausible !== null) return decideStopped(view, deliver, now);
  const alarm = raiseAlarm(view);
  if (alarm?.kind === 'act') return stop(alarm.action, now);
  if (view.buildHold !== null) return stop(holdForBuild(view.buildHold), now);
  const evidence = view.assessed[heldFor.wave]?.assessment.evidence ?? 'none';
  if (alarm !== undefined || view.unreadableRecords !== undefined || evidence === 'none')
    return decideStopped(view, deliver, now);
  const name = view.rollout.waves[heldFor.wave]?.name ?? '';
  const reason = { kind: 'evidence', wave: name, isShown: evidence === 'shown' } as const;
  return stop({ do: 'save', change: { kind: 'holdEnded', reason } }, now);
}

/** Failures were retried or set aside, so fewer are acknowledged. */
function lowerAcknowledged(view: RolloutView): Action {
  return { do: 'save', change: { kind: 'acknowledgedLowered', view } };
}

function holdForBuild({ build, reason }: BuildHold): Action {
  return { do: 'hold', cause: { kind: 'buildHeld', build, reason } };
}

/**
 * Stopped by a person or a hold. The inventory is still checked, because status shows the result (P16), and held groups are
 * moved, so that an operator sees before `resume` who stays held (P15). A plan that waits for approval is made again anyway.
 */
function decideStopped(view: AssessedView, deliver: readonly Action[], now: EpochMs): Decision {
  const { implausible } = view.rollout.inventory;
  const mayMove = view.rollout.state !== 'awaitingApproval' && unreadableCause(view) === undefined;
  const moves = mayMove ? moveGroups(view) : undefined;
  const lower = hasExcessAcknowledged(view) ? [lowerAcknowledged(view)] : [];
  const check: Action[] = implausible === null ? [] : [{ do: 'checkInventory' }];
  const blockers =
    implausible === null ? [] : [{ ...implausibleBlocker(implausible, now), heldAfterMs: null }];
  return {
    actions: [...(moves?.actions ?? lower), ...deliver, ...check],
    blockers: [
      stateBlocker(view.rollout, reasonNow(view)),
      ...(moves === undefined ? [] : [moves.blocker]),
      ...blockers,
    ],
    wakeAt: null,
  };
}

/** The inventory is implausible: nothing starts and no wave advances until it is plausible, or a person decides (P14). */
function decideImplausible(
  view: AssessedView,
  implausible: ImplausibleInventory,
  { deliver, now }: { readonly deliver: readonly Action[]; readonly now: EpochMs },
): Decision {
  if (isImplausibleTooLong(implausible, now))
    return stop(
      { do: 'hold', cause: { kind: 'inventoryUnresolved', why: implausible.why }, forInventory: true },
      now,
    );
  return {
    actions: [...setBrake(view), { do: 'checkInventory' }, ...deliver],
    blockers: [implausibleBlocker(implausible, now)],
    wakeAt: implausible.since + implausibleHoldAfterMs,
  };
}

function setBrake(view: AssessedView): readonly Action[] {
  return view.braked ? [] : [{ do: 'setBrake' }];
}

/** Ended early: it closes once all upgrades have ended. */
function decideEnded(view: AssessedView, deliver: readonly Action[], now: EpochMs): Decision {
  const { actions, ...rest } = decideOpen(view, now) ?? {
    ...{ blockers: [], wakeAt: null },
    actions: [{ do: 'save', change: { kind: 'closed' } }],
  };
  return { actions: [...deliver, ...actions], ...rest };
}

/**
 * Upgrades that have not started are withdrawn, and running ones are watched to their end. Those with an unreadable record
 * never end: they are given up once the service must have ended their tasks (P1).
 * @returns undefined when no upgrade is open any more
 */
function decideOpen(view: AssessedView, now: EpochMs): Decision | undefined {
  const { waiting, queued, open } = countOpen(view);
  if (open === 0) return undefined;
  if (isOnlyUnreadableOpen(view)) {
    const overAt = view.unreadableRecords?.mayRun === 0 ? now : allOverAt(view);
    if (now >= overAt) return undefined;
    return { actions: [], blockers: [{ kind: 'watching', upgrades: open, until: overAt }], wakeAt: overAt };
  }
  const reason = { kind: 'rolloutOver', state: view.rollout.state } as const;
  const blockers: Blocker[] = [];
  if (waiting > 0) blockers.push({ kind: 'withdrawing', upgrades: waiting, until: null });
  if (open > waiting) blockers.push({ kind: 'watching', upgrades: open - waiting, until: null });
  return { actions: waiting + queued > 0 ? [{ do: 'withdrawWaiting', reason }] : [], blockers, wakeAt: null };
}

/** First all upgrades end, then a separate rollout rolls the collectors back, then this rollout ends. */
function decideRollingBack(view: AssessedView, deliver: readonly Action[], now: EpochMs): Decision {
  const { rollout, rollback } = view;
  const open = decideOpen(view, now);
  if (open !== undefined) return { ...open, actions: [...deliver, ...open.actions] };
  const waits = (blocker: Blocker, ...actions: readonly Action[]): Decision => ({
    actions: [...deliver, ...actions],
    blockers: [blocker],
    wakeAt: null,
  });
  if (rollback === null) {
    const { implausible } = rollout.inventory;
    const until = implausible === null ? null : rollbackContinuesAt(implausible);
    return waits({ kind: 'rollbackPlan', why: implausible?.why ?? null, until }, { do: 'beginRollback' });
  }
  const blocker = { kind: 'rollback', rollback: rollback.id, state: rollback.state, until: null } as const;
  if (rollback.endedAt === null) return waits(blocker);
  const ended = { kind: 'rollbackEnded', rollback: rollback.id, state: rollback.state } as const;
  return waits(blocker, { do: 'endRollback', reason: ended });
}

function stop(action: Action, now: EpochMs): Decision {
  return { ...stopOf([action]), wakeAt: now };
}

function stopOf(actions: readonly Action[]): Omit<Decision, 'wakeAt'> {
  const blockers = actions.flatMap((action) => ('cause' in action ? [{ ...action.cause, until: null }] : []));
  return { actions, blockers };
}
