import { assertNever } from '../../base/assert.ts';
import { sumOf } from '../../base/grouping.ts';
import type { EpochMs } from '../../base/time.ts';
import { replacedCalendars } from '../calendar/replaced-calendars.ts';
import { withMark } from '../model/account.ts';
import { type ImplausibleInventory, isImplausibleTooLong } from '../model/assess-inventory.ts';
import type { WaveRule } from '../model/policy.ts';
import type {
  HeldStratum,
  Rollout,
  RolloutHold,
  RolloutRollback,
  RolloutStrata,
  RolloutView,
  TakenStratum,
  Wave,
} from '../model/rollout.ts';
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
  const next = change(rollout, fact);
  return { ...next, hold: holdAfter(rollout.hold, next, fact) };
}

function holdAfter(
  before: RolloutHold | null,
  { state, rev }: Rollout,
  fact: RolloutFact,
): RolloutHold | null {
  if (state !== 'held' && state !== 'paused') return null;
  if (fact.kind === 'paused') return { number: rev };
  if (fact.kind !== 'held') return before;
  return { number: rev, ...(fact.heldFor !== undefined && { heldFor: fact.heldFor }) };
}

// oxlint-disable-next-line max-lines-per-function -- a table: one row for each fact
function change(rollout: Rollout, fact: RolloutFact): Rollout {
  const { unreadable: _replaced, ...known } = rollout;
  const next = { ...known, rev: rollout.rev + 1 };
  switch (fact.kind) {
    case 'approved':
      return { ...next, state: 'running', reason: fact.reason, plan: { ...next.plan, drift: null } };
    case 'waveAwaitsApproval':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'awaitingApproval' }) };
    case 'waveApproved':
      return { ...next, waves: withWave(rollout, fact.wave, { approvedAt: fact.at }) };
    case 'waveOpened':
      return {
        ...next,
        config: configIn(rollout, fact.wave),
        waves: withWave(rollout, fact.wave, { state: 'open', openedAt: fact.at }),
      };
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
      return withStrata(next, { held: [...withoutStrata(rollout.strata.held, fact.strata), ...fact.strata] });
    case 'groupHeld':
      return withStrata(next, { held: [...rollout.strata.held, fact.held] });
    case 'groupEmpty':
      return withStrata(next, { emptyGroups: [...(rollout.strata.emptyGroups ?? []), fact.label] });
    case 'groupMoved':
      return withStrata(next, { held: afterMove(rollout, fact) });
    case 'stratumReleased': {
      const held = rollout.strata.held.filter(({ label }) => label !== fact.label).map(movedAgain);
      const view = { ...fact.view, rollout: withStrata(rollout, { held }) };
      const { waves, acknowledged } = acknowledgeFailures(view, ({ stratum }) => stratum === fact.stratum);
      return withStrata({ ...next, waves }, { held, acknowledged });
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
    case 'acknowledgedLowered': {
      const { waves, acknowledged } = lowerAcknowledged({ ...fact.view, rollout });
      return withStrata({ ...next, waves }, { acknowledged });
    }
    case 'aborted':
    case 'superseded':
      return { ...withImplausible(next, null), state: fact.kind, reason: fact.reason };
    case 'rollbackAsked':
      return {
        ...restartInventoryWait(next, fact.at),
        state: 'rollingBack',
        reason: fact.reason,
        endedAt: null,
        rollback: {
          ...rollout.rollback,
          leftBehind: [],
          anyTime: rollout.rollback.anyTime || fact.anyTime === true,
        },
      };
    case 'windowsLifted':
      return withRollback(next, { anyTime: true });
    case 'leftBehindForeseen':
      return withRollback(next, { leftBehind: fact.left });
    case 'rollbackNamed':
      return withRollback(next, { startedAs: fact.rollbackId, leftBehind: fact.left });
    case 'rolledBack':
      return {
        ...withRollback(next, { leftBehind: fact.left }),
        state: 'rolledBack',
        reason: fact.reason,
        endedAt: fact.at,
      };
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
      return withImplausible(next, { since: fact.at, ...rollout.inventory.implausible, ...fact.reading });
    case 'inventoryTrusted':
      return { ...next, inventory: { baseline: fact.inventory, implausible: null } };
    case 'policyChanged': {
      const { policy, generation } = fact;
      const replaced = replacedCalendars(rollout, policy, fact.at);
      const config = { generation, changes: rollout.config.changes + 1 };
      return {
        ...{ ...next, policy },
        config: replaced.length === 0 ? config : { ...config, replacedCalendars: replaced },
      };
    }
    case 'brakeSet':
    case 'brakeLifted':
      return next;
    default:
      return assertNever(fact);
  }
}

