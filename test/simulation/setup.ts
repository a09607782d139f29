import { makeChances } from './chances.ts';

/**
 * What may go wrong, each with how likely it is at most: as a share of calls, jobs, tasks or collectors, or, from 1 on, how
 * often it happens in a world. Setups are drawn in this order.
 */
const highest = {
  createAnswerLost: 0.3,
  createNotDone: 0.2,
  createRefused: 0.15,
  readFails: 0.15,
  slowAnswer: 0.2,
  storeFails: 0.03,
  storeAnswerLost: 0.02,
  jobLost: 0.1,
  jobDoubled: 0.2,
  bellLost: 0.6,
  crash: 0.007,
  stall: 0.006,
  clockJump: 4,
  taskFails: 0.3,
  taskStuck: 0.1,
  taskLost: 0.08,
  taskOtherBuild: 0.08,
  taskIntermediate: 0.2,
  taskLateSuccess: 0.1,
  badStratum: 0.9,
  collectorDies: 6,
  collectorAppears: 5,
  collectorLeaves: 3,
  someoneElse: 6,
  buildWithdrawn: 1,
  buildNewer: 1,
  gateErrors: 0.3,
  gateMisses: 0.2,
  storeSlow: 0.1,
  pollsRefused: 0.08,
  storeEmptied: 2,
  storeGoesBack: 4,
  listsEmpty: 3,
  listsPartial: 4,
  listsShrink: 3,
  massNotFound: 3,
  dateJumps: 0.05,
  pollsFail: 4,
  createDeferred: 0.3,
  upgradedByHand: 0.2,
  otherConfig: 4,
  otherAccount: 3,
  reload: 6,
  silenced: 0.5,
  searchFails: 0.6,
  badCluster: 1,
  collectorRenamed: 6,
  storeCut: 0.05,
  storeSendsTwice: 0.1,
  storeGivesWay: 0.3,
  storeRestarts: 4,
  listsShuffled: 0.5,
  listsMoving: 0.8,
  listsRunning: 0.8,
  pagesCapped: 0.8,
  endsUnknown: 0.3,
  policyRenamed: 2,
  policyRemoved: 2,
  searchLate: 0.5,
  suspend: 4,
  clockWrong: 3,
  noticeFails: 0.4,
} as const;
export type FaultKind = keyof typeof highest;
export const faultKinds = Object.keys(highest) as readonly FaultKind[];

/** They strike the commands of a real store, which the model in memory does not have. */
export const realStoreFaults: readonly FaultKind[] = [
  'storeCut',
  'storeSendsTwice',
  'storeGivesWay',
  'storeRestarts',
];

/** Parts of a policy that may be left out, to find out what a violation needs. */
export const featureKinds = [
  'waves',
  'match',
  'soak',
  'gates',
  'waveApproval',
  'planApproval',
  'caps',
  'strata',
  'isolate',
  'windows',
  'freezes',
  'onBreach',
  'exclude',
  'supersede',
  'minimumAge',
  'secondPolicy',
  'searches',
  'pace',
  'ownCalendar',
  'share',
  'steering',
  'notices',
  'history',
  'starts',
  'takeovers',
] as const;

export type FeatureKind = (typeof featureKinds)[number];

/**
 * Gates of all kinds on most waves; a newer build that supersedes the rollout of an older one; rollouts of two policies; a
 * rollback at the first failure; failures that hold nothing; a newer build once a rollout is over;
 * strata, each of which is held for its failures.
 */
export type LeanKind =
  | 'gates'
  | 'approval'
  | 'supersede'
  | 'secondPolicy'
  | 'rollback'
  | 'failures'
  | 'newerAfter'
  | 'strata';

