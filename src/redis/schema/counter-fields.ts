import { emptyStratum } from '../../rollout/decision/assess.ts';
import { summarizeDurations } from '../../rollout/model/duration-buckets.ts';
import type { DurationSummary, StratumSummary, WaveSummary } from '../../rollout/model/rollout.ts';
import { type UpgradeState, upgradeStates } from '../../rollout/model/upgrade.ts';

type StratumFigure = Exclude<keyof StratumSummary, 'stratum' | 'wave'>;

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

/** Names of the fields in a rollout's hash of counters. A counter at 0 is absent. */
export const counterField = {
  slots: 'slots',
  /** Until when its starts have used up its pace, by Redis's clock. */
  pacedUntil: 'pacedUntil',
  learnedCount: 'learned:count',
  learnedSumMs: 'learned:sumMs',
  state: (wave: number, state: UpgradeState) => `${wave}:${state}`,
  /** The scripts recognise by this suffix that a weight may be a fraction. */
  weight: (wave: number) => `${wave}:weight`,
  lost: (wave: number) => `${wave}:lost`,
  onBuild: (wave: number) => `${wave}:onBuild`,
  changedAt: (wave: number) => `${wave}:changedAt`,
  domain: (domain: number) => `domain:${domain}`,
  stratum: (stratum: number, wave: number, figure: StratumFigure) => `s:${stratum}:${wave}:${figure}`,
  duration: (stratum: number, bucket: number) => `d:${stratum}:${bucket}`,
} as const;

export type Counters = ReadonlyMap<string, number>;

/** The counters of one wave. Absent ones are 0. */
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

/** The number of waves up to the last one with members. */
export function waveCountOf(counters: Counters): number {
  return Math.max(0, ...stateCounts(counters).map(({ wave }) => wave + 1));
}

/** Counters other than those of waves: by stratum and wave, by domain, and durations by stratum. */
export function groupSummariesOf(counters: Counters): {
  readonly strata: readonly StratumSummary[];
  readonly domainsTaken: ReadonlyMap<number, number>;
  readonly durations: ReadonlyMap<number, DurationSummary>;
} {
  // Each view of a rollout reads hundreds of these fields. With an object for each field it would take twice as long.
  const strata = new Map<string, Writable<StratumSummary>>();
  const domainsTaken = new Map<number, number>();
  const buckets = new Map<number, Map<number, number>>();
  for (const [field, value] of counters) {
    const last = field.lastIndexOf(':');
    const end = field.slice(last + 1);
    if (field.startsWith('domain:')) domainsTaken.set(Number(end), value);
    if (field.startsWith('d:')) {
      const stratum = Number(field.slice(2, last));
      const ofStratum = buckets.get(stratum) ?? new Map<number, number>();
      buckets.set(stratum, ofStratum.set(Number(end), value));
    }
    if (field.startsWith('s:') && isStratumFigure(end)) {
      const place = field.slice(2, last);
      const summary = strata.get(place) ?? stratumAt(place);
      summary[end] = value;
      strata.set(place, summary);
    }
  }
  return {
    strata: [...strata.values()].sort((a, b) => a.stratum - b.stratum || a.wave - b.wave),
    domainsTaken,
    durations: summarizeAll(buckets),
  };
}

function stratumAt(place: string): Writable<StratumSummary> {
  const [stratum, wave] = place.split(':');
  return { ...emptyStratum(Number(stratum), Number(wave)) };
}

/** The number of records with a state, in all waves or in one. */
export function countOf(
  counters: Counters,
  wanted: { readonly state: UpgradeState | undefined; readonly wave: number | undefined },
): number {
  return stateCounts(counters)
    .filter(({ wave }) => wanted.wave === undefined || wave === wanted.wave)
    .filter(({ state }) => wanted.state === undefined || state === wanted.state)
    .reduce((sum, { count }) => sum + count, 0);
}

/** The counters of states by wave. All others begin with a letter, or have another ending. */
function stateCounts(counters: Counters) {
  return [...counters].flatMap(([field, count]) => {
    const [wave = '', state] = field.split(':');
    const isState = /^\d+$/.test(wave) && (upgradeStates as readonly unknown[]).includes(state);
    return isState ? [{ wave: Number(wave), state, count }] : [];
  });
}

/** Parses a hash of numbers. */
export function parseCounters(fields: ReadonlyArray<readonly [string, string]>): Counters {
  return new Map(fields.map(([field, value]) => [field, Number(value)]));
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
