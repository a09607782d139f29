import { eachInSteps, type Steps } from '../../base/steps.ts';
import { durationBucketOf } from '../../rollout/model/duration-buckets.ts';
import { holdsSlot, isLost, isOnBuild, type Upgrade, weightOf } from '../../rollout/model/upgrade.ts';
import { learnedMsOf, stratumFigureOf } from '../../rollout/model/upgrade-figures.ts';
import { counterField } from '../schema/counter-fields.ts';

/** Changes of a plan's counters. */
export type CounterChanges = ReadonlyMap<string, number>;

/** The changes by a new record. */
export function countNew(upgrade: Upgrade): CounterChanges {
  const changes = new Map<string, number>();
  addRecord(changes, upgrade, 1);
  return withoutZeros(changes);
}

/** The counters of all records of a plan. One that was rebuilt from the service may have started already (P11). */
export function* countPlan(upgrades: readonly Upgrade[]): Steps<CounterChanges> {
  const counters = new Map<string, number>();
  yield* eachInSteps(upgrades, (upgrade) => {
    addRecord(counters, upgrade, 1);
    if (!('endedAt' in upgrade.progress)) return;
    const field = counterField.changedAt(upgrade.identity.wave);
    counters.set(field, Math.max(counters.get(field) ?? 0, upgrade.progress.endedAt));
  });
  return withoutZeros(counters);
}

/** The changes by one change of a record, without unchanged counters. */
export function countChange(before: Upgrade, after: Upgrade): CounterChanges {
  const changes = new Map<string, number>();
  addRecord(changes, before, -1);
  addRecord(changes, after, 1);
  const tookMs = learnedMsOf(before, after);
  if (tookMs !== undefined) {
    add(changes, counterField.learnedCount, 1);
    add(changes, counterField.learnedSumMs, tookMs);
    add(changes, counterField.duration(after.identity.stratum, durationBucketOf(tookMs)), 1);
  }
  return withoutZeros(changes);
}

function addRecord(changes: Map<string, number>, upgrade: Upgrade, sign: 1 | -1): void {
  const {
    identity: { wave, stratum },
    progress: { state },
  } = upgrade;
  const weight = sign * weightOf(upgrade);
  add(changes, counterField.state(wave, state), sign);
  add(changes, counterField.weight(wave), weight);
  add(changes, counterField.lost(wave), sign * Number(isLost(upgrade)));
  add(changes, counterField.onBuild(wave), sign * Number(isOnBuild(upgrade)));
  const figure = stratumFigureOf(state);
  if (figure !== undefined) add(changes, counterField.stratum(stratum, wave, figure), sign);
  add(changes, counterField.stratum(stratum, wave, 'weight'), weight);
  if (!holdsSlot(state)) return;
  add(changes, counterField.slots, sign);
  for (const domain of upgrade.identity.domains) add(changes, counterField.domain(domain), sign);
}

function add(changes: Map<string, number>, field: string, amount: number): void {
  changes.set(field, (changes.get(field) ?? 0) + amount);
}

function withoutZeros(changes: Map<string, number>): CounterChanges {
  for (const [field, amount] of changes) if (amount === 0) changes.delete(field);
  return changes;
}
