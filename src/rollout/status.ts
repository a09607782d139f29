import type { DurationMs, EpochMs } from '../base/time.ts';
import { assessed, decide } from './decide.ts';
import { estimateRemainder } from './estimate.ts';
import { emptyCounts } from './gate.ts';
import type { Hold } from './hold.ts';
import type { RolloutState, RolloutView, Wave, WaveState } from './rollout.ts';
import { type UpgradeState, upgradeStates } from './upgrade.ts';

/** A rollout in one glance: where, is it safe, why waiting, when done (DESIGN §5). Made from what `decide` says. */
export interface RolloutStatus {
  readonly id: string;
  readonly policy: string;
  readonly state: RolloutState;
  readonly reason: string;
  readonly targetBuild: string;
  readonly fromBuilds: readonly string[];
  readonly planHash: string;
  readonly startedBy: string;
  readonly createdAt: EpochMs;
  readonly endedAt: EpochMs | null;
  readonly planned: number;
  readonly counts: Readonly<Record<UpgradeState, number>>;
  readonly leftOut: Readonly<Record<string, number>>;
  /** Slots taken, of `concurrency`. */
  readonly inFlight: number;
  readonly concurrency: number;
  readonly eta: { readonly at: EpochMs; readonly plusMinusMs: DurationMs } | null;
  readonly waves: readonly WaveStatus[];
  /** Why nothing more starts right now; empty when something can. */
  readonly holds: readonly Hold[];
}

export interface WaveStatus {
  readonly name: string;
  readonly size: number;
  readonly state: WaveState;
  readonly counts: Readonly<Record<UpgradeState, number>>;
  /** Weighted failures, and how many the wave may have before it trips. */
  readonly failures: number;
  readonly failuresAllowed: number;
  readonly lost: number;
  readonly openedAt: EpochMs | null;
  readonly soakEndsAt: EpochMs | null;
  readonly passedAt: EpochMs | null;
  /** What it waits for; null when it does not wait. */
  readonly waits: string | null;
}

/** Makes the status of a rollout from its view: the very decision the daemon acts on, in words (DESIGN §3). */
export function describeRollout(view: RolloutView, now: EpochMs, requestsPerSecond: number): RolloutStatus {
  const { rollout } = view;
  const decision = decide(view, now);
  const standings = assessed(view);
  const waves = standings.map(({ wave, assessment }, index): WaveStatus => {
    const { counts, lost } = view.waves[index] ?? { counts: emptyCounts(), lost: 0 };
    const { name, size, state, openedAt, soakEndsAt, passedAt } = wave;
    const { failures, failuresAllowed } = assessment;
    const waits = waitWords(view, index);
    return {
      name,
      size,
      state,
      counts,
      failures,
      failuresAllowed,
      lost,
      openedAt,
      soakEndsAt,
      passedAt,
      waits,
    };
  });
  return {
    id: rollout.id,
    policy: rollout.policy.name,
    state: rollout.state,
    reason: rollout.reason,
    targetBuild: rollout.targetBuild,
    fromBuilds: rollout.fromBuilds,
    planHash: rollout.planHash,
    startedBy: rollout.startedBy,
    createdAt: rollout.createdAt,
    endedAt: rollout.endedAt,
    planned: rollout.waves.reduce((sum, wave) => sum + wave.size, 0),
    counts: sumCounts(waves),
    leftOut: rollout.leftOut,
    inFlight: view.slotsTaken,
    concurrency: rollout.policy.concurrency,
    eta: estimateEnd(view, now, requestsPerSecond),
    waves,
    holds: decision.holds,
  };
}

function waitWords(view: RolloutView, index: number): string | null {
  const { waves } = view.rollout;
  const wave = waves[index];
  if (wave?.state !== 'waiting') return null;
  const before = waves.slice(0, index).find(({ state }) => state !== 'passed');
  return before === undefined ? null : `gate of ${before.name}`;
}

function sumCounts(waves: readonly WaveStatus[]): Record<UpgradeState, number> {
  const sums = emptyCounts();
  for (const { counts } of waves) for (const state of upgradeStates) sums[state] += counts[state];
  return sums;
}

function estimateEnd(view: RolloutView, now: EpochMs, requestsPerSecond: number): RolloutStatus['eta'] {
  if (view.rollout.state !== 'running' || view.rollout.endedAt !== null) return null;
  const remainders = assessed(view).map(({ wave, rule, assessment }) => ({
    upgrades: assessment.pending + assessment.active,
    soakMs: remainingSoakMs(wave, rule.soakMs, now),
  }));
  const { policy } = view.rollout;
  const { durationMs, plusMinusMs } = estimateRemainder(remainders, policy, requestsPerSecond, view.learned);
  return { at: now + durationMs, plusMinusMs };
}

function remainingSoakMs(wave: Wave, soakMs: DurationMs, now: EpochMs): DurationMs {
  if (wave.state === 'passed' || wave.size === 0) return 0;
  if (wave.soakEndsAt === null) return soakMs;
  return Math.max(0, wave.soakEndsAt - now);
}
