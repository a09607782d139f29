import type { EpochMs } from '../base/time.ts';
import { nextOpening } from './admission.ts';
import { assessedAt, total } from './gate.ts';
import type { RolloutView } from './rollout.ts';
import { isEnd, type UpgradeState } from './upgrade.ts';
import { deferredUntil } from './wave-evidence.ts';

/** What a running rollout waits for while nothing of it is in flight, and until when where that is known. */
export interface WaitsFor {
  /**
   * `window`: all that could start waits for an open window. `collectors`: only deferred collectors remain, of the wave or
   * of the rollout; they are given up then. `inventory`: the inventory is not plausible, and is read again.
   */
  readonly kind: 'window' | 'collectors' | 'inventory';
  readonly until: EpochMs | null;
}

/** What nothing but a change outside can bring on; null while something of the rollout goes on, a soak included. */
export function waitsForOf(view: RolloutView, now: EpochMs): WaitsFor | null {
  const { state, doubt, waves } = view.rollout;
  if (state !== 'running' || total(view, isInFlight) > 0) return null;
  if (doubt !== undefined) return { kind: 'inventory', until: null };
  const index = waves.findIndex((wave) => wave.state !== 'passed');
  const current = assessedAt(view, index);
  if (current === undefined && isDeferredAlone(view)) {
    return { kind: 'collectors', until: lastDeferredUntil(view) };
  }
  if (current?.assessment.settled) {
    const { wave, assessment } = current;
    const hasBegun = wave.state === 'open' || wave.state === 'soaking';
    const isAwaited = assessment.evidence === 'awaited' && !wave.acceptedWithoutEvidence;
    return hasBegun && isAwaited ? { kind: 'collectors', until: deferredUntil(view, index) } : null;
  }
  const opening = nextOpening(view, now);
  return opening === undefined ? null : { kind: 'window', until: opening };
}

/** True while every upgrade that has not ended is deferred. */
export function isDeferredAlone(view: RolloutView): boolean {
  const deferred = total(view, (state) => state === 'deferred');
  return deferred > 0 && deferred === total(view, (state) => !isEnd(state));
}

/** When the last deferred collector of the rollout is given up at the latest; null where that is not known. */
export function lastDeferredUntil(view: RolloutView): EpochMs | null {
  const ends = view.waves.flatMap((_wave, index) => deferredUntil(view, index) ?? []);
  return ends.length === 0 ? null : Math.max(...ends);
}

function isInFlight(state: UpgradeState): boolean {
  return state === 'queued' || state === 'starting' || state === 'upgrading' || state === 'verifying';
}
