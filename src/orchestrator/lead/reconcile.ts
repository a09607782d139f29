import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { decide } from '../../rollout/decision/decide.ts';
import type { Action } from '../../rollout/decision/decision.ts';
import { isStorable } from '../../rollout/decision/evolve-rollout.ts';
import { heldGroup } from '../../rollout/decision/outlier-group.ts';
import { limitQueued } from '../../rollout/decision/queue-room.ts';
import type { RolloutFact } from '../../rollout/decision/rollout-facts.ts';
import { rolloutReasonText } from '../../rollout/messages/rollout-reasons.ts';
import { formatAttributes } from '../../rollout/model/attributes.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import type { BreachCause } from '../../rollout/model/stop-cause.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { BackgroundTasks, Fence } from '../ports/leader.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import { auditStop } from '../records/audit-stop.ts';
import { type StopRolloutParts, saveRolloutFact, waitForLeavingCreates } from '../records/change-rollout.ts';
import { loadRolloutView, type SharedAttributeParts, withSharedAttribute } from '../records/read-records.ts';
import { checkInventory } from '../watch/judge-inventory.ts';
import { type AdmitParts, type Admitted, admitCollectors } from './admit.ts';
import { type AskGateParts, askGate } from './ask-gate.ts';
import { endUpgrades } from './end-upgrades.ts';
import { holdGroup } from './hold-group.ts';
import { moveGroup } from './move-group.ts';
import { pollSoakingCollectors, type SoakPollParts } from './poll-soak.ts';
import { beginRollback, endRollback, type RollbackParts } from './roll-back.ts';

export interface ReconcileParts
  extends StopRolloutParts,
    AdmitParts,
    AskGateParts,
    SoakPollParts,
    RollbackParts,
    SharedAttributeParts {
  readonly store: RolloutStore;
  readonly register: FleetRegister;
  readonly backgroundTasks: BackgroundTasks;
  /** The request rate of all daemons of the access key together. */
  readonly requestsPerSecond: number;
}

// A pass is followed by another only after a change. More passes than this are a bug, not a long list.
const passesMax = 10_000;

// How many candidates, retries and overdue steps one pass handles.
const pageSize = 500;

type ActionResult = Admitted | 'unchanged';

interface Pass {
  readonly parts: ReconcileParts;
  readonly view: RolloutView;
  readonly fence: Fence;
}

type Executors = {
  readonly [Kind in Action['do']]: (
    pass: Pass,
    action: Extract<Action, { do: Kind }>,
  ) => Promise<ActionResult>;
};

/**
 * Advances one rollout as far as possible: load, decide, act, record, and again while something has changed.
 * Level-triggered: it acts on what is stored, so a lost message or a crash between two lines costs only time.
 * @param overdueMs a step that is overdue by more than this may have lost its job, and is delivered again
 * @param signal ends it between two passes
 * @returns when to run again if nothing happens before
 */
export async function reconcile(
  parts: ReconcileParts,
  rolloutId: string,
  fence: Fence,
  overdueMs: DurationMs,
  signal?: AbortSignal,
): Promise<EpochMs | null> {
  for (let passNumber = 0; passNumber < passesMax; passNumber += 1) {
    if (signal?.aborted === true) return null;
    const now = parts.clock.now();
    const loaded = await loadRolloutView(parts, rolloutId, { now, overdueBefore: now - overdueMs, pageSize });
    if (loaded === undefined) return null;
    const seen = { ...loaded, isPolicyMissing: parts.claims.isMissing(loaded.rollout.policy.name) };
    const view = seen.rollout.policy.isolate === 'attributes' ? await withSharedAttribute(parts, seen) : seen;
    const decided = decide(view, now);
    const decision = limitQueued(decided, view, parts.requestsPerSecond);
    const did = await actAll({ parts, view, fence }, decision.actions);
    if (did === 'stale') return now;
    if (did === 'unchanged') return decision.wakeAt;
  }
  throw new Error(`rollout ${rolloutId} did not settle in ${passesMax} passes`);
}

async function actAll(pass: Pass, actions: readonly Action[]): Promise<ActionResult> {
  let changed: ActionResult = 'unchanged';
  for (const action of actions) {
    const did = await act(pass, action);
    // The remaining actions come from an outdated view.
    if (did === 'stale') return 'stale';
    if (did === 'changed') changed = 'changed';
    if (did === 'changed' && action.do !== 'admit') return 'changed';
  }
  return changed;
}

function act(pass: Pass, action: Action): Promise<ActionResult> {
  // The table is exhaustive by type, but TypeScript cannot see that the row and the action belong together.
  const executor = executors[action.do] as (pass: Pass, action: Action) => Promise<ActionResult>;
  return executor(pass, action);
}

