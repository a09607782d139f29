import { rolloutStates, rolloutVerbs, upgradeStates, waveStates } from '../../../src/base/vocabulary.ts';
import { type FaultKind, faultKinds, realStoreFaults } from '../setup.ts';

/** What people do, beside the faults of a setup. */
export const wordKinds = [
  ...rolloutVerbs,
  'release',
  'holdBuild',
  'holdStratum',
  'holdGroup',
  'holdCollector',
  'start',
] as const;
export type WordKind = (typeof wordKinds)[number];

/** Everything that happens to rollouts from outside; faults of a real store's commands happen on Redis only. */
export type HappeningKind = FaultKind | WordKind;
export const happeningKinds: readonly HappeningKind[] = [
  ...faultKinds.filter((kind) => !realStoreFaults.includes(kind)),
  ...wordKinds,
];

type InState<Of extends string, States extends readonly string[]> = `${Of} ${States[number]}`;
export type StateKind =
  | InState<'upgrade', typeof upgradeStates>
  | InState<'rollout', typeof rolloutStates>
  | InState<'wave', typeof waveStates>;
const stateKinds: readonly StateKind[] = [
  ...upgradeStates.map((state) => `upgrade ${state}` as const),
  ...rolloutStates.map((state) => `rollout ${state}` as const),
  ...waveStates.map((state) => `wave ${state}` as const),
];

/** A happening with what it met: a state, or another happening less than a minute apart. */
export interface Pair {
  readonly happening: HappeningKind;
  readonly other: HappeningKind | StateKind;
}

export function nameOfPair({ happening, other }: Pair): string {
  return `${happening} × ${other}`;
}

/** Every pair once; of two happenings the one that is listed first comes first. */
export const allPairs: readonly Pair[] = happeningKinds.flatMap((happening, index) =>
  [...stateKinds, ...happeningKinds.slice(index + 1)].map((other) => ({ happening, other })),
);

const places = new Map(happeningKinds.map((kind, index) => [kind, index]));

export function pairOf(one: HappeningKind, two: HappeningKind): Pair {
  const isInOrder = (places.get(one) ?? 0) < (places.get(two) ?? 0);
  return isInOrder ? { happening: one, other: two } : { happening: two, other: one };
}

export function isState(kind: HappeningKind | StateKind): kind is StateKind {
  return kind.includes(' ');
}
