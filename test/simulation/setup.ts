import { makeChances } from './chances.ts';

/** What may go wrong, each with how likely it is (of a call, a job, a task, a collector), or how often it happens in a world. */
export const faultKinds = [
  'createAnswerLost',
  'createNotDone',
  'createRefused',
  'readFails',
  'slowAnswer',
  'storeFails',
  'storeAnswerLost',
  'jobLost',
  'jobDoubled',
  'bellLost',
  'crash',
  'stall',
  'clockJump',
  'taskFails',
  'taskStuck',
  'taskLost',
  'taskOtherBuild',
  'taskIntermediate',
  'taskLateSuccess',
  'badStratum',
  'collectorDies',
  'collectorAppears',
  'collectorLeaves',
  'someoneElse',
  'buildWithdrawn',
  'buildNewer',
  'gateErrors',
  'gateMisses',
  'storeSlow',
  'pollsRefused',
  'storeEmptied',
  'storeGoesBack',
  'listsEmpty',
  'listsPartial',
  'listsShrink',
  'massNotFound',
  'dateJumps',
  'pollsFail',
  'createDeferred',
  'upgradedByHand',
  'otherConfig',
  'otherAccount',
  'reload',
] as const;
export type FaultKind = (typeof faultKinds)[number];

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
  'offeredWhileRestarting',
  'strataHeldBeforeApproval',
  'capsForLoneMembers',
  'heldWhileInDoubt',
  'evidenceLostInSoak',
] as const;

export type FeatureKind = (typeof featureKinds)[number];

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
}

const hourMs = 3_600_000;

// Shares of calls, jobs and tasks; for what follows 'crash', how often in a world.
const highest: Readonly<Record<FaultKind, number>> = {
  createAnswerLost: 0.3,
  createNotDone: 0.2,
  createRefused: 0.15,
  readFails: 0.15,
  slowAnswer: 0.2,
  storeFails: 0.03,
  storeAnswerLost: 0.02,
  storeSlow: 0.1,
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
};

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
  const faults = Object.fromEntries(
    faultKinds.map((kind) => {
      const isOn = chances.hit(isBusy ? 0.4 : 0.15);
      const share = highest[kind] * chances.between(0.1, 1);
      return [kind, isOn && !isCalm ? share : 0];
    }),
  ) as Record<FaultKind, number>;
  const features = Object.fromEntries(featureKinds.map((kind) => [kind, true])) as Record<
    FeatureKind,
    boolean
  >;
  return { seed, collectors, daemons, troubleMs, words, operators, givesWay, faults, features };
}

/** Changes to a drawn setup, as they are written on a command line. */
export interface SetupChanges
  extends Partial<Pick<Setup, 'collectors' | 'daemons' | 'troubleMs' | 'words' | 'operators' | 'givesWay'>> {
  readonly without?: ReadonlyArray<FaultKind | FeatureKind>;
  readonly with?: readonly FeatureKind[];
}

export function changeSetup(
  setup: Setup,
  { without = [], with: added = [], ...changes }: SetupChanges,
): Setup {
  const off = new Set<string>(without);
  const faults = Object.fromEntries(
    faultKinds.map((kind) => [kind, off.has(kind) ? 0 : setup.faults[kind]]),
  ) as Record<FaultKind, number>;
  const features = Object.fromEntries(
    featureKinds.map((kind) => [kind, (setup.features[kind] || added.includes(kind)) && !off.has(kind)]),
  ) as Record<FeatureKind, boolean>;
  return { ...setup, ...changes, faults, features };
}
