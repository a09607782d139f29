import type { EpochMs } from '../base/time.ts';
import { assessWave, type WaveAssessment } from './gate.ts';
import type { Hold } from './hold.ts';
import type { WaveRule } from './policy.ts';
import { isRolloutEnd, type Rollout, type RolloutView, type Wave } from './rollout.ts';
import { isEnd, type UpgradeState, upgradeStates } from './upgrade.ts';

/** What the reconciler shall do, as data; `orchestrator/reconcile.ts` carries it out. */
export type Action =
  | { readonly do: 'openWave'; readonly wave: number }
  | { readonly do: 'beginSoak'; readonly wave: number; readonly endsAt: EpochMs }
  | { readonly do: 'passWave'; readonly wave: number }
  | { readonly do: 'hold'; readonly wave: number; readonly reason: string }
  /** The store's brake is set, but nothing is wrong any more. */
  | { readonly do: 'liftBrake' }
  | { readonly do: 'admit'; readonly collectorIds: readonly number[]; readonly slots: number }
  /** Their steps are overdue: make sure that a job exists for each. */
  | { readonly do: 'deliver'; readonly collectorIds: readonly number[] }
  /** The rollout is over: what has not started never will. */
  | { readonly do: 'withdrawWaiting'; readonly reason: string }
  | { readonly do: 'finish'; readonly state: 'succeeded' | 'finishedWithFailures' }
  /** An ended rollout has nothing left to watch. */
  | { readonly do: 'close' };

export interface Decision {
  readonly actions: readonly Action[];
  /** Why nothing more starts; `status` prints these. */
  readonly holds: readonly Hold[];
  /** When to decide again even if nothing happens. */
  readonly wakeAt: EpochMs | null;
}

/**
 * Decides what a rollout does now. Pure: no clock, no store; the same view and instant give the same decision.
 * It carries P2 (slots), P3 (order) and P14 (inconclusive is a hold), together with the guards of the store, which
 * refuse what was decided from a view that has changed since.
 */
export function decide(view: RolloutView, now: EpochMs): Decision {
  const { rollout } = view;
  if (rollout.endedAt !== null) return { actions: [], holds: [], wakeAt: null };
  const deliver = deliverOverdue(view);
  if (isRolloutEnd(rollout.state)) return decideEnded(view, deliver);
  if (rollout.state !== 'running') {
    return { actions: deliver, holds: [{ reason: holdWords(rollout), until: null }], wakeAt: null };
  }
  const tripped = findTripped(view);
  if (tripped !== undefined)
    return { actions: [tripped], holds: [{ reason: tripped.reason, until: null }], wakeAt: now };
  const progress = decideWave(view, now);
  const liftBrake: Action[] = view.braked ? [{ do: 'liftBrake' }] : [];
  const admission = progress.isHold ? { actions: [], holds: [], wakeAt: null } : admit(view);
  return {
    actions: [...liftBrake, ...progress.actions, ...admission.actions, ...deliver],
    holds: [...progress.holds, ...admission.holds],
    wakeAt: earliest([progress.wakeAt, admission.wakeAt]),
  };
}

/** An aborted rollout: what waits is withdrawn, what runs is watched to its end. */
function decideEnded(view: RolloutView, deliver: readonly Action[]): Decision {
  const waiting = total(view, (state) => state === 'pending' || state === 'retrying' || state === 'deferred');
  const open = total(view, (state) => !isEnd(state));
  const actions: Action[] = [...deliver];
  if (waiting > 0) actions.push({ do: 'withdrawWaiting', reason: `the rollout was ${view.rollout.state}` });
  else if (open === 0) actions.push({ do: 'close' });
  return {
    actions,
    holds: [{ reason: `${open} upgrades are watched to their end`, until: null }],
    wakeAt: null,
  };
}

/** The breaker: any wave that has begun may trip, also one that has passed and whose late ones fail. */
function findTripped(view: RolloutView): Extract<Action, { do: 'hold' }> | undefined {
  for (const [index, { wave, assessment }] of assessed(view).entries()) {
    if (wave.state === 'waiting' || !assessment.tripped) continue;
    const { failures, failuresAllowed } = assessment;
    const lost = view.waves[index]?.lost ?? 0;
    const lostWords = lost > 0 ? `, ${lost} of them did not come back` : '';
    const reason = `wave ${wave.name}: failures ${failures}, allowed ${failuresAllowed}${lostWords}`;
    return { do: 'hold', wave: index, reason };
  }
  return undefined;
}

interface Progress {
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
  readonly wakeAt: EpochMs | null;
  readonly isHold: boolean;
}

