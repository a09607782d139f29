import type { WaveSummary } from '../rollout/rollout.ts';
import { type UpgradeState, upgradeStates } from '../rollout/upgrade.ts';

/** Names of the fields in a rollout's counters hash; the scripts build the same ones. */
export const counterField = {
  slots: 'slots',
  learnedCount: 'learned:count',
  learnedSumMs: 'learned:sumMs',
  state: (wave: number, state: UpgradeState) => `${wave}:${state}`,
  weight: (wave: number) => `${wave}:weight`,
  lost: (wave: number) => `${wave}:lost`,
  changedAt: (wave: number) => `${wave}:changedAt`,
} as const;

/** The counters of one wave; what was never counted is 0. */
export function waveSummaryOf(counters: ReadonlyMap<string, number>, wave: number): WaveSummary {
  const counts = upgradeStates.map(
    (state) => [state, counters.get(counterField.state(wave, state)) ?? 0] as const,
  );
  return {
    counts: Object.fromEntries(counts) as Record<UpgradeState, number>,
    weight: counters.get(counterField.weight(wave)) ?? 0,
    lost: counters.get(counterField.lost(wave)) ?? 0,
    lastChangeAt: counters.get(counterField.changedAt(wave)) ?? null,
  };
}

/** How many records of a state there are over all waves. */
export function countOf(counters: ReadonlyMap<string, number>, state: UpgradeState): number {
  let count = 0;
  for (const [field, value] of counters) if (field.endsWith(`:${state}`)) count += value;
  return count;
}

/** Reads a hash of numbers as Redis sends it: names and values in turn. */
export function parseCounters(reply: readonly string[]): ReadonlyMap<string, number> {
  const counters = new Map<string, number>();
  for (let at = 0; at + 1 < reply.length; at += 2) counters.set(reply[at] ?? '', Number(reply[at + 1]));
  return counters;
}
