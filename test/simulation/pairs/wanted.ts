import { changeFaults, drawSetup, type FaultKind, highestOf, type LeanKind, type Setup } from '../setup.ts';
import { cannotMeet } from './cannot-meet.ts';
import {
  allPairs,
  type HappeningKind,
  isState,
  nameOfPair,
  type Pair,
  type StateKind,
  wordKinds,
} from './kinds.ts';

/** They need gates that are asked, which is once in a wave. */
export const ofGates: ReadonlySet<HappeningKind | StateKind> = new Set<FaultKind>([
  'gateErrors',
  'gateMisses',
  'searchFails',
  'searchLate',
]);

/** Of those, what is asked only after the soak. */
const ofSearches: ReadonlySet<HappeningKind | StateKind> = new Set<FaultKind>(['searchFails', 'searchLate']);

/** Each collector of a rollout brings them once. */
const ofCreates: ReadonlySet<HappeningKind | StateKind> = new Set<FaultKind>([
  'createAnswerLost',
  'createNotDone',
  'createRefused',
  'upgradedByHand',
  'taskFails',
  'taskStuck',
  'taskLost',
  'taskOtherBuild',
  'taskIntermediate',
  'taskLateSuccess',
  'badStratum',
  'badCluster',
  'silenced',
  'endsUnknown',
]);

/** Of those, what makes a collector's upgrade wait for hours, so that few come in a night. */
const ofLosses: ReadonlySet<HappeningKind | StateKind> = new Set<FaultKind>(['taskLost', 'taskStuck']);

const rareStates: ReadonlySet<HappeningKind | StateKind> = new Set<StateKind>([
  'rollout superseded',
  'rollout rolledBack',
  'rollout finishedWithFailures',
  'upgrade timedOut',
  'upgrade rolledBack',
]);

/** A wave whose gates are asked has none of them, but a wave before it may, for late joiners. */
const runningStates: ReadonlySet<HappeningKind | StateKind> = new Set<StateKind>([
  'upgrade queued',
  'upgrade starting',
  'upgrade upgrading',
  'upgrade verifying',
]);

/** How many times a pair is wanted: what needs two things that come seldom is met seldom. */
function weightOf(pair: Pair): number {
  const isWithCreate = isOf(ofCreates)(pair);
  if (isOf(ofGates)(pair)) {
    if (isWithCreate) return isOf(ofSearches)(pair) || isOf(ofLosses)(pair) ? 16 : 10;
    return isOf(runningStates)(pair) ? 14 : isOfWords(pair) ? 6 : 4;
  }
  if (isOf(rareStates)(pair)) return 6;
  // Most nights end with it, and a verb has to come before that.
  if (pair.other === 'rollout succeeded' && isOfWords(pair)) return 6;
  return isWithCreate || pair.happening === 'release' || pair.other === 'release' ? 3 : 1;
}

/** Pairs that can meet, rare ones several times, in an order in which neighbours differ in both halves. */
const candidates: readonly Pair[] = shuffled(
  allPairs
    .filter((pair) => cannotMeet(pair) === undefined)
    .flatMap((pair) => Array.from({ length: weightOf(pair) }, () => pair)),
);

const wantedByNight = 20;

/**
 * The pairs that a night is steered to: those that its setup names, or by its seed alone. Consecutive nights want one after
 * the other of all pairs. A calm night wants none, and leaves its share to the next one.
 */
export function wantedOf(setup: Setup): readonly Pair[] {
  if (isCalm(setup) || !setup.features.steering) return [];
  const off = new Set<string>(setup.without);
  const names = new Set(setup.wants);
  const wanted =
    setup.wants === undefined
      ? wantedBySeed(setup.seed)
      : allPairs.filter((pair) => names.has(nameOfPair(pair)));
  return wanted.filter((pair) => happeningsOf(pair).every((kind) => !off.has(kind)));
}

function wantedBySeed(seed: number): readonly Pair[] {
  let from = seed;
  while (from > 1 && isCalm(drawSetup(from - 1))) from -= 1;
  return Array.from({ length: wantedByNight * (seed - from + 1) }, (_, index) => from * wantedByNight + index)
    .map((index) => candidates[index % candidates.length])
    .filter((pair) => pair !== undefined);
}

