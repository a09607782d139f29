import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import type { BuildOutcome } from '../../contract/admin/builds.ts';
import type { WaveState } from '../model/rollout.ts';
import { worstParts } from '../planning/stratum-risk.ts';

/** A sentence for each kind of the data. */
export type Sentences<Data extends { readonly kind: string }> = {
  readonly [Kind in Data['kind']]: (data: Extract<Data, { kind: Kind }>) => string;
};

/**
 * Makes a function from data to sentences. Its table is exhaustive by type: a kind that only the data has, or only `Kind`
 * (the list in `base/vocabulary.ts` for the admin API), does not compile.
 */
export function makeText<Data extends { readonly kind: Kind }, Kind extends string = Data['kind']>(
  sentences: Sentences<Data> & Readonly<Record<Kind, unknown>>,
): (data: Data) => string {
  const table: Readonly<Record<Kind, unknown>> = sentences;
  return (data) => {
    // TypeScript can't see that the row and the data belong together.
    const words = table[data.kind] as (data: Data) => string;
    return words(data);
  };
}

/** `1 wave`, `2 waves`, `1,023 waves`; with `many` also `1 collector waits`, `2 collectors wait`. */
export function counted(count: number, one: string, many?: string): string {
  return `${showCount(count)} ${singularOrPlural(count, one, many)}`;
}

/** Adds a capital letter and a full stop. */
export function sentence(text: string): string {
  return `${capitalized(text)}${text === '' || /[.!?]$/.test(text) ? '' : '.'}`;
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The name of a state for a person: `finishedWithFailures` becomes `finished with failures`. */
export function stateText(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** How a rollout ended, in words. A rollback does not pose as an upgrade: it has rolled back all, or not all. */
export function endText(
  kind: 'upgrade' | 'rollback',
  state: string,
  { leavesSome }: { readonly leavesSome: boolean },
): string {
  const isRollback = kind === 'rollback';
  if (isRollback ? state === 'finishedWithFailures' : state === 'rolledBack' && leavesSome)
    return 'rolled back, not all';
  if (isRollback && state === 'succeeded') return 'rolled back';
  return isRollback ? `rollback ${stateText(state)}` : stateText(state);
}

/** Who started a rollout, for a person: the schedule, the daemon's start, an operator, or a rollout that is rolled back. */
export function starterText(startedBy: string): string {
  return startedBy === 'start' ? 'daemon start' : startedBy;
}

/** The stage of a wave in words. In an ended rollout no wave opens, soaks or waits any more. */
export function waveStageText(state: WaveState, endedAt: EpochMs | null): string {
  if (endedAt === null || state === 'passed') return stateText(state);
  return state === 'waiting' || state === 'awaitingApproval' ? 'not opened' : 'ended';
}

/** How many members of a passed wave its gate judged: `3 of 12 judged, 9 held`. */
export function judgedText({ size, setAside }: { readonly size: number; readonly setAside: number }): string {
  return `${showCount(size - setAside)} of ${showCount(size)} judged, ${showCount(setAside)} held`;
}

/** `19.536-4: 4,210 tried in 6 rollouts, 0.4% failed; Windows Server 2016: 12 of 28`. */
export function buildOutcomeText(outcome: Omit<BuildOutcome, 'text' | 'accountName'>): string {
  const { build, tried, rollouts } = outcome;
  const [worstOne] = worstParts(outcome);
  const stratum = worstOne === undefined ? '' : `; ${worstStratumText(worstOne)}`;
  return `${build}: ${showCount(tried)} tried in ${counted(rollouts, 'rollout')}, ${failedShareText(outcome)} failed${stratum}`;
}

/** `0.4%`. Only if all failed, it is `100%`. */
export function failedShareText({ tried, failed }: Pick<BuildOutcome, 'tried' | 'failed'>): string {
  if (failed === 0) return 'none';
  const perMille = Math.floor((1_000 * failed) / tried);
  return perMille === 0 ? 'under 0.1%' : `${perMille / 10}%`;
}

/** `Windows Server 2016: 12 of 28`. */
export function worstStratumText({ label, tried, failed }: BuildOutcome['strata'][number]): string {
  return `${label}: ${showCount(failed)} of ${showCount(tried)}`;
}

/** Instead of an empty table. */
export const noBuildHistory = 'No rollout with upgrades has ended yet.';
