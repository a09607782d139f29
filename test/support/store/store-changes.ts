import type { UpgradeChange } from '../../../src/orchestrator/ports/rollout-store.ts';
import type { RolloutEvent } from '../../../src/rollout/model/events.ts';
import type { PlanGroups } from '../../../src/rollout/model/plan-groups.ts';
import type { Rollout, WaveState } from '../../../src/rollout/model/rollout.ts';
import type { Upgrade, UpgradeProgress, UpgradeState } from '../../../src/rollout/model/upgrade.ts';
import {
  anUpgrade,
  aRollout,
  aWave,
  because,
  someGroups,
  startedAt,
  type UpgradeFigures,
} from '../builders.ts';

const rolloutId = 'production-20260302-1';

/** Records from collector 1 on, in plan order, with names that are hard on a format. */
export function pendingOnes(
  count: number,
  changes: Partial<UpgradeFigures> | ((index: number) => Partial<UpgradeFigures>) = {},
): readonly Upgrade[] {
  return range(count).map((id) => {
    const own = typeof changes === 'function' ? changes(id - 1) : changes;
    return anUpgrade(
      { state: 'pending' },
      { collectorId: id, order: id, collectorName: `näme "${id}" {"lane":9}`, ...own },
    );
  });
}

/** From 1 to count. */
export function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** The next record of a collector, with the event that tells of it a minute after the start. */
export function changeTo(before: Upgrade, progress: UpgradeProgress, at = startedAt + 60_000): UpgradeChange {
  const {
    identity: { collectorId, collectorName, wave, order, lane, stratum, domains },
    tally: { attempts, firstStartedAt },
  } = before;
  const after = anUpgrade(progress, {
    rolloutId: before.identity.rolloutId,
    collectorId,
    collectorName,
    wave,
    order,
    lane,
    stratum,
    domains,
    attempts,
    firstStartedAt,
    rev: before.rev + 1,
  });
  return { before, after, events: [anEvent(`upgrade.${after.progress.state}`, at)] };
}

export function admitted(before: Upgrade): UpgradeChange {
  return changeTo(before, { state: 'queued', dueAt: startedAt, freshAt: startedAt, startBy: null });
}

export function intended(before: Upgrade): UpgradeChange {
  return changeTo(before, { state: 'starting', sentAt: startedAt, dueAt: startedAt, startBy: null });
}

export function ended(
  before: Upgrade,
  state: 'failed' | 'unconfirmed' | 'succeeded' | 'withdrawn',
  weight: number,
): UpgradeChange {
  return changeTo(before, {
    state,
    endedAt: startedAt + 60_000,
    reason: because(''),
    weight,
    lost: weight > 1,
  });
}

/** Progress of any state; all its instants are the one given. */
export function anyProgress(state: UpgradeState, instant: number): UpgradeProgress {
  switch (state) {
    case 'pending':
      return { state };
    case 'queued':
      return { state, dueAt: instant, freshAt: 0, startBy: null };
    case 'starting':
      return { state, dueAt: instant, sentAt: instant, startBy: null };
    case 'upgrading':
      return { state, taskId: '7', startedAt: 0, polledAt: 0, deadlineAt: 9, dueAt: instant, ending: null };
    case 'verifying':
      return {
        state,
        taskId: null,
        startedAt: 0,
        verifyBy: 9,
        dueAt: instant,
        endedServiceAt: null,
        baselineHeartbeatAt: null,
        late: false,
      };
    case 'retrying':
      return { state, dueAt: instant, reason: because('again') };
    case 'deferred':
      return { state, condition: 'notAlive', since: 0, dueAt: instant, reason: because('asleep') };
    case 'withdrawn': {
      const onBuild = instant % 2 === 1 ? ({ onBuild: true } as const) : {};
      return { state, endedAt: instant, reason: because(''), weight: 0, lost: false, ...onBuild };
    }
    case 'unconfirmed':
      return { state, endedAt: instant, reason: because(''), weight: 3, lost: true };
    default:
      return {
        state,
        endedAt: instant,
        reason: because(''),
        // A fraction, so that sums of them have to come back to nothing.
        weight: state === 'failed' || state === 'timedOut' ? 0.1 : 0,
        lost: false,
      };
  }
}

export function anEvent(event: RolloutEvent['event'], at = startedAt): RolloutEvent {
  return { at, event, policy: 'production', rollout: rolloutId, reason: 'a "reason"', by: 'daemon' };
}

export function rolloutWith(...states: readonly WaveState[]): Rollout {
  return aRollout({ waves: states.map((state) => aWave({ state })) });
}

/** One stratum, and so many lanes. */
export function lanes(count: number): PlanGroups {
  const one = { stratum: 0, timeZone: '', domains: [] };
  return someGroups({ lanes: Array.from({ length: count }, () => one) });
}