/** What the first wave that has not passed does next (P3: no other wave may begin). */
function decideWave(view: RolloutView, now: EpochMs): Progress {
  const index = view.rollout.waves.findIndex((wave) => wave.state !== 'passed');
  const current = assessed(view)[index];
  if (current === undefined) return finishOrWait(view);
  const { wave, rule, assessment } = current;
  switch (wave.state) {
    case 'waiting':
      return acts({ do: 'openWave', wave: index });
    case 'open':
      if (!assessment.settled) return waits();
      if (!assessment.hasEvidence && !wave.acceptedWithoutEvidence) {
        const reason = `wave ${wave.name} brought no evidence: none of its ${wave.size} collectors was upgraded`;
        return { ...acts({ do: 'hold', wave: index, reason }), isHold: true };
      }
      if (rule.soakMs === 0 || wave.size === 0) return acts({ do: 'passWave', wave: index });
      return acts({ do: 'beginSoak', wave: index, endsAt: soakEnd(view, index, rule, now) });
    case 'soaking': {
      if (!assessment.settled)
        return waits(`wave ${wave.name}: ${assessment.active} came late and are on their way`);
      const endsAt = Math.max(wave.soakEndsAt ?? 0, soakEnd(view, index, rule, 0));
      if (now >= endsAt) return acts({ do: 'passWave', wave: index });
      return {
        actions: [],
        holds: [{ reason: `wave ${wave.name} soaks`, until: endsAt }],
        wakeAt: endsAt,
        isHold: false,
      };
    }
    default:
      return waits(`wave ${wave.name} is ${wave.state}`);
  }
}

/** All waves have passed: done when every upgrade has ended; deferred ones may still be waited for. */
function finishOrWait(view: RolloutView): Progress {
  const open = total(view, (state) => !isEnd(state));
  if (open > 0) {
    const deferred = total(view, (state) => state === 'deferred');
    const words = deferred === 1 ? '1 deferred collector is' : `${deferred} deferred collectors are`;
    return waits(deferred === open ? `${words} waited for` : undefined);
  }
  const failures = total(
    view,
    (state) => state === 'failed' || state === 'timedOut' || state === 'unconfirmed',
  );
  return acts({ do: 'finish', state: failures === 0 ? 'succeeded' : 'finishedWithFailures' });
}

/** A wave's soak runs from the end of its last upgrade. */
function soakEnd(view: RolloutView, index: number, rule: WaveRule, now: EpochMs): EpochMs {
  return (view.waves[index]?.lastChangeAt ?? now) + rule.soakMs;
}

/** Free slots go to retries first, then to the open wave in plan order. */
function admit(view: RolloutView): Omit<Progress, 'isHold'> {
  const { policy, waves } = view.rollout;
  const slots = policy.concurrency;
  const free = slots - view.slotsTaken;
  const isOpen = view.candidates !== null && waves[view.candidates.wave]?.state === 'open';
  const pending = isOpen ? (view.candidates?.collectorIds ?? []) : [];
  const wanted = [...view.retriesDue, ...pending];
  if (wanted.length === 0) {
    const isIdle = view.slotsTaken === 0 && view.nextRetryAt !== null;
    const holds = isIdle ? [{ reason: 'the next retry is not due yet', until: view.nextRetryAt }] : [];
    return { actions: [], holds, wakeAt: view.nextRetryAt };
  }
  if (free <= 0)
    return { actions: [], holds: [{ reason: `all ${slots} slots are taken`, until: null }], wakeAt: null };
  const actions: Action[] = [{ do: 'admit', collectorIds: wanted.slice(0, free), slots }];
  return { actions, holds: [], wakeAt: view.nextRetryAt };
}

function deliverOverdue(view: RolloutView): readonly Action[] {
  return view.overdue.length === 0 ? [] : [{ do: 'deliver', collectorIds: view.overdue }];
}

/** Each wave with its rule and how it stands. */
export function assessed(
  view: RolloutView,
): ReadonlyArray<{ wave: Wave; rule: WaveRule; assessment: WaveAssessment }> {
  return view.rollout.waves.flatMap((wave, index) => {
    const rule = view.rollout.policy.waves[index];
    const summary = view.waves[index];
    if (rule === undefined || summary === undefined) return [];
    return [{ wave, rule, assessment: assessWave(wave, rule, summary) }];
  });
}

function total(view: RolloutView, wanted: (state: UpgradeState) => boolean): number {
  let sum = 0;
  for (const { counts } of view.waves) {
    for (const state of upgradeStates) if (wanted(state)) sum += counts[state];
  }
  return sum;
}

function holdWords(rollout: Rollout): string {
  return `${rollout.state}: ${rollout.reason}`;
}

function acts(action: Action): Progress {
  return { actions: [action], holds: [], wakeAt: null, isHold: false };
}

function waits(reason?: string): Progress {
  return {
    actions: [],
    holds: reason === undefined ? [] : [{ reason, until: null }],
    wakeAt: null,
    isHold: false,
  };
}

function earliest(instants: ReadonlyArray<EpochMs | null>): EpochMs | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
}