/** Everything that a world is made from; the same setup is the same night. */
export interface Setup {
  readonly seed: number;
  readonly collectors: number;
  readonly daemons: number;
  /** How long things go wrong and people speak; after that everything comes to rest. */
  readonly troubleMs: number;
  /** Verbs, holds and releases that people say. */
  readonly words: number;
  readonly operators: number;
  /** From 0 to 1: how often a call gives way to another coroutine. */
  readonly givesWay: number;
  readonly faults: Readonly<Record<FaultKind, number>>;
  readonly features: Readonly<Record<FeatureKind, boolean>>;
  /** What policies have more often than by chance, because the night wants something that needs it. */
  readonly leansTo: readonly LeanKind[];
  /** What was switched off, which nothing brings back. */
  readonly without: ReadonlyArray<FaultKind | FeatureKind>;
  /** Names of the pairs that it is steered to. Absent: those that follow from its seed. */
  readonly wants?: readonly string[];
}

const hourMs = 3_600_000;

/** Whether daemons read their configs anew, so that they say in each beat which one they have. */
export function readsAnew({ faults }: Pick<Setup, 'faults'>): boolean {
  return faults.reload > 0 || faults.policyRenamed > 0 || faults.policyRemoved > 0;
}

/** Whether clocks are set by more than hosts differ, or do not count a suspension. */
export function doubtsClocks({ faults }: Pick<Setup, 'faults'>): boolean {
  return faults.suspend > 0 || faults.clockWrong > 0;
}

/** Draws a setup; about one in five is calm: nothing goes wrong and nobody speaks, which is when estimates are measured. */
export function drawSetup(seed: number): Setup {
  const chances = makeChances(seed, 'setup');
  const isCalm = chances.hit(0.2);
  const isBusy = chances.hit(0.5);
  const collectors = chances.hit(0.15) ? chances.int(1, 4) : Math.round(5 * 12 ** chances.next());
  const daemons = chances.int(1, 3);
  const troubleMs = chances.int(1, 30) * hourMs;
  const words = isCalm || chances.hit(0.3) ? 0 : chances.int(1, isBusy ? 14 : 5);
  const operators = chances.int(1, 2);
  const givesWay = chances.pick([0.1, 0.4, 1]);
  const faults = eachOf(faultKinds, (kind) => {
    const isOn = chances.hit(isBusy ? 0.4 : 0.15);
    const share = highest[kind] * chances.between(0.1, 1);
    return isOn && !isCalm ? share : 0;
  });
  const features = eachOf(featureKinds, () => true);
  return {
    seed,
    collectors,
    daemons,
    troubleMs,
    words,
    operators,
    givesWay,
    faults,
    features,
    leansTo: [],
    without: [],
  };
}

/** Changes to a drawn setup, as they are written on a command line. */
export interface SetupChanges
  extends Partial<
    Pick<Setup, 'collectors' | 'daemons' | 'troubleMs' | 'words' | 'operators' | 'givesWay' | 'wants'>
  > {
  readonly without?: ReadonlyArray<FaultKind | FeatureKind>;
  /** These happen as often as they may at most. */
  readonly most?: readonly FaultKind[];
}

export function changeSetup(setup: Setup, { without = [], most = [], ...changes }: SetupChanges): Setup {
  const off = new Set<string>(without);
  const faults = eachOf(faultKinds, (kind) =>
    off.has(kind) ? 0 : most.includes(kind) ? highest[kind] : setup.faults[kind],
  );
  const features = eachOf(featureKinds, (kind) => setup.features[kind] && !off.has(kind));
  return { ...setup, ...changes, faults, features, without };
}

/** The same setup with other shares of its faults. */
export function changeFaults(setup: Setup, shareOf: (kind: FaultKind) => number): Setup {
  return { ...setup, faults: eachOf(faultKinds, shareOf) };
}

/** How likely a fault is at most. */
export function highestOf(kind: FaultKind): number {
  return highest[kind];
}

function eachOf<Kind extends string, T>(kinds: readonly Kind[], value: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, value(kind)])) as Record<Kind, T>;
}
