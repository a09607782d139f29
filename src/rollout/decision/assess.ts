import { sumOf } from '../../base/grouping.ts';
import { failuresAllowed, type WaveRule } from '../model/policy.ts';
import type { RolloutView, StratumSummary, Wave, WaveSummary } from '../model/rollout.ts';
import type { WaveFailures } from '../model/stop-cause.ts';
import { isEnd, isRunning, isWaiting, type UpgradeState, upgradeStates } from '../model/upgrade.ts';
import { countIn } from '../model/upgrade-figures.ts';

/** A wave measured by its gate. Members of held strata are set aside: the wave neither waits for them nor counts them. */
export interface WaveAssessment extends Omit<WaveFailures, 'wave' | 'lostWeight'> {
  readonly breached: boolean;
  /** Upgrades that wait or run, without members of held strata. Deferred ones are not counted. */
  readonly remaining: number;
  /** Collectors that its soak observes: upgraded by the rollout or by someone else. */
  readonly soaking: number;
  /** Waiting members of held strata. */
  readonly setAside: number;
  /** No upgrade of the wave is waiting or running. Deferred ones do not delay a wave. */
  readonly settled: boolean;
  readonly evidence: Evidence;
}

/**
 * The evidence of a wave for the build (P14). `shown`: at least one collector is upgraded; one that someone else upgraded
 * counts only in a wave with a soak, alive on the build to the end. A wave whose members are all held passes after an earlier wave
 * that has shown something, and where nobody comes after it. `awaited`: none is upgraded yet, but some may still be.
 * `none`: no collector is upgraded, and none of the wave can still be.
 */
export type Evidence = 'shown' | 'awaited' | 'none';

/** The part of held strata in one wave. */
export interface SetAside extends Pick<StratumSummary, 'waiting' | 'failed' | 'weight'> {
  /** The part of the weight that is acknowledged. */
  readonly acknowledged: number;
}

/**
 * Assesses a wave (DESIGN §4, Failures and Gate). The denominator is the wave's size when it opened. Acknowledged failures no
 * longer count, and the limit stays.
 */
function assessWave(
  { wave, rule, summary }: Pick<AssessedWave, 'wave' | 'rule' | 'summary'>,
  {
    lostWeight,
    aside,
    mayLackAny,
  }: {
    readonly lostWeight: number;
    readonly aside: SetAside;
    /** It may pass with all members held. */
    readonly mayLackAny: boolean;
  },
): WaveAssessment {
  const allowed = failuresAllowed(rule.maxFailures, wave.size);
  const weight = Math.max(0, summary.weight - aside.weight);
  const acknowledged = Math.min(weight, Math.max(0, wave.acknowledgedWeight - aside.acknowledged));
  const failures = weight - acknowledged;
  const { pending, retrying, deferred, succeeded } = summary.counts;
  const running = countIn(summary.counts, isRunning);
  const waiting = Math.max(0, pending + retrying - aside.waiting);
  const members = wave.size + wave.joined;
  const settled = running === 0 && waiting === 0;
  const soaking = rule.soakMs > 0 ? succeeded + summary.onBuild : succeeded;
  const isAside = members <= aside.waiting + aside.failed;
  const isShown = soaking > 0 || members === 0 || (isAside && mayLackAny);
  return {
    failures,
    failuresAllowed: allowed,
    acknowledged,
    breached: failures > allowed,
    lost: Math.max(0, summary.lost - lostOf(aside, lostWeight)),
    remaining: Math.max(0, running + pending + retrying - aside.waiting),
    soaking,
    setAside: aside.waiting,
    settled,
    evidence: isShown ? 'shown' : settled && deferred === 0 ? 'none' : 'awaited',
  };
}

/** A failure weighs 1, and a lost collector `lostWeight`. */
function lostOf({ failed, weight }: SetAside, lostWeight: number): number {
  return lostWeight > 1 ? Math.round((weight - failed) / (lostWeight - 1)) : 0;
}

/** The part of these strata in one wave; default: the held strata. */
export function setAsideIn(
  view: RolloutView,
  wave: number,
  strata: ReadonlySet<number> = heldStrataOf(view),
): SetAside {
  const isHeld = (each: { readonly stratum: number; readonly wave: number }) =>
    each.wave === wave && strata.has(each.stratum);
  const held = view.strata.filter(isHeld);
  return {
    waiting: sumOf(held, ({ waiting }) => waiting),
    failed: sumOf(held, ({ failed }) => failed),
    weight: sumOf(held, ({ weight }) => weight),
    acknowledged: sumOf(view.rollout.strata.acknowledged.filter(isHeld), ({ weight }) => weight),
  };
}

