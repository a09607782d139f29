import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { fitDurations, type InFlight, priorEnds } from '../model/expected-ends.ts';
import { type DurationSpread, medianOf, p95Of } from '../model/log-normal.ts';
import type { DurationSummary, RolloutView } from '../model/rollout.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { type LearnedDurations, learnedMin, usualVerifyShare } from './estimate.ts';

type LearnedFrom = Pick<RolloutView, 'learned' | 'durations' | 'strata' | 'inFlight'>;

/**
 * Predicts how long the remaining upgrades take, from those that have ended, and from the ages of running ones where these
 * are known. The mix of strata among the remaining upgrades scales the result. The more upgrades of a stratum have ended,
 * the more weight its own durations get.
 */
export function learnedOf(view: LearnedFrom, now: EpochMs): LearnedDurations {
  const { learned } = view;
  const strata = strataOf(view);
  if (strata === undefined) return learned;
  const { ended, factorOf, remainingFactor } = strata;
  // How far one runs beyond all that ended shows nothing of the others: it may be a broken collector.
  const ageMaxMs = learned.count < learnedMin ? Number.POSITIVE_INFINITY : Math.max(...ended.map(longestIn));
  const ages = (view.inFlight ?? []).flatMap((upgrade) => {
    const startedAt = startedAtOf(upgrade);
    if (startedAt === undefined) return [];
    return [Math.min(ageMaxMs, now - startedAt) / factorOf(upgrade.identity)];
  });
  const unscaled = ended.map((each) => {
    const factor = factorOf(each);
    return { ...each, medianMs: each.medianMs / factor, p95Ms: each.p95Ms / factor };
  });
  const fitted = ages.length === 0 ? undefined : fitDurations(unscaled, ages);
  if (fitted !== undefined)
    return {
      count: learned.count,
      meanMs: fitted.meanMs * remainingFactor,
      p95Ms: p95Of(fitted) * remainingFactor,
    };
  const ratio = remainingFactor / averageOf(ended, factorOf);
  return {
    count: learned.count,
    meanMs: learned.meanMs * ratio,
    p95Ms: averageOf(ended, ({ p95Ms }) => p95Ms) * ratio,
  };
}

/** The upgrades of a wave that are in flight, as their end is expected from `from` on. Empty where they are not known. */
export function inFlightOf(
  view: LearnedFrom & Pick<RolloutView, 'rollout'>,
  { wave, from, spread }: { readonly wave: number; readonly from: EpochMs; readonly spread: DurationSpread },
): readonly InFlight[] {
  const strata = strataOf(view);
  const { upgrade: rule, retry } = view.rollout.policy;
  const all = [...view.durations.values()];
  const isEnough = sumOf(all, ({ count }) => count) >= learnedMin;
  const longestOfAllMs = isEnough ? Math.max(...all.map(longestIn)) : rule.deadlineMs;
  const longestOf = (stratum: number): DurationMs => {
    const own = view.durations.get(stratum);
    return own !== undefined && own.count >= learnedMin ? longestIn(own) : longestOfAllMs;
  };
  return (view.inFlight ?? []).flatMap(({ identity, tally, progress }) => {
    if (identity.wave !== wave) return [];
    if (progress.state === 'verifying') {
      const { verifyBy } = progress;
      const usualMs = rule.verifyWithinMs * usualVerifyShare;
      return {
        ageMs: Math.max(0, from - verifyBy + rule.verifyWithinMs),
        factor: usualMs / medianOf(spread),
        deadlineMs: Math.max(leastMs, verifyBy - from),
        limitMs: Math.max(leastMs, verifyBy - from),
        ...{ isOverdue: false, mayRetry: false },
      };
    }
    const startedAt = startedAtOf({ progress });
    if (startedAt === undefined) return [];
    const ageMs = Math.max(0, from - startedAt);
    const mayRetry = tally.attempts < retry.maxAttempts;
    const retryMs = mayRetry ? retry.backoff.initialMs + spread.meanMs : 0;
    const factor = strata === undefined ? 1 : strata.factorOf(identity) / strata.remainingFactor;
    return {
      ageMs,
      factor,
      mayRetry,
      deadlineMs: Math.max(leastMs, rule.deadlineMs - ageMs),
      limitMs: Math.max(leastMs, rule.deadlineMs + Math.max(rule.verifyWithinMs, retryMs) - ageMs),
      isOverdue: ageMs > longestOf(identity.stratum),
    };
  });
}

// An upgrade past its deadline ends with its next poll.
const leastMs: DurationMs = 60_000;

function longestIn({ longestMs, p95Ms }: DurationSummary): DurationMs {
  return longestMs ?? p95Ms;
}

/** When the create of a running upgrade was sent; undefined: it was not. */
function startedAtOf({ progress }: Pick<Upgrade, 'progress'>): EpochMs | undefined {
  if (progress.state === 'starting') return progress.sentAt;
  return progress.state === 'upgrading' || progress.state === 'verifying' ? progress.startedAt : undefined;
}

/** How much longer upgrades of a stratum take than the average; undefined while none has ended. */
function strataOf({ durations, strata }: Pick<RolloutView, 'durations' | 'strata'>) {
  const ended = [...durations].map(([stratum, summary]) => ({ stratum, ...summary, weight: summary.count }));
  if (ended.length === 0) return undefined;
  const usualLog = averageOf(ended, ({ medianMs }) => Math.log(medianMs));
  const factors = new Map(
    ended.map(({ stratum, count, medianMs }) => [
      stratum,
      Math.exp((count / (count + priorEnds)) * (Math.log(medianMs) - usualLog)),
    ]),
  );
  const factorOf = ({ stratum }: { readonly stratum: number }): number => factors.get(stratum) ?? 1;
  const remaining = strata
    .map(({ stratum, waiting, active }) => ({ stratum, weight: waiting + active }))
    .filter(({ weight }) => weight > 0);
  const remainingFactor = averageOf(remaining.length === 0 ? ended : remaining, factorOf);
  return { ended, factorOf, remainingFactor };
}

function averageOf<Of extends { readonly weight: number }>(
  items: readonly Of[],
  value: (each: Of) => number,
): number {
  const weight = sumOf(items, (each) => each.weight);
  return sumOf(items, (each) => value(each) * each.weight) / weight;
}