/** A wave that opens with another calendar ends the turns that the calendar of the wave before it allowed (P7). */
function configIn({ config, policy }: Rollout, wave: number): Rollout['config'] {
  const calendarOf = (rule: WaveRule | undefined) => JSON.stringify([rule?.windows, rule?.notBefore]);
  const isSame = wave === 0 || calendarOf(policy.waves[wave]) === calendarOf(policy.waves[wave - 1]);
  return isSame ? config : { ...config, changes: config.changes + 1 };
}

/** With `resume` the operator accepts the failures, the missing evidence and the answers of gates. Only new ones count. */
function resume(next: Rollout, reason: RolloutReason, view: RolloutView): Rollout {
  const { strata } = view.rollout;
  const isOnlyHeldLeft =
    strata.held.length > 0 &&
    view.rollout.waves.every(({ state }) => state === 'passed') &&
    assess(view).assessed.every(
      ({ assessment, summary }) => assessment.settled && summary.counts.deferred === 0,
    );
  const { waves, acknowledged } =
    view.rollout.state === 'held' ? acknowledgeAll(view) : { ...view.rollout, ...strata };
  return {
    ...next,
    state: 'running',
    reason,
    waves: waves.map(restartSoakChecks),
    strata: { ...strata, acknowledged, endsWithoutHeld: strata.endsWithoutHeld || isOnlyHeldLeft },
  };
}

/** Including failures without a stratum: the operator has seen all of them, and continues in spite of them. */
function acknowledgeAll(view: RolloutView): Pick<Rollout, 'waves'> & Pick<RolloutStrata, 'acknowledged'> {
  const { waves, acknowledged } = acknowledgeFailures(view, () => true);
  const weightOf = (index: number) => view.waves[index]?.weight ?? 0;
  return {
    waves: waves.map((wave, index) => ({ ...wave, acknowledgedWeight: weightOf(index) })),
    acknowledged,
  };
}

/** A person may hold a stratum that the daemon holds. It is held once then. */
function withoutStrata(held: readonly HeldStratum[], others: readonly HeldStratum[]): readonly HeldStratum[] {
  return held.filter(({ label }) => others.every((each) => each.label !== label));
}

/** A collector of a released group may belong to another held group. */
function movedAgain(held: HeldStratum): HeldStratum {
  return held.attributes === undefined ? held : { ...held, unmoved: true };
}

/** The group is held now. A stratum that the daemon held for failures of this group continues without the group. */
function afterMove(
  { strata }: Rollout,
  { label, view }: Extract<RolloutFact, { kind: 'groupMoved' }>,
): readonly HeldStratum[] {
  const taken = strata.held
    .filter((held) => isCleared(held, view))
    .map(({ stratum, label: name, at }): TakenStratum => {
      const own = view.strata.filter((each) => each.stratum === stratum);
      const remaining = sumOf(own, (each) => each.waiting);
      return { label: name, at, remaining };
    });
  return strata.held
    .filter((held) => !isCleared(held, view))
    .map((held) => {
      if (held.label !== label) return held;
      const { unmoved: _moved, tookOver = [], ...rest } = held;
      const all = [...tookOver, ...taken];
      return all.length === 0 ? rest : { ...rest, tookOver: all };
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
  const { implausible } = next.inventory;
  if (implausible === null) return next;
  const { isHeld, ...waiting } = implausible;
  const { size, missing } = implausible;
  if (implausible.why.kind !== 'empty' && isHeld === true)
    return { ...next, inventory: { baseline: { at, size, missing }, implausible: null } };
  return withImplausible(next, { ...waiting, since: at });
}

/** Restarts the wait of a rollback for the inventory: time in a pause does not count for it. */
function restartInventoryWait(next: Rollout, at: EpochMs): Rollout {
  const { implausible } = next.inventory;
  if (implausible === null || implausible.isHeld === true || !isImplausibleTooLong(implausible, at))
    return next;
  return withImplausible(next, { ...implausible, since: at });
}

function withInventoryHold(next: Rollout): Rollout {
  const { implausible } = next.inventory;
  return implausible === null ? next : withImplausible(next, { ...implausible, isHeld: true });
}

function withImplausible(rollout: Rollout, implausible: ImplausibleInventory | null): Rollout {
  return { ...rollout, inventory: { ...rollout.inventory, implausible } };
}

function withStrata(rollout: Rollout, changes: Partial<RolloutStrata>): Rollout {
  return { ...rollout, strata: { ...rollout.strata, ...changes } };
}

function withRollback(rollout: Rollout, changes: Partial<RolloutRollback>): Rollout {
  return { ...rollout, rollback: { ...rollout.rollback, ...changes } };
}

function withWave(rollout: Rollout, index: number, changes: Partial<Wave>): readonly Wave[] {
  return rollout.waves.map((wave, i) => (i === index ? { ...wave, ...changes } : wave));
}
