import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { DataFlowRule } from '../model/policy.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';
import type { GateAnswer, MessageCounts } from './assess-gate.ts';

/** From the first instant up to, but not including, the second. */
export interface TimeRange {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** Which messages to count: those on the new build, and those of the same hour before the wave began. */
export interface DataFlowQuestion {
  readonly names: readonly string[];
  readonly after: TimeRange;
  readonly before: TimeRange;
}

/** What the counts mean for the gate, and the silent collectors. */
export interface DataFlowVerdict {
  readonly answer: Exclude<GateAnswer, { kind: 'counts' }>;
  readonly silent: ReadonlyArray<{ readonly upgrade: Upgrade; readonly before: number }>;
  /** Collectors with too few earlier messages to compare. They may have had another name. */
  readonly quiet: number;
}

/** The present name by collector: messages after a rename have that name. */
export type CurrentNames = ReadonlyMap<number, string>;

// A message becomes searchable only some seconds after the service received it.
const indexedAfterMs: DurationMs = 60_000;

// In a shorter time, silence is weak evidence for a collector that rarely sends a line.
const rangeMin: DurationMs = 60_000;

// A collector with fewer messages may be silent by chance. At random instants, ten become none once in 20,000 times.
const messagesMin = 10;

/**
 * What to count for a wave after its soak (DESIGN §4, Gate).
 * @param upgrades the successful upgrades of the wave
 * @returns the ranges, or why nothing can be counted
 */
export function askDataFlow(
  rule: DataFlowRule,
  upgrades: readonly Upgrade[],
  now: EpochMs,
  current: CurrentNames = new Map(),
): DataFlowQuestion | { readonly detail: string } {
  if (upgrades.length === 0) return { detail: 'no collector of the wave was upgraded' };
  const to = now - indexedAfterMs;
  const forMs = Math.min(rule.windowMs, to - Math.max(...upgrades.map(upgradedAt)));
  if (forMs < rangeMin) return { detail: 'the last upgrade has ended too recently' };
  const after = { from: to - forMs, to };
  // The previous day may have been part of this soak, so it goes back to a day on which the wave had not started.
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
 * Compares the messages of a wave's collectors with the earlier ones. A collector that delivered before and nothing now is
 * a failure of the wave, like a dead one. Too few earlier messages are no evidence (P14).
 */
export function verdictOnDataFlow(
  upgrades: readonly Upgrade[],
  { before, after }: { readonly before: MessageCounts; readonly after: MessageCounts },
  current: CurrentNames = new Map(),
): DataFlowVerdict {
  const messagesOf = (upgrade: Upgrade, counts: MessageCounts) =>
    sumOf(namesOf(upgrade, current), (name) => counts.get(name) ?? 0);
  const delivered = upgrades.flatMap((upgrade) => {
    const count = messagesOf(upgrade, before);
    return count < messagesMin ? [] : [{ upgrade, before: count }];
  });
  const nowOf = (upgrade: Upgrade) => messagesOf(upgrade, after);
  const silent = delivered.filter(({ upgrade }) => nowOf(upgrade) === 0);
  const quiet = upgrades.length - delivered.length;
  const detail = `${delivered.length} of ${upgrades.length} delivered before, ${silent.length} of them nothing now`;
  if (delivered.length === 0)
    return {
      answer: { kind: 'error', detail: 'its collectors delivered too little before to compare' },
      ...{ silent, quiet },
    };
  const value = sumOf(delivered, ({ upgrade }) => nowOf(upgrade)) / sumOf(delivered, (each) => each.before);
  return { answer: { kind: 'value', value, detail }, silent, quiet };
}

/** Its name in the plan, and its later name. */
function namesOf({ identity: { collectorId, collectorName } }: Upgrade, current: CurrentNames) {
  return [...new Set([collectorName, current.get(collectorId) ?? collectorName])];
}

/** Soaking upgrades have ended. */
function upgradedAt(upgrade: Upgrade): EpochMs {
  return endedAtOf(upgrade) ?? 0;
}
