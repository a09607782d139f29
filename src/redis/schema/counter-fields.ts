import { summarizeDurations } from '../../rollout/model/duration-buckets.ts';
import type { DurationSummary, StratumSummary, WaveSummary } from '../../rollout/model/rollout.ts';
import { type UpgradeState, upgradeStates } from '../../rollout/model/upgrade.ts';

type StratumFigure = Exclude<keyof StratumSummary, 'stratum' | 'wave'>;

/** Names of the fields in a rollout's counters hash. One that comes to 0 is not there. */
export const counterField = {
  slots: 'slots',
  learnedCount: 'learned:count',
  learnedSumMs: 'learned:sumMs',
  state: (wave: number, state: UpgradeState) => `${wave}:${state}`,
  /** The scripts know by its end that a weight may be a fraction. */
  weight: (wave: number) => `${wave}:weight`,
  lost: (wave: number) => `${wave}:lost`,
  onBuild: (wave: number) => `${wave}:onBuild`,
  changedAt: (wave: number) => `${wave}:changedAt`,
  domain: (domain: number) => `domain:${domain}`,
  stratum: (stratum: number, wave: number, figure: StratumFigure) => `s:${stratum}:${wave}:${figure}`,
  duration: (stratum: number, bucket: number) => `d:${stratum}:${bucket}`,
} as const;

export type Counters = ReadonlyMap<string, number>;

/** The counters of one wave; what was never counted is 0. */
export function waveSummaryOf(counters: Counters, wave: number): WaveSummary {
  const counts = upgradeStates.map(
    (state) => [state, counters.get(counterField.state(wave, state)) ?? 0] as const,
  );
  return {
    counts: Object.fromEntries(counts) as Record<UpgradeState, number>,
    weight: counters.get(counterField.weight(wave)) ?? 0,
    lost: counters.get(counterField.lost(wave)) ?? 0,
    onBuild: counters.get(counterField.onBuild(wave)) ?? 0,
    lastChangeAt: counters.get(counterField.changedAt(wave)) ?? null,
  };
}

/** How many waves have members, those between them included. */
export function waveCountOf(counters: Counters): number {
  let count = 0;
  for (const field of counters.keys()) {
    const [wave = '', state] = field.split(':');
    // The other counters begin with a letter.
    if (/^\d+$/.test(wave) && (upgradeStates as readonly unknown[]).includes(state))
      count = Math.max(count, Number(wave) + 1);
  }
  return count;
}

/** What is counted beside the waves: by stratum and wave, by domain, and how long upgrades of a stratum took. */
export function groupSummariesOf(counters: Counters): {
  readonly strata: readonly StratumSummary[];
  readonly domainsTaken: ReadonlyMap<number, number>;
  readonly durations: ReadonlyMap<number, DurationSummary>;
} {
  const strata = new Map<string, StratumSummary>();
  const domainsTaken = new Map<number, number>();
  const buckets = new Map<number, Map<number, number>>();
  for (const [field, value] of counters) {
    const [kind, first, second, figure] = field.split(':');
    if (kind === 'domain') domainsTaken.set(Number(first), value);
    if (kind === 'd') {
      const ofStratum = buckets.get(Number(first)) ?? new Map<number, number>();
      buckets.set(Number(first), ofStratum.set(Number(second), value));
    }
    if (kind === 's' && isStratumFigure(figure)) {
      const place = `${first}:${second}`;
      const known = strata.get(place) ?? emptyStratum(Number(first), Number(second));
      strata.set(place, { ...known, [figure]: value });
    }
  }
  return {
    strata: [...strata.values()].sort((a, b) => a.stratum - b.stratum || a.wave - b.wave),
    domainsTaken,
    durations: summarizeAll(buckets),
  };
}

/** How many records of a state there are, in all waves or in one. */
export function countOf(counters: Counters, wanted: { state?: UpgradeState; wave?: number }): number {
  let count = 0;
  for (const [field, value] of counters) {
    const [wave, state] = field.split(':');
    // The other counters begin with a letter.
    if (!/^\d+$/.test(wave ?? '')) continue;
    if (wanted.wave !== undefined && Number(wave) !== wanted.wave) continue;
    const isWanted =
      wanted.state === undefined
        ? (upgradeStates as readonly unknown[]).includes(state)
        : state === wanted.state;
    if (isWanted) count += value;
  }
  return count;
}

/** Reads a hash of numbers as Redis sends it: names and values in turn. */
export function parseCounters(reply: readonly string[]): Counters {
  const counters = new Map<string, number>();
  for (let at = 0; at + 1 < reply.length; at += 2) counters.set(reply[at] ?? '', Number(reply[at + 1]));
  return counters;
}

function summarizeAll(
  buckets: ReadonlyMap<number, ReadonlyMap<number, number>>,
): ReadonlyMap<number, DurationSummary> {
  const durations = new Map<number, DurationSummary>();
  for (const [stratum, counts] of buckets) {
    const summary = summarizeDurations(counts);
    if (summary !== undefined) durations.set(stratum, summary);
  }
  return durations;
}

function isStratumFigure(text: string | undefined): text is StratumFigure {
  return (
    text === 'waiting' || text === 'active' || text === 'succeeded' || text === 'failed' || text === 'weight'
  );
}

function emptyStratum(stratum: number, wave: number): StratumSummary {
  return { stratum, wave, waiting: 0, active: 0, succeeded: 0, failed: 0, weight: 0 };
}