function isCalm({ words, faults }: Setup): boolean {
  return words === 0 && Object.values(faults).every((share) => share === 0);
}

/** The same night, in which the faults that it wants are possible, each rarely, or by steering alone. */
export function withWanted(setup: Setup, wanted: readonly Pair[]): Setup {
  const leansTo = leansOf(wanted);
  const isRareEnd = wanted.some(isOf(rareStates));
  const isPaired = leansTo.includes('secondPolicy');
  const troubleMs = Math.max(setup.troubleMs, isRareEnd ? rareEndMs : isPaired ? pairedMs : 0);
  const collectors = isPaired ? Math.max(pairedCollectors, setup.collectors) : setup.collectors;
  const least: Partial<Record<FaultKind, number>> = {
    ...(leansTo.includes('supersede') ? { buildNewer: 1 } : {}),
    ...(leansTo.includes('rollback') || leansTo.includes('failures') ? { taskFails: 0.2 } : {}),
    ...(wanted.filter(isOf(ofGates)).some(isOf(runningStates))
      ? { collectorAppears: highestOf('collectorAppears') }
      : {}),
  };
  return changeFaults({ ...setup, leansTo, troubleMs, collectors }, (kind) => {
    if (setup.without.includes(kind)) return 0;
    const share = Math.max(least[kind] ?? 0, setup.faults[kind]);
    const isWanted = wanted.some((pair) => happeningsOf(pair).includes(kind));
    if (share > 0 || !isWanted) return share;
    return isDrawnElsewhere.has(kind) ? highestOf(kind) / 2 : bySteeringAlone;
  });
}

// A rollout may take most of it to come to its end.
const rareEndMs = 18 * 3_600_000;

// Enough for two policies, each with gates or creates for hours.
const pairedMs = 10 * 3_600_000;
const pairedCollectors = 24;

function leansOf(wanted: readonly Pair[]): readonly LeanKind[] {
  const isWanted = (state: StateKind) => wanted.some(({ other }) => other === state);
  const isWithGate = wanted.filter(isOf(ofGates));
  return [
    ...(isWithGate.length > 0 ? (['gates'] as const) : []),
    // Gates of one policy are asked while upgrades of the other are created.
    ...(isWithGate.some(isOf(ofCreates)) || isWithGate.some(({ other }) => other === 'upgrade starting')
      ? (['secondPolicy'] as const)
      : []),
    ...(isWanted('rollout awaitingApproval') || isWanted('wave awaitingApproval')
      ? (['approval'] as const)
      : []),
    ...(isWanted('rollout superseded') ? (['supersede'] as const) : []),
    ...(isWanted('rollout rolledBack') || isWanted('upgrade rolledBack') ? (['rollback'] as const) : []),
    ...(isWanted('rollout finishedWithFailures') ? (['failures'] as const) : []),
  ];
}

export function happeningsOf({ happening, other }: Pair): readonly HappeningKind[] {
  return isState(other) ? [happening] : [happening, other];
}

// So small that chance never brings it.
const bySteeringAlone = 1e-9;

/** What is drawn with a task, a collector or an answer, where nothing can bring it about at a given moment. */
const isDrawnElsewhere: ReadonlySet<HappeningKind> = new Set<FaultKind>([
  'badStratum',
  'badCluster',
  'silenced',
  'pollsRefused',
  'dateJumps',
  'otherConfig',
  'pagesCapped',
  'listsRunning',
  'listsMoving',
  'endsUnknown',
]);

/** Whether somebody has to speak for it. */
export function isOfWords(pair: Pair): boolean {
  const words: ReadonlySet<HappeningKind> = new Set(wordKinds);
  return happeningsOf(pair).some((kind) => words.has(kind));
}

function isOf(kinds: ReadonlySet<HappeningKind | StateKind>): (pair: Pair) => boolean {
  return ({ happening, other }) => kinds.has(happening) || kinds.has(other);
}

/** By steps that share no factor with the length, so that each comes once. */
function shuffled(pairs: readonly Pair[]): readonly Pair[] {
  const { length } = pairs;
  let step = Math.round(length * 0.618);
  while (commonFactor(step, length) > 1) step += 1;
  return pairs.flatMap((_, index) => pairs[(index * step) % length] ?? []);
}

function commonFactor(a: number, b: number): number {
  return b === 0 ? a : commonFactor(b, a % b);
}