const executors: Executors = {
  save: (pass, { change }) => save(pass, { ...change, at: nowOf(pass) }),
  checkSoak: (pass, { wave }) =>
    backgroundTask(pass, `soak/${wave}`, ({ parts, view }, signal) =>
      pollSoakingCollectors(parts, view, wave, signal),
    ),
  askGate: (pass, { wave, gate }) =>
    backgroundTask(pass, `gate/${wave}/${gate}`, ({ parts, view }, signal) =>
      askGate(parts, view, { wave, gate }, signal),
    ),
  hold: (pass, { do: _do, cause, ...details }) =>
    stop(pass, { kind: 'held', at: nowOf(pass), reason: cause, ...details }),
  breach,
  isolate: (pass, { strata }) => {
    const at = nowOf(pass);
    const held = strata.map(({ stratum, label, ...figures }) => {
      return { stratum, label, reason: { kind: 'outlier', ...figures }, by: 'daemon', at } as const;
    });
    return save(pass, { kind: 'strataHeld', at, strata: held });
  },
  isolateGroup: (pass, { shared }) => {
    const { attributes, failed, tried, elsewhere } = shared;
    const at = nowOf(pass);
    const reason = { kind: 'outlier', failed, tried, elsewhere } as const;
    const label = formatAttributes(attributes);
    const held = heldGroup({ label, attributes, by: 'daemon', at }, reason);
    return save(pass, { kind: 'groupHeld', at, held });
  },
  holdGroup: (pass, { group, change }) =>
    backgroundTask(pass, 'holdGroup', ({ parts, view, fence }, signal) =>
      holdGroup(parts, view, { group, change, fence }, signal),
    ),
  moveGroup: (pass, { label }) =>
    backgroundTask(pass, 'moveGroup', ({ parts, view, fence }, signal) =>
      moveGroup(parts, view, { label, fence }, signal),
    ),
  checkInventory: (pass) =>
    backgroundTask(pass, 'inventory', ({ parts, view }, signal) => checkInventory(parts, view, signal)),
  setBrake: (pass) => save(pass, { kind: 'brakeSet', at: nowOf(pass) }),
  liftBrake: (pass) => save(pass, { kind: 'brakeLifted', at: nowOf(pass) }),
  admit: ({ parts, view, fence }, action) => admitCollectors(parts, view, fence, action),
  deliver: async ({ parts, view }, { collectorIds }) => {
    await parts.queue.bringForward(view.rollout.id, collectorIds);
    return 'unchanged';
  },
  withdrawWaiting: (pass, { reason }) =>
    backgroundTask(pass, 'withdraw', ({ parts, view, fence }, signal) =>
      endUpgrades(parts, view.rollout, { kind: 'withdrawn', reason, fence }, signal),
    ),
  abandon: (pass, { reason }) =>
    backgroundTask(pass, 'abandon', ({ parts, view, fence }, signal) =>
      endUpgrades(parts, view.rollout, { kind: 'abandoned', reason, fence }, signal),
    ),
  beginRollback: (pass) =>
    backgroundTask(pass, 'rollback', ({ parts, view }, signal) => beginRollback(parts, view, signal)),
  endRollback: (pass, { reason }) =>
    backgroundTask(pass, 'rolledBack', ({ parts, view, fence }, signal) =>
      endRollback(parts, view, { reason, fence }, signal),
    ),
};

/**
 * Starts work that calls the service or a gate, or changes many records, and may take longer than the leader can wait. The
 * work saves its own result. When it is lost, the next decision requests it again.
 */
async function backgroundTask(
  pass: Pass,
  name: string,
  work: (pass: Pass, signal: AbortSignal) => Promise<'done' | 'again'>,
): Promise<ActionResult> {
  const { parts, view } = pass;
  await parts.backgroundTasks.run(`${view.rollout.id}/${name}`, (signal) => work(pass, signal));
  return 'unchanged';
}

/** Stops the rollout. Creates that were being sent have been sent by the time the change is visible (P4). */
async function stop(pass: Pass, fact: RolloutFact): Promise<ActionResult> {
  const { parts, view } = pass;
  // Decided again with the brake set, so that no create is sent between this decision and the hold.
  if (!view.braked) return save(pass, { kind: 'brakeSet', at: nowOf(pass) });
  await waitForLeavingCreates(parts, view.rollout.id);
  return save(pass, fact);
}

/** Applies `onBreach` after too many failures or a missed gate. The bad build is held for all policies first. */
async function breach(pass: Pass, action: Extract<Action, { do: 'breach' }>): Promise<ActionResult> {
  const { parts, view } = pass;
  const { holdsBuild } = action;
  const cause = await withShared(pass, action.cause);
  const { id, policy } = view.rollout;
  const { targetBuild } = view.rollout.plan;
  const at = nowOf(pass);
  if (holdsBuild && view.buildHold === null) {
    const hold = { build: targetBuild, by: 'daemon', reason: `${id}, ${rolloutReasonText(cause)}`, at };
    if ((await parts.register.holdBuild(hold)) === 'held') {
      const { by } = hold;
      const entry = { event: 'build.held', subject: targetBuild, by, reason: hold.reason, at } as const;
      await parts.register.audit(entry);
      parts.sink.note({ ...entry, policy: policy.name });
    }
  }
  switch (policy.onBreach) {
    case 'hold':
      return stop(pass, { kind: 'held', at, reason: cause });
    case 'abort':
      return stop(pass, { kind: 'aborted', at, reason: cause });
    case 'rollback':
      return stop(pass, { kind: 'rollbackAsked', at, reason: cause });
    default:
      return assertNever(policy.onBreach);
  }
}

/** Adds the shared attribute of the failures to the cause, if known. */
async function withShared({ parts, view }: Pass, cause: BreachCause): Promise<BreachCause> {
  if (cause.kind !== 'failures') return cause;
  const { sharedAttribute } = await withSharedAttribute(parts, view);
  return sharedAttribute === undefined ? cause : { ...cause, shared: sharedAttribute };
}

async function save({ parts, view, fence }: Pass, fact: RolloutFact): Promise<ActionResult> {
  if (!isStorable(view.rollout, fact)) return 'unchanged';
  const result = await saveRolloutFact(parts, view.rollout, fact, 'daemon', fence);
  if (result !== 'saved') return 'stale';
  await auditStop(parts, view.rollout.id, fact);
  return 'changed';
}

function nowOf({ parts }: Pass): EpochMs {
  return parts.clock.now();
}
