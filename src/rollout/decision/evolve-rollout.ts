import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import { withMark } from '../model/account.ts';
import { isImplausibleTooLong } from '../model/assess-inventory.ts';
import type { HeldStratum, Rollout, RolloutView, Wave } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { acknowledgeFailures, lowerAcknowledged } from './acknowledged-failures.ts';
import { assess } from './assess.ts';
import { freshStatus } from './assess-gate.ts';
import type { RolloutFact } from './rollout-facts.ts';

/**
 * Whether a fact may be stored. For a rollout with a corrupt record, only its end may be stored: any other write would
 * overwrite a record that an operator may still restore. Nothing is stored for a rollout that a newer upwave wrote.
 */
export function isStorable({ unreadable }: Rollout, { kind }: Pick<RolloutFact, 'kind'>): boolean {
  if (unreadable === undefined) return true;
  return unreadable.kind === 'corrupt' && (kind === 'aborted' || kind === 'closed');
}

/** The only way a rollout changes. */
export function evolveRollout(rollout: Rollout, fact: RolloutFact): Rollout {
  const { heldFor: heldBefore, ...next } = change(rollout, fact);
  if (next.state !== 'held' && next.state !== 'paused') return { ...next, hold: null };
  const hold = fact.kind === 'held' || fact.kind === 'paused' ? next.rev : rollout.hold;
  const heldFor = fact.kind === 'held' ? fact.heldFor : heldBefore;
  return { ...next, hold, ...(next.state === 'held' && heldFor !== undefined && { heldFor }) };
}

// oxlint-disable-next-line max-lines-per-function -- a table: one row for each fact
function change(rollout: Rollout, fact: RolloutFact): Rollout {
  const { unreadable: _replaced, ...known } = rollout;
  const next = { ...known, rev: rollout.rev + 1 };
  switch (fact.kind) {
    case 'approved':
      return { ...next, state: 'running', reason: fact.reason, drift: null };
    case 'waveAwaitsApproval':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'awaitingApproval' }) };
    case 'waveApproved':
      return { ...next, waves: withWave(rollout, fact.wave, { approvedAt: fact.at }) };
    case 'waveOpened':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'open', openedAt: fact.at }) };
    case 'soakBegun':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'soaking', soakEndsAt: fact.endsAt }) };
    case 'soakPolled':
      return { ...next, waves: withWave(rollout, fact.wave, { soakCheck: fact.check }) };
    case 'soakSkipped':
      return { ...next, waves: withWave(rollout, fact.wave, { soakSkippedAt: fact.at }) };
    case 'gateAnswered': {
      const gates = (rollout.waves[fact.wave]?.gates ?? []).map((answers, index) =>
        index === fact.gate ? fact.answers : answers,
      );
      return { ...next, waves: withWave(rollout, fact.wave, { gates }) };
    }
    case 'wavePassed':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'passed', passedAt: fact.at }) };
    case 'strataHeld':
      return { ...next, heldStrata: [...rollout.heldStrata, ...fact.strata] };
    case 'groupHeld':
      return { ...next, heldStrata: [...rollout.heldStrata, fact.held] };
    case 'groupMoved':
      return { ...next, heldStrata: afterMove(rollout, fact) };
    case 'stratumReleased': {
      const heldStrata = rollout.heldStrata.filter(({ label }) => label !== fact.label).map(movedAgain);
      const view = { ...fact.view, rollout: { ...rollout, heldStrata } };
      return { ...next, heldStrata, ...acknowledgeFailures(view, ({ stratum }) => stratum === fact.stratum) };
    }
    case 'held':
      return {
        ...(fact.forInventory === true ? withInventoryHold(next) : next),
        state: 'held',
        reason: fact.reason,
      };
    case 'paused':
      return { ...next, state: 'paused', reason: fact.reason };
    case 'resumed':
      return resumeInventory(resume(next, fact.reason, { ...fact.view, rollout }), fact.at);
    case 'holdEnded':
      return { ...next, state: 'running', reason: fact.reason, waves: rollout.waves.map(restartSoakChecks) };
    case 'acknowledgedLowered':
      return { ...next, ...lowerAcknowledged({ ...fact.view, rollout }) };
    case 'aborted':
    case 'superseded':
      return { ...withPlausibleInventory(next), state: fact.kind, reason: fact.reason };
    case 'rollbackAsked':
      return {
        ...restartInventoryWait(next, fact.at),
        state: 'rollingBack',
        reason: fact.reason,
        endedAt: null,
        leftBehind: [],
        ...(fact.anyTime === true ? { anyTime: true } : {}),
      };
    case 'windowsLifted':
      return { ...next, anyTime: true };
    case 'leftBehindForeseen':
      return { ...next, leftBehind: fact.left };
    case 'rollbackNamed':
      return { ...next, rollbackId: fact.rollbackId, leftBehind: fact.left };
    case 'rolledBack':
      return { ...next, state: 'rolledBack', reason: fact.reason, endedAt: fact.at, leftBehind: fact.left };
    case 'reopened':
      return { ...next, state: 'running', reason: fact.reason, endedAt: null };
    case 'finished':
      return {
        ...next,
        state: fact.state,
        reason: { kind: 'allEnded' },
        endedAt: fact.at,
      };
    case 'closed':
      return { ...next, endedAt: fact.at };
    case 'accountTied':
      return { ...next, accountMarks: withMark(rollout.accountMarks, fact.mark) };
    case 'inventoryImplausible':
      return {
        ...next,
        implausibleInventory: { since: fact.at, ...rollout.implausibleInventory, ...fact.reading },
      };
    case 'inventoryTrusted':
      return { ...withPlausibleInventory(next), inventory: fact.inventory };
    case 'policyChanged': {
      const { policy, generation } = fact;
      return { ...next, policy, config: { generation, changes: rollout.config.changes + 1 } };
    }
    case 'brakeSet':
    case 'brakeLifted':
      return next;
    default:
      return assertNever(fact);
  }
}

