import { MemoryCounts } from '../../src/rehearsal/store/memory-counts.ts';
import { MemoryQueues } from '../../src/rehearsal/store/memory-queues.ts';
import { hasBegun } from '../../src/rollout/decision/assess.ts';
import type { Action } from '../../src/rollout/decision/decision.ts';
import { evolveRollout } from '../../src/rollout/decision/evolve-rollout.ts';
import type { RolloutFact } from '../../src/rollout/decision/rollout-facts.ts';
import type { Policy, WaveRule } from '../../src/rollout/model/policy.ts';
import type {
  HeldStratum,
  Rollout,
  RolloutView,
  StratumSummary,
  Wave,
  WaveSummary,
} from '../../src/rollout/model/rollout.ts';
import { isFailed, type Upgrade, type UpgradeState, upgradeStates } from '../../src/rollout/model/upgrade.ts';
import {
  aPolicy,
  aRollout,
  aStratumSummary,
  aSummary,
  askedFor,
  aView,
  aWave,
  aWaveRule,
  type RolloutChanges,
  someGroups,
  startedAt,
} from './builders.ts';

export type Counts = Partial<Record<UpgradeState, number>>;

/** A wave in one place: its name, and what its counters, its record and its rule have in particular. */
export interface WaveCase {
  readonly name?: string;
  /** Its members; its size is their number. */
  readonly counts?: Counts;
  readonly wave?: Partial<Wave>;
  readonly rule?: Partial<WaveRule>;
  readonly summary?: Partial<WaveSummary>;
}

export interface ViewCase extends Partial<Omit<RolloutView, 'rollout' | 'waves'>> {
  readonly waves?: readonly WaveCase[];
  readonly policy?: Partial<Policy> | undefined;
  readonly rollout?: RolloutChanges | undefined;
}

/** A view of these waves; without any, of one open wave of ten that are pending. */
export function aViewOf(viewCase: ViewCase = {}): RolloutView {
  const { waves = [{ counts: { pending: 10 } }], policy, rollout, ...view } = viewCase;
  const rules = waves.map(({ name = 'rest', rule }) => aWaveRule({ name, ...rule }));
  return aView({
    rollout: aRollout({
      policy: aPolicy({ waves: rules, ...policy }),
      waves: waves.map(({ name = 'rest', counts = {}, wave }) =>
        aWave({
          name,
          size: countOf(counts, () => true),
          openedAt: hasBegun({ ...aWave(), ...wave }) ? startedAt : null,
          ...wave,
        }),
      ),
      ...rollout,
    }),
    waves: waves.map(({ counts = {}, summary }) =>
      aSummary(counts, { weight: countOf(counts, isFailed), ...summary }),
    ),
    ...view,
  });
}

function countOf(counts: Counts, isMeant: (state: UpgradeState) => boolean): number {
  return upgradeStates.filter(isMeant).reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** A wave that has not begun. */
export const waiting: Partial<Wave> = { state: 'waiting' };

/** A view of these strata. The counters of its waves are their sums. */
export function aViewOfStrata(
  rollout: Rollout,
  some: ReadonlyArray<Partial<StratumSummary>>,
  changes: Partial<RolloutView> = {},
): RolloutView {
  const strata = some.map((each) => aStratumSummary({ weight: each.failed ?? 0, ...each }));
  const waves = rollout.waves.map((_, wave) => {
    const sum = (figure: keyof StratumSummary) =>
      strata.reduce((total, each) => (each.wave === wave ? total + each[figure] : total), 0);
    const counts = { failed: sum('failed'), succeeded: sum('succeeded') };
    return aSummary(
      { ...counts, upgrading: sum('active'), pending: sum('waiting') },
      { weight: sum('weight') },
    );
  });
  return aView({ rollout, waves, strata, ...changes });
}

/** Strata called s0, s1 and so on, with so many members in each wave, and a lane for each. */
export function alikeStrata(count: number, sizes: readonly number[]) {
  const indexes = Array.from({ length: count }, (_, index) => index);
  return someGroups({
    strata: indexes.map((index) => ({ label: `s${index}`, sizes })),
    lanes: indexes.map((stratum) => ({ stratum, timeZone: '', domains: [] })),
  });
}

/** A view as the store would count it from these records. */
export function aViewOfUpgrades(
  rollout: Rollout,
  upgrades: readonly Upgrade[],
  { now, ...changes }: Partial<RolloutView> & { readonly now: number },
): RolloutView {
  const [counts, queues] = [new MemoryCounts(), new MemoryQueues()];
  for (const upgrade of upgrades) {
    counts.add(upgrade);
    queues.place(upgrade);
  }
  const present = new Set(upgrades.map(({ identity }) => identity.wave));
  const frontier = rollout.waves.filter(hasBegun).length - 1;
  const summary = counts.show(rollout.waves.length);
  return aView({
    ...{ rollout, ...summary },
    waves: summary.waves.map((wave, index) => ({
      ...wave,
      lastChangeAt: present.has(index) ? startedAt : null,
    })),
    ...queues.candidates({ now, frontier, perLane: upgrades.length }),
    ...changes,
  });
}

export function aHeldStratum(stratum: number, changes: Partial<HeldStratum> = {}): HeldStratum {
  const label = `s${stratum}`;
  return { stratum, label, reason: askedFor('why'), by: 'daemon', at: startedAt, ...changes };
}

/** The view with its rollout after this fact. */
export function afterFact(view: RolloutView, fact: RolloutFact): RolloutView {
  return { ...view, rollout: evolveRollout(view.rollout, fact) };
}

/** The view right after an operator resumed what was held or paused in it. */
export function resumed(view: RolloutView, at: number): RolloutView {
  return afterFact(view, { kind: 'resumed', at, reason: askedFor(''), view });
}

/** The view after the reconciler has stored an action of a hold or breach; undefined for any other action. */
export function afterAction(view: RolloutView, action: Action, at: number): RolloutView | undefined {
  switch (action.do) {
    case 'hold': {
      const { do: _do, cause, ...heldFor } = action;
      return afterFact(view, { kind: 'held', at, reason: cause, ...heldFor });
    }
    case 'save':
      return afterFact(view, { ...action.change, at });
    case 'breach':
      return afterFact(view, { kind: 'held', at, reason: action.cause });
    default:
      return undefined;
  }
}
