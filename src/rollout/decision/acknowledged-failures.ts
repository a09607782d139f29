import { sumOf } from '../../base/grouping.ts';
import type { AcknowledgedStratum, RolloutView, Wave } from '../model/rollout.ts';
import { assess, hasBegun } from './assess.ts';

interface Acknowledged {
  readonly waves: readonly Wave[];
  /** For `strata.acknowledged`. */
  readonly acknowledged: readonly AcknowledgedStratum[];
}

/** Acknowledges the failures so far of some strata: only later ones count, up to the full limit. */
export function acknowledgeFailures(
  view: RolloutView,
  isMeant: (each: AcknowledgedStratum) => boolean,
): Acknowledged {
  const before = view.rollout.strata.acknowledged;
  const known = view.strata
    .filter((each) => each.failed > 0 && isMeant(each))
    .map(({ stratum, wave, failed, weight }): AcknowledgedStratum => ({ stratum, wave, failed, weight }));
  const waves = assess(view).assessed.map(({ index, wave, summary, assessment }) => {
    const more = weightIn(known, index) - weightIn(before.filter(isMeant), index);
    return {
      ...wave,
      acknowledgedWeight: Math.min(wave.acknowledgedWeight + more, summary.weight),
      acceptedWithoutEvidence:
        wave.acceptedWithoutEvidence || (hasBegun(wave) && assessment.evidence === 'none'),
    };
  });
  return { waves, acknowledged: [...before.filter((each) => !isMeant(each)), ...known] };
}

/** Removes acknowledged failures that are retried, because they must not make room for new ones. */
export function lowerAcknowledged(view: RolloutView): Acknowledged {
  const { waves } = view.rollout;
  const before = view.rollout.strata.acknowledged;
  const nowOf = new Map(view.strata.map((each) => [`${each.stratum}/${each.wave}`, each]));
  const after = before.map((each) => {
    const { failed = 0, weight = 0 } = nowOf.get(`${each.stratum}/${each.wave}`) ?? {};
    return { ...each, failed: Math.min(each.failed, failed), weight: Math.min(each.weight, weight) };
  });
  return {
    waves: waves.map((wave, index) => {
      const left = wave.acknowledgedWeight - weightIn(before, index) + weightIn(after, index);
      return { ...wave, acknowledgedWeight: Math.min(left, view.waves[index]?.weight ?? 0) };
    }),
    acknowledged: after.filter(({ failed }) => failed > 0),
  };
}

/** True while more failures are acknowledged than exist. */
export function hasExcessAcknowledged(view: RolloutView): boolean {
  if (
    view.unreadableRecords !== undefined ||
    view.rollout.waves.every((each) => each.acknowledgedWeight === 0)
  )
    return false;
  const weightOf = ({ waves }: Pick<Acknowledged, 'waves'>) =>
    sumOf(waves, (each) => each.acknowledgedWeight);
  return weightOf(lowerAcknowledged(view)) < weightOf(view.rollout);
}

function weightIn(strata: readonly AcknowledgedStratum[], index: number): number {
  return sumOf(strata, ({ wave, weight }) => (wave === index ? weight : 0));
}
