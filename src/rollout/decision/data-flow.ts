import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { DataFlowRule } from '../model/policy.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';
import type { GateAnswer, MessageCounts } from './assess-gate.ts';

/** From the first instant to the second, which is not in it. */
export interface TimeRange {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** Whose messages are counted, and when: on the new build, and at the same hour before the wave began. */
export interface DataFlowQuestion {
  readonly names: readonly string[];
  readonly after: TimeRange;
  readonly before: TimeRange;
}

/** What the counts mean for the gate, and who fell silent. */
export interface DataFlowVerdict {
  readonly answer: Exclude<GateAnswer, { kind: 'counts' }>;
  readonly silent: ReadonlyArray<{ readonly upgrade: Upgrade; readonly before: number }>;
}

/** By collector, the name that it has now: messages since a renaming come under that one. */
export type CurrentNames = ReadonlyMap<number, string>;

const asPlanned: CurrentNames = new Map();

// A message can be searched for some seconds after the service received it.
const indexedAfterMs: DurationMs = 60_000;

// In less than this, silence says little about a collector that sends a line now and then.
const rangeMin: DurationMs = 60_000;

// One that delivered so few may well be silent by chance: at random instants, ten become none once in 20,000 times.
const messagesMin = 10;

/**
 * What to count for a wave whose soak is over (DESIGN §4, Gate).
 * @param upgrades those of the wave that succeeded
 * @returns why nothing can be counted yet, or at all
 */
export function askDataFlow(
  rule: DataFlowRule,
  upgrades: readonly Upgrade[],
  now: EpochMs,
  current: CurrentNames = asPlanned,
): DataFlowQuestion | { readonly detail: string } {
  if (upgrades.length === 0) return { detail: 'no collector of the wave was upgraded' };
  const to = now - indexedAfterMs;
  const forMs = Math.min(rule.windowMs, to - Math.max(...upgrades.map(upgradedAt)));
  if (forMs < rangeMin) return { detail: 'the last upgrade has ended too recently' };
  const after = { from: to - forMs, to };
  // The day before may have been a day of this soak: it goes back to one on which the wave had not started.
  const begunAt = Math.min(...upgrades.map((each) => each.tally.firstStartedAt ?? upgradedAt(each)));
  const times = Math.max(1, Math.ceil((to - begunAt) / rule.comparedToMs));
  const backMs = times * rule.comparedToMs;
  return {
    names: upgrades.flatMap((upgrade) => namesOf(upgrade, current)),
    after,
    before: { from: after.from - backMs, to: after.to - backMs },
  };
}

/**
 * Judges what a wave delivers by what its collectors delivered before. One that delivered before, and nothing now, is a
 * failure of the wave, as if it had died. Too few messages before prove nothing (P14).
 */
export function judgeDataFlow(
  upgrades: readonly Upgrade[],
  { before, after }: { readonly before: MessageCounts; readonly after: MessageCounts },
  current: CurrentNames = asPlanned,
): DataFlowVerdict {
  const sumOf = (upgrade: Upgrade, counts: MessageCounts) =>
    sum(namesOf(upgrade, current).map((name) => counts.get(name) ?? 0));
  const delivered = upgrades.flatMap((upgrade) => {
    const count = sumOf(upgrade, before);
    return count < messagesMin ? [] : [{ upgrade, before: count }];
  });
  const nowOf = (upgrade: Upgrade) => sumOf(upgrade, after);
  const silent = delivered.filter(({ upgrade }) => nowOf(upgrade) === 0);
  const detail = `${delivered.length} of ${upgrades.length} delivered before, ${silent.length} of them nothing now`;
  if (delivered.length === 0)
    return {
      answer: { kind: 'error', detail: 'its collectors delivered too little before to compare' },
      silent,
    };
  const value =
    sum(delivered.map(({ upgrade }) => nowOf(upgrade))) / sum(delivered.map((each) => each.before));
  return { answer: { kind: 'value', value, detail }, silent };
}

/** Its name in the plan, and the one that it has got since. */
function namesOf({ identity: { collectorId, collectorName } }: Upgrade, current: CurrentNames) {
  return [...new Set([collectorName, current.get(collectorId) ?? collectorName])];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Those that soak have ended. */
function upgradedAt(upgrade: Upgrade): EpochMs {
  return endedAtOf(upgrade) ?? 0;
}
