import type { Clock, DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { evolveRollout, isStorable } from '../../rollout/decision/evolve-rollout.ts';
import { findUnmoved } from '../../rollout/decision/outlier-group.ts';
import type { RolloutFact } from '../../rollout/decision/rollout-facts.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import type { RolloutReason } from '../../rollout/model/rollout-reason.ts';
import type { EventSink } from '../ports/event-sink.ts';
import { sendWithinMs } from '../ports/fleet-service.ts';
import type { Fence, WakeUps } from '../ports/leader.ts';
import type { RolloutStore, SaveResult } from '../ports/rollout-store.ts';
import { auditStop } from './audit-stop.ts';
import { describeRolloutChange } from './describe-change.ts';
import { loadRolloutSummary, type ViewParts } from './read-records.ts';

/** What saves a change, and tells of it. */
export interface SaveParts {
  readonly store: RolloutStore;
  readonly sink: EventSink;
  readonly wakeUps: WakeUps;
}

export interface ChangeRolloutParts extends ViewParts, SaveParts {
  readonly store: RolloutStore;
  readonly clock: Clock;
}

/** What changes a rollout, and waits for creates that are being sent. */
export interface StopRolloutParts extends ChangeRolloutParts {
  readonly sleep: Sleep;
}

const leavingPollMs: DurationMs = 10;

// The leader and operators change a rollout. More conflicts in a row than this are a bug.
const conflictsMax = 20;

/**
 * Changes a rollout: reads it, gets the fact, saves, and repeats this when another writer was faster.
 * @returns the view that the fact is based on, or undefined when there is no such rollout
 */
export async function changeRollout(
  parts: ChangeRolloutParts,
  rolloutId: string,
  by: string,
  factOf: (view: RolloutView) => RolloutFact | undefined,
): Promise<RolloutView | undefined> {
  for (let conflict = 0; conflict < conflictsMax; conflict += 1) {
    const now = parts.clock.now();
    const view = await loadRolloutSummary(parts, rolloutId, now);
    if (view === undefined) return undefined;
    const fact = factOf(view);
    if (fact === undefined || !isStorable(view.rollout, fact)) return view;
    if ((await saveRolloutFact(parts, view.rollout, fact, by, null)) === 'saved') return view;
  }
  throw new Error(`rollout ${rolloutId} changed ${conflictsMax} times while it was being changed`);
}

/**
 * Like `changeRollout`, for changes that stop creates. It returns when no create can be sent any more and the change is
 * still stored (P4). A fail-over right after the write may undo it, which an older rev shows. A later change by another
 * writer is accepted.
 */
export async function stopRollout(
  parts: StopRolloutParts,
  rolloutId: string,
  by: string,
  factOf: (view: RolloutView) => RolloutFact | undefined,
): Promise<RolloutView | undefined> {
  for (let undone = 0; undone < conflictsMax; undone += 1) {
    const before = await changeRollout(parts, rolloutId, by, factOf);
    if (before === undefined) return undefined;
    const fact = factOf(before);
    await waitForLeavingCreates(parts, rolloutId);
    if (fact === undefined || !isStorable(before.rollout, fact)) return before;
    const now = await loadRolloutSummary(parts, rolloutId, parts.clock.now());
    if (now === undefined) return before;
    const savedRev = before.rollout.rev + 1;
    const isUndone =
      now.rollout.rev < savedRev || (now.rollout.rev === savedRev && factOf(now) !== undefined);
    if (!isUndone) return before;
  }
  throw new Error(`the stop of rollout ${rolloutId} was undone ${conflictsMax} times`);
}

/** Saves one fact of a rollout, and reports it. The brake follows the state: only a running rollout may create tasks. */
export async function saveRolloutFact(
  parts: SaveParts,
  before: Rollout,
  fact: RolloutFact,
  by: string,
  fence: Fence | null,
): Promise<SaveResult> {
  const after = evolveRollout(before, fact);
  const events = describeRolloutChange(before, after, fact, by);
  const { unreadable } = before;
  const change = {
    rollout: after,
    expectedRev: before.rev,
    events,
    brake: brakeFor(after, fact),
    ...(unreadable?.kind === 'corrupt' && { replaced: unreadable.text }),
  };
  const result = await parts.store.saveRollout(change, fence);
  if (result === 'saved') {
    for (const event of events) parts.sink.report(event);
    parts.wakeUps.wake();
  }
  return result;
}

/**
 * Holds a rollout for a reason that all its collectors share (DESIGN §4, class `hold`). It applies to running rollouts, and to
 * holds that would end by themselves.
 */
export async function holdRollout(
  parts: ChangeRolloutParts,
  rolloutId: string,
  reason: RolloutReason,
): Promise<void> {
  const at = parts.clock.now();
  const factOf = ({ rollout }: RolloutView): RolloutFact | undefined =>
    rollout.state === 'running' || rollout.hold?.heldFor !== undefined
      ? { kind: 'held', at, reason }
      : undefined;
  const before = await changeRollout(parts, rolloutId, 'daemon', factOf);
  const fact = before && factOf(before);
  if (before !== undefined && fact !== undefined && isStorable(before.rollout, fact))
    await auditStop(parts, rolloutId, fact);
}

/**
 * The effect of each fact on the brake of a running rollout, in the same write. A change of a wave keeps the brake, which a
 * failure may have set just before. After a policy change, the next decision judges the failures so far, and lifts the
 * brake again. A fact that ends `running`, such as `paused`, needs no brake here: `brakeFor` sets it in any other state.
 */
const brakeAfter: Readonly<Record<RolloutFact['kind'], 'set' | 'lift' | 'keep'>> = {
  approved: 'lift',
  waveAwaitsApproval: 'keep',
  waveApproved: 'keep',
  waveOpened: 'keep',
  soakBegun: 'keep',
  soakPolled: 'keep',
  soakSkipped: 'keep',
  gateAnswered: 'keep',
  wavePassed: 'keep',
  strataHeld: 'keep',
  groupHeld: 'set',
  groupEmpty: 'keep',
  groupMoved: 'keep',
  stratumReleased: 'keep',
  held: 'keep',
  holdEnded: 'lift',
  paused: 'keep',
  resumed: 'lift',
  acknowledgedLowered: 'keep',
  aborted: 'keep',
  superseded: 'keep',
  rollbackAsked: 'keep',
  windowsLifted: 'keep',
  leftBehindForeseen: 'keep',
  rollbackNamed: 'keep',
  rolledBack: 'keep',
  reopened: 'lift',
  finished: 'keep',
  closed: 'keep',
  accountTied: 'keep',
  inventoryImplausible: 'set',
  inventoryTrusted: 'keep',
  policyChanged: 'set',
  brakeSet: 'set',
  brakeLifted: 'lift',
};

function brakeFor(after: Rollout, fact: RolloutFact): 'set' | 'lift' | 'keep' {
  // Even after a resume, the collectors that may start are known only after a held group was moved.
  return after.state === 'running' && findUnmoved({ rollout: after }) === undefined
    ? brakeAfter[fact.kind]
    : 'set';
}

/**
 * Waits for creates that are being sent. The brake is set, so no new intent is stored. A create with an earlier intent is
 * sent within `sendWithinMs` or not at all, so the verb answers only after that time (P4).
 */
export async function waitForLeavingCreates(
  parts: Pick<StopRolloutParts, 'store' | 'sleep'>,
  rolloutId: string,
): Promise<void> {
  // Without a brake, such as for the hold of one collector, other creates continue. They do not extend this wait.
  for (let waitedMs = 0; waitedMs <= sendWithinMs; waitedMs += leavingPollMs) {
    if ((await parts.store.countFreshIntents(rolloutId, sendWithinMs)) === 0) return;
    await parts.sleep(leavingPollMs);
  }
}
