import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import type { GroupHold } from '../../contract/admin/holds.ts';
import { assessCalendar, calendarOfWave } from '../calendar/calendar.ts';
import { freeSlots, makeLaneRule, slotBlocker } from '../decision/admission.ts';
import { assess, hasBegun } from '../decision/assess.ts';
import { type Blocker, stateBlocker, storeBlockers } from '../decision/blocker.ts';
import { decideAssessed } from '../decision/decide.ts';
import type { Action } from '../decision/decision.ts';
import { paceOf } from '../decision/pace.ts';
import { reasonNow } from '../decision/reason-now.ts';
import { awaitsDeferredAlone, deferredBlocker, waveWaits } from '../decision/wave-blockers.ts';
import { blockerText } from '../messages/blockers.ts';
import {
  awaitsRollbackText,
  failedNowText,
  progressText,
  staysText,
  takenBackText,
  unseenTaskText,
  waitingRetryText,
  withdrawnByHoldText,
} from '../messages/explanations.ts';
import { whyLeftBehind } from '../model/left-behind.ts';
import { isRolloutEnd, type RolloutView } from '../model/rollout.ts';
import { dueAtOf, isEnd, isFailed, mayHaveBuild, mayRunUnseen, type Upgrade } from '../model/upgrade.ts';
import { quoteArgument } from './command-for.ts';

/** The situation of a collector, and until when it lasts, if known. */
export interface UpgradeExplanation {
  readonly reason: string;
  readonly until: EpochMs | null;
}

/**
 * Explains the state of one collector and when it changes, from the rules that the daemon itself follows (DESIGN §3).
 * @param group the held group that it belongs to
 */
export function explainUpgrade(
  rolloutView: RolloutView,
  upgrade: Upgrade,
  now: EpochMs,
  group?: GroupHold,
): UpgradeExplanation {
  const view = group === undefined ? rolloutView : withGroup(rolloutView, upgrade, group);
  const explanation = explainProgress(view, upgrade, now);
  const { original } = view.rollout.rollback;
  if (original !== null && (!isEnd(upgrade.progress.state) || upgrade.progress.state === 'succeeded'))
    return { ...explanation, reason: takenBackText(original, upgrade, explanation.reason) };
  const { policy, state } = view.rollout;
  const mayRetry = isFailed(upgrade.progress.state) && !isRolloutEnd(state) && state !== 'rollingBack';
  if (!mayRetry) return explanation;
  const held = heldStratumOf(view, upgrade);
  const reason = failedNowText(explanation.reason, {
    state,
    retry: `upwave retry ${quoteArgument(policy.name)}`,
    held: held && {
      is: blockerText({ kind: 'stratumHeld', label: held.label, reason: held.reason, until: null }),
      release: `upwave release ${quoteArgument(held.label)}`,
    },
  });
  return { ...explanation, reason };
}

/** A hold of a group counts as soon as it is stored. The rollout moves the collectors at its next pass. */
function withGroup(view: RolloutView, { identity: { stratum } }: Upgrade, group: GroupHold): RolloutView {
  const { rollout } = view;
  const { label, by, at, reason: words } = group;
  const held = [{ stratum, label, by, at, reason: { kind: 'asked', by, words } } as const];
  return { ...view, rollout: { ...rollout, strata: { ...rollout.strata, held } } };
}

function explainProgress(view: RolloutView, upgrade: Upgrade, now: EpochMs): UpgradeExplanation {
  const { progress } = upgrade;
  switch (progress.state) {
    case 'pending':
      return explained(...blockersOf(view, upgrade, now));
    case 'retrying': {
      const isDue = progress.dueAt <= now;
      const mayStart = view.rollout.state === 'running' && heldStratumOf(view, upgrade) === undefined;
      if (!isDue && mayStart) break;
      // A blocked retry shows both the blocker and the failure that made it a retry.
      const { reason, until } = explained(...blockersOf(view, upgrade, now));
      return { reason: waitingRetryText(reason, { isDue, upgrade }), until };
    }
    case 'queued':
      if (view.createsWait !== undefined && view.rollout.state === 'running')
        return explained(...storeBlockers(view));
      if (progress.refused === undefined && mayRunUnseen(upgrade, now))
        return { reason: unseenTaskText, until: upgrade.tally.inDoubtUntil ?? null };
      if (progress.refused === undefined && progress.heartbeatAfter === undefined)
        return { reason: progressText(upgrade), until: null };
      break;
    case 'upgrading':
      break;
    case 'deferred':
      return { reason: progressText(upgrade), until: progress.since + view.rollout.policy.defer.upToMs };
    case 'verifying':
      return { reason: progressText(upgrade), until: progress.verifyBy };
    case 'succeeded':
    case 'failed':
    case 'timedOut':
    case 'unconfirmed': {
      return { reason: endText(view, upgrade), until: null };
    }
    case 'starting':
    case 'withdrawn':
    case 'rolledBack':
      return { reason: progressText(upgrade), until: null };
    default:
      return assertNever(progress);
  }
  return { reason: progressText(upgrade), until: dueAtOf(upgrade) ?? null };
}

