import { makeMemoryRolloutStore } from '../../src/rehearsal/store/memory-rollout-store.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';
import { freezePlan } from '../../src/rollout/planning/freeze-plan.ts';
import { makePlan } from '../../src/rollout/planning/plan.ts';
import type { AskedVerb } from '../../src/rollout/verbs/judge-verb.ts';
import { aFleet, aPolicy, aWaveRule, startedAt, targetBuild } from '../support/builders.ts';
import type { PlantedOrder } from './planted-orders.ts';
import { aSmallService, isRunningTask } from './small-service.ts';
import type { Faults, SmallWorld } from './small-world.ts';

/** A small world, what may go wrong in it, and from where on every order is taken. */
export interface Scenario {
  readonly name: string;
  readonly policies: readonly Policy[];
  readonly faults: Partial<Faults>;
  readonly verbs?: readonly AskedVerb[];
  /** Daemons have a row of each collector. Default: no list is read. */
  readonly areListsRead?: boolean;
  /** Until then one thing happens after the other, without faults. Default: every order is taken from the beginning. */
  readonly from?: (world: SmallWorld) => boolean;
}

const none: Faults = {
  crash: 0,
  storeFault: 0,
  createLost: 0,
  jobDoubled: 0,
  leaseLost: 0,
  suspend: 0,
  writesLost: 0,
  taskFails: 0,
  withdrawn: 0,
};

const one = (changes: Partial<Policy> = {}) =>
  aPolicy({ concurrency: 1, waves: [aWaveRule({ maxFailures: { kind: 'count', count: 1 } })], ...changes });
const canary = aWaveRule({
  name: 'canary',
  size: { kind: 'count', count: 1 },
  maxFailures: { kind: 'count', count: 0 },
});
const two = (changes: Partial<Policy> = {}) =>
  aPolicy({ concurrency: 2, waves: [canary, aWaveRule()], ...changes });
const isRunningOne = ({ service }: SmallWorld) => service.tasks.some(isRunningTask);
const hasEndedOne = ({ service }: SmallWorld) => service.tasks.some((task) => !isRunningTask(task));

const waitsForPlace = ({ actors }: SmallWorld) =>
  actors.some(({ open }) => open.some(({ port, name }) => port === 'create' && name === 'reserve'));

export const scenarios: readonly Scenario[] = [
  { name: 'killed', policies: [one()], faults: { crash: 1, createLost: 1, jobDoubled: 1 } },
  { name: 'killed leader', policies: [one()], faults: { crash: 1 } },
  { name: 'answer lost', policies: [one()], faults: { createLost: 1 }, from: isRunningOne },
  { name: 'late', policies: [one()], faults: { createLost: 2, suspend: 2 } },
  {
    name: 'paused',
    policies: [two({ waves: [aWaveRule()] })],
    faults: { suspend: 2, crash: 1 },
    verbs: [{ verb: 'pause' }, { verb: 'resume', hold: 1 }],
  },
  {
    name: 'aborted',
    policies: [one()],
    faults: { createLost: 1, crash: 1, suspend: 1 },
    verbs: [{ verb: 'abort' }],
    from: isRunningOne,
  },
  { name: 'forgotten', policies: [one()], faults: { writesLost: 1, createLost: 1 } },
  { name: 'two leaders', policies: [one()], faults: { leaseLost: 1, storeFault: 1, jobDoubled: 1 } },
  {
    name: 'two waves',
    policies: [two()],
    faults: { taskFails: 1, leaseLost: 1, crash: 1 },
    from: hasEndedOne,
  },
  {
    name: 'withdrawn build',
    policies: [two({ waves: [aWaveRule()] })],
    faults: { withdrawn: 1, crash: 1, storeFault: 1 },
  },
  {
    name: 'rows',
    policies: [one()],
    faults: { jobDoubled: 1, suspend: 1 },
    areListsRead: true,
    from: waitsForPlace,
  },
  { name: 'two policies', policies: [one(), one({ name: 'other' })], faults: { createLost: 1, crash: 1 } },
];

/** How many collectors there are: more bring more orders, and no rule of its own. */
const fleetSize = 2;

/** The world before anything has happened: each policy has its plan. */
export async function aSmallWorld(
  { policies, faults, verbs = [], areListsRead = false }: Scenario,
  planted: PlantedOrder | null,
): Promise<SmallWorld> {
  const store = makeMemoryRolloutStore(() => startedAt, 'none');
  const looksAt: Array<readonly [string, number]> = [];
  for (const policy of policies) {
    const id = `${policy.name}-20260302-1`;
    const snapshot = aFleet(fleetSize);
    const plan = makePlan(policy, targetBuild, snapshot, id);
    const origin = { id, policy, startedBy: 'test', createdAt: startedAt, fleet: snapshot };
    await store.freeze({ ...freezePlan(plan, origin), events: [] });
    looksAt.push([id, startedAt]);
  }
  return {
    now: startedAt,
    store: store.image(),
    before: [],
    buildHolds: [],
    service: aSmallService(fleetSize),
    trustedSince: [0, 0],
    leader: 0,
    fence: 1,
    looksAt,
    jobs: [],
    actors: [],
    creates: [],
    faults: { ...none, ...faults },
    verbs,
    stopped: [],
    hasForgotten: false,
    areListsRead,
    nextActor: 1,
    planted,
  };
}