/** Strata that start nothing more. */
export function heldStrataOf(view: RolloutView): ReadonlySet<number> {
  return new Set(view.rollout.strata.held.map(({ stratum }) => stratum));
}

/** The limit of weighted failures, including acknowledged ones. Beyond it a wave is breached immediately, not at its end. */
export function brakeAbove(wave: Wave, rule: WaveRule): number {
  return failuresAllowed(rule.maxFailures, wave.size) + wave.acknowledgedWeight;
}

/** A wave with its rule, its counters and its assessment. */
export interface AssessedWave {
  readonly index: number;
  readonly wave: Wave;
  readonly rule: WaveRule;
  readonly summary: WaveSummary;
  readonly assessment: WaveAssessment;
}

/** A view with each wave assessed once, for `decide`, `status` and `explain`. */
export interface AssessedView extends RolloutView {
  readonly assessed: readonly AssessedWave[];
  /** The first wave that has not passed; undefined when all have passed. */
  readonly current: AssessedWave | undefined;
}

/** Assesses each wave of a view. */
export function assess(view: RolloutView): AssessedView {
  const assessed = assessWaves(view, heldStrataOf(view));
  return { ...view, assessed, current: assessed.find(({ wave }) => wave.state !== 'passed') };
}

/** Assesses each wave as if these strata were held. */
export function assessWaves(view: RolloutView, strata: ReadonlySet<number>): readonly AssessedWave[] {
  return view.rollout.waves.flatMap((wave, index) => {
    const rule = view.rollout.policy.waves[index];
    const summary = view.waves[index];
    if (rule === undefined || summary === undefined) return [];
    const { lostWeight } = view.rollout.policy;
    const aside = setAsideIn(view, index, strata);
    const mayLackAny = hasUpgradedBefore(view, index) || isLastWithMembers(view, index);
    const assessment = assessWave({ wave, rule, summary }, { lostWeight, aside, mayLackAny });
    return [{ index, wave, rule, summary, assessment }];
  });
}

function hasUpgradedBefore({ waves }: RolloutView, index: number): boolean {
  return waves.slice(0, index).some(({ counts }) => counts.succeeded > 0);
}

/** Whether nobody comes after this wave. */
export function isLastWithMembers({ rollout }: RolloutView, index: number): boolean {
  return rollout.waves.slice(index + 1).every(({ size, joined }) => size + joined === 0);
}

/** How many upgrades of the rollout are in these states. */
export function countUpgradesIn(
  view: Pick<RolloutView, 'waves'>,
  wanted: (state: UpgradeState) => boolean,
): number {
  return sumOf(view.waves, ({ counts }) => countIn(counts, wanted));
}

/** Counts the upgrades that have not ended, those of them that wait without a slot, and those that have only a slot. */
export function countOpen(view: Pick<RolloutView, 'waves'>): {
  readonly waiting: number;
  readonly queued: number;
  readonly open: number;
} {
  return {
    waiting: countUpgradesIn(view, isWaiting),
    queued: countUpgradesIn(view, (state) => state === 'queued'),
    open: countUpgradesIn(view, (state) => !isEnd(state)),
  };
}

/** True while every upgrade that has not ended has an unreadable record, so that no step ends it. */
export function isOnlyUnreadableOpen(view: Pick<RolloutView, 'waves' | 'unreadableRecords'>): boolean {
  const { unreadableRecords: unreadable } = view;
  const { open } = countOpen(view);
  return unreadable !== undefined && open > 0 && open === unreadable.waiting + unreadable.mayRun;
}

/** True once a wave is open: its members may start. */
export function hasBegun({ state }: Wave): boolean {
  return state !== 'waiting' && state !== 'awaitingApproval';
}

/** Counters of an empty wave. */
export function emptyCounts(): Record<UpgradeState, number> {
  const entries = upgradeStates.map((state) => [state, 0] as const);
  return Object.fromEntries(entries) as Record<UpgradeState, number>;
}

/** Counters of a stratum without members in this wave. */
export function emptyStratum(stratum: number, wave: number): StratumSummary {
  return { stratum, wave, waiting: 0, active: 0, succeeded: 0, failed: 0, weight: 0 };
}