/** With `resume` the operator accepts the failures, the missing evidence and the answers of gates. Only new ones count. */
function resume(next: Rollout, reason: RolloutReason, view: RolloutView): Rollout {
  const { heldStrata } = view.rollout;
  const isOnlyHeldLeft =
    heldStrata.length > 0 &&
    view.rollout.waves.every(({ state }) => state === 'passed') &&
    assess(view).assessed.every(
      ({ assessment, summary }) => assessment.settled && summary.counts.deferred === 0,
    );
  const { waves, acknowledgedStrata } = acknowledgeFailures(view, () => true);
  return {
    ...next,
    state: 'running',
    reason,
    waves: waves.map((wave, index) =>
      // Including failures without a stratum: the operator has seen all of them.
      restartSoakChecks({ ...wave, acknowledgedWeight: view.waves[index]?.weight ?? 0 }),
    ),
    acknowledgedStrata,
    endsWithoutHeld: view.rollout.endsWithoutHeld || isOnlyHeldLeft,
  };
}

/** A collector of a released group may belong to another held group. */
function movedAgain(held: HeldStratum): HeldStratum {
  return held.attributes === undefined ? held : { ...held, unmoved: true };
}

/** The group is held now. A stratum that the daemon held for failures of this group continues without the group. */
function afterMove(
  { heldStrata }: Rollout,
  { label, view }: Extract<RolloutFact, { kind: 'groupMoved' }>,
): readonly HeldStratum[] {
  return heldStrata
    .filter((held) => !isCleared(held, view))
    .map((held) => {
      if (held.label !== label) return held;
      const { unmoved: _moved, ...rest } = held;
      return rest;
    });
}

/** Whether a stratum that the daemon held for its failures has no failures any more. */
export function isCleared({ stratum, attributes, reason }: HeldStratum, view: RolloutView): boolean {
  if (reason.kind !== 'outlier' || attributes !== undefined) return false;
  return view.strata.every((each) => each.stratum !== stratum || each.failed === 0);
}

/** Observations and gate answers from before a hold are no evidence after it. */
function restartSoakChecks(wave: Wave): Wave {
  if (wave.state !== 'soaking') return wave;
  return { ...wave, soakCheck: null, gates: wave.gates.map(({ samples }) => freshStatus(samples)) };
}

/**
 * An operator who resumes after the hold for the inventory has read its reason and confirms that the missing collectors
 * were removed on purpose. After a pause or another hold, the rollout waits again. An empty inventory is never accepted.
 */
function resumeInventory(next: Rollout, at: EpochMs): Rollout {
  const { implausibleInventory: implausible } = next;
  if (implausible === undefined) return next;
  const { isHeld, ...waiting } = implausible;
  const { size, missing } = implausible;
  if (implausible.why.kind !== 'empty' && isHeld === true)
    return { ...withPlausibleInventory(next), inventory: { at, size, missing } };
  return { ...next, implausibleInventory: { ...waiting, since: at } };
}

/** Restarts the wait of a rollback for the inventory: time in a pause does not count for it. */
function restartInventoryWait(next: Rollout, at: EpochMs): Rollout {
  const { implausibleInventory: implausible } = next;
  if (implausible === undefined || implausible.isHeld === true || !isImplausibleTooLong(implausible, at))
    return next;
  return { ...next, implausibleInventory: { ...implausible, since: at } };
}

function withInventoryHold(next: Rollout): Rollout {
  const { implausibleInventory: implausible } = next;
  return implausible === undefined
    ? next
    : { ...next, implausibleInventory: { ...implausible, isHeld: true } };
}

function withPlausibleInventory(next: Rollout): Rollout {
  const { implausibleInventory: _ended, ...rest } = next;
  return rest;
}

function withWave(rollout: Rollout, index: number, changes: Partial<Wave>): readonly Wave[] {
  return rollout.waves.map((wave, i) => (i === index ? { ...wave, ...changes } : wave));
}
