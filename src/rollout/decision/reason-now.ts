import { sumOf } from '../../base/grouping.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { isWaiting } from '../model/upgrade.ts';
import { type AssessedView, countUpgradesIn, setAsideIn } from './assess.ts';
import { failuresOf } from './raise-alarm.ts';

/**
 * Why a rollout is in its state, as of now. Upgrades that ran when it was held may have failed since, so a breach shows the
 * current failures too. What they share is a field of its own. The build or the strata for which it was held may be released.
 */
export function reasonNow(view: AssessedView): RolloutReason {
  const { state, reason } = view.rollout;
  if (state !== 'held') return reason;
  switch (reason.kind) {
    case 'onlyHeldStrata':
      return onlyHeldNow(view, reason);
    case 'buildHeld':
      return view.buildHold === null ? { ...reason, isReleased: true } : reason;
    case 'failures':
      return failuresNow(view, reason);
    default:
      return reason;
  }
}

function failuresNow(
  view: AssessedView,
  { kind, failures, shared }: Extract<RolloutReason, { kind: 'failures' }>,
): RolloutReason {
  const wave = view.assessed.find((each) => each.wave.name === failures.wave);
  const now = wave && { ...failuresOf(view, wave), inHeldStrata: setAsideIn(view, wave.index).weight };
  return {
    ...{ kind, failures },
    ...(now !== undefined && now.failures !== failures.failures && { now }),
    ...(shared !== undefined && view.sharedAttribute === undefined && { shared }),
  };
}

function onlyHeldNow(
  view: AssessedView,
  reason: Extract<RolloutReason, { kind: 'onlyHeldStrata' }>,
): RolloutReason {
  const { kind, labels } = reason;
  const upgrades = sumOf(view.assessed, ({ assessment }) => assessment.setAside);
  const startable = countUpgradesIn(view, isWaiting) - upgrades;
  if (upgrades + startable === 0) return reason;
  const { held } = view.rollout.strata;
  const released = labels.filter((label) => held.every((each) => each.label !== label));
  const waits = new Set(view.strata.flatMap(({ stratum, waiting }) => (waiting > 0 ? [stratum] : [])));
  return {
    ...{ kind, upgrades },
    labels: held.flatMap(({ stratum, label }) => (waits.has(stratum) ? [label] : [])),
    ...(startable > 0 && { since: { startable, released } }),
  };
}