/** An ended upgrade. The collectors of a rollback are explained by it as soon as it has a plan. */
function endText({ rollout, rollback }: RolloutView, upgrade: Upgrade): string {
  const progress = progressText(upgrade);
  if (rollout.state !== 'rollingBack') return progress;
  const why = whyLeftBehind(rollout.rollback.leftBehind, upgrade);
  if (why !== undefined) return staysText(upgrade, why);
  const isPlanned = rollback !== null;
  return isPlanned || !mayHaveBuild(upgrade.progress.state)
    ? progress
    : awaitsRollbackText(progress, upgrade);
}

/** Explains a collector that was withdrawn by a hold, and what brings it back; undefined for any other collector. */
export function explainWithdrawnByHold(
  { progress, ...upgrade }: Upgrade,
  after: {
    readonly isHeld: boolean;
    /** The rollout accepts late joiners. */
    readonly acceptsJoiners: boolean;
    readonly nextScanAt: EpochMs | null;
  },
): UpgradeExplanation | undefined {
  if (progress.state !== 'withdrawn' || progress.reason.kind !== 'collectorHeld') return undefined;
  const next = after.isHeld ? 'release' : after.acceptsJoiners ? 'nextScan' : 'nextRollout';
  const reason = withdrawnByHoldText({ ...upgrade, progress }, next);
  return { reason, until: next === 'nextScan' ? after.nextScanAt : null };
}

/** Explains a collector whose record is unreadable. */
export function explainUnreadable({ unreadableRecords }: RolloutView): UpgradeExplanation {
  return explained({ kind: 'recordsUnreadable', keys: unreadableRecords?.keys ?? [], until: null });
}

function explained(...blockers: readonly Blocker[]): UpgradeExplanation {
  return { reason: blockers.map(blockerText).join('; '), until: blockers.at(-1)?.until ?? null };
}

/** What this collector waits for. Evaluated in order: what stops the whole rollout comes first. */
function blockersOf(rolloutView: RolloutView, upgrade: Upgrade, now: EpochMs): readonly Blocker[] {
  const view = assess(rolloutView);
  const { rollout, current } = view;
  const held = heldStratumOf(view, upgrade);
  if (held !== undefined)
    return [{ kind: 'stratumHeld', label: held.label, reason: held.reason, until: null }];
  if (rollout.state !== 'running') return [stateBlocker(rollout, reasonNow(view))];
  const { actions, blockers } = decideAssessed(view, now);
  const wave = view.assessed[upgrade.identity.wave];
  if (wave !== undefined && !hasBegun(wave.wave)) {
    // Of all waits for an earlier wave, only a soak has a known end.
    const until = blockers.find(({ kind }) => kind === 'soak')?.until ?? null;
    const order = { kind: 'waveOrder', wave: wave.wave.name, waits: waveWaits(view, wave), until } as const;
    const isAwaited = current?.assessment.evidence === 'awaited' && awaitsDeferredAlone(view);
    const closed = closedAt(view, upgrade, until ?? now);
    return [
      order,
      ...(isAwaited ? [deferredBlocker(view, current)] : []),
      ...(closed === undefined ? [] : [closed]),
    ];
  }
  const [first] = blockers;
  const isStopped = view.braked || actions.some((action) => stopsAll.has(action.do));
  if (isStopped && first !== undefined) return [first];
  if (view.createsWait !== undefined) return storeBlockers(view);
  const verdict = makeLaneRule(view, now)(upgrade.identity.lane);
  if (verdict.kind === 'blocked') return [verdict.blocker];
  if (freeSlots(view) <= 0) return [slotBlocker(view)];
  const pace = paceOf(view, now);
  if (pace !== undefined && pace.startsNow === 0) return [pace.blocker];
  return [{ kind: 'turn', until: null }];
}

/** The calendar of its wave, where that is closed when the wave may open; undefined: it is open. */
function closedAt({ rollout, groups }: RolloutView, { identity }: Upgrade, at: EpochMs): Blocker | undefined {
  const { policy, rollback } = rollout;
  const { timeZone = '' } = groups.lanes[identity.lane] ?? {};
  if (rollback.anyTime) return undefined;
  const calendar = calendarOfWave(policy, policy.waves[identity.wave]);
  const { closedBy, until } = assessCalendar(calendar, timeZone, at);
  return closedBy === null ? undefined : { ...closedBy, timeZone, until };
}

/** Actions that stop the whole rollout. */
const stopsAll: ReadonlySet<Action['do']> = new Set([
  'hold',
  'breach',
  'isolate',
  'isolateGroup',
  'moveGroup',
  'setBrake',
]);

function heldStratumOf({ rollout }: RolloutView, upgrade: Upgrade) {
  return rollout.strata.held.find(({ stratum }) => stratum === upgrade.identity.stratum);
}
