import type { BuildHold } from '../../src/contract/admin/status-parts.ts';
import { type Answer, sendWithinMs } from '../../src/orchestrator/ports/fleet-service.ts';
import { oldBuild, targetBuild } from '../support/builders.ts';
import type { Engine } from './engine.ts';
import type { Call } from './rerun.ts';
import { pollCollector, pollTask } from './small-service.ts';
import type { Actor, Job, SmallWorld } from './small-world.ts';

const writesOfStore = new Set([
  'freeze',
  'replan',
  'join',
  'rejoin',
  'saveRollout',
  'admit',
  'dropStrayRetries',
  'saveUpgrades',
  'saveIntent',
]);

/** Whether a call changes what others see. */
export function isWrite({ port, name }: Call): boolean {
  return port === 'store' && writesOfStore.has(name);
}

// Enough to lose the intent of a create together with its answer.
const writesLostMax = 2;

/** Performs calls of an actor, one after the other. @returns the world after them, and their values */
export async function perform(
  engine: Engine,
  world: SmallWorld,
  actor: Pick<Actor, 'id'>,
  calls: readonly Call[],
): Promise<{ readonly world: SmallWorld; readonly values: readonly unknown[] }> {
  let after = world;
  const values: unknown[] = [];
  for (const call of calls) {
    const done = await performOne(engine, after, actor, call);
    after = done.world;
    values.push(done.value);
  }
  return { world: after, values };
}

interface Done {
  readonly world: SmallWorld;
  readonly value: unknown;
}

async function performOne(
  engine: Engine,
  world: SmallWorld,
  actor: Pick<Actor, 'id'>,
  call: Call,
): Promise<Done> {
  switch (call.port) {
    case 'store':
      return askStore(engine, world, call);
    case 'register':
      return askRegister(world, call);
    case 'fleet':
      return { world, value: askFleet(world, call) };
    case 'create':
      return call.name === 'reserve' ? { world, value: world.now } : leave(world, actor, call);
    case 'queue':
      return { world: deliver(world, call), value: undefined };
    case 'sleep':
      return { world, value: undefined };
  }
}

async function askStore(engine: Engine, world: SmallWorld, call: Call): Promise<Done> {
  const { value, image } = await engine.ask(world.store, call, world.now);
  if (!isWrite(call)) return { world, value };
  const before = world.faults.writesLost > 0 ? [...world.before, world.store].slice(-writesLostMax) : [];
  return { world: { ...world, store: image(), before }, value };
}

/** Holds of builds alone: nobody holds a collector. */
function askRegister(world: SmallWorld, { name, args }: Call): Done {
  switch (name) {
    case 'holdsOf':
      return { world, value: [] };
    case 'holds':
      return { world, value: { builds: world.buildHolds, collectors: [], groups: [] } };
    case 'holdBuild': {
      const [hold] = args as readonly [BuildHold];
      if (world.buildHolds.some(({ build }) => build === hold.build)) return { world, value: 'unchanged' };
      return { world: { ...world, buildHolds: [...world.buildHolds, hold] }, value: 'held' };
    }
    case 'audit':
      return { world, value: undefined };
    default:
      throw new Error(`the small world has no register call ${name}`);
  }
}

function askFleet({ service, now }: SmallWorld, { name, args }: Call): unknown {
  switch (name) {
    case 'listBuilds': {
      const versions = service.isOffered ? [oldBuild, targetBuild] : [oldBuild];
      return {
        ok: true,
        value: versions.map((version) => ({ version, latest: version === versions.at(-1) })),
      };
    }
    case 'pollTask':
      return pollTask(service, String(args[0]), now);
    case 'pollCollector':
      return pollCollector(service, args[0] as Parameters<typeof pollCollector>[1], now);
    default:
      throw new Error(`the small world has no request ${name}`);
  }
}

/** A create leaves, unless it is too late for its place in the API budget. */
function leave(world: SmallWorld, actor: Pick<Actor, 'id'>, { args }: Call): Done {
  const [{ collectorId }, reservedAt] = args as readonly [{ readonly collectorId: number }, number];
  if (world.now - reservedAt > sendWithinMs) {
    const answer: Answer<never> = { ok: false, failure: { kind: 'cancelled', sent: false } };
    return { world, value: answer };
  }
  const rolloutId = rolloutOf(world, actor.id);
  const create = { actor: actor.id, rolloutId, collectorId, leftAt: world.now, answer: null };
  return { world: { ...world, creates: [...world.creates, create] }, value: waitsForAnswer };
}

/** The value of a create that left: its actor waits for the answer. */
export const waitsForAnswer = Symbol('waits for the answer');

function rolloutOf({ actors }: SmallWorld, id: number): string {
  const actor = actors.find((each) => each.id === id);
  if (actor === undefined) throw new Error(`there is no actor ${id}`);
  return actor.work.rolloutId;
}

/** Sees to it that there are jobs, as a queue does: one that is there already only moves when it is brought forward. */
function deliver(world: SmallWorld, { name, args }: Call): SmallWorld {
  const [rolloutId, ids] = args as readonly [string, readonly number[]];
  let { jobs } = world;
  for (const collectorId of ids) {
    const known = jobs.find((job) => isJobOf(job, { rolloutId, collectorId }));
    if (known === undefined) jobs = [...jobs, { rolloutId, collectorId, dueAt: world.now }];
    else if (name === 'bringForward') jobs = withJob(jobs, { ...known, dueAt: world.now });
  }
  return { ...world, jobs };
}

export function isJobOf(
  job: Omit<Job, 'dueAt'>,
  of: { readonly rolloutId: string; readonly collectorId: number },
): boolean {
  return job.rolloutId === of.rolloutId && job.collectorId === of.collectorId;
}

export function withJob(jobs: readonly Job[], job: Job): readonly Job[] {
  return [...jobs.filter((each) => !isJobOf(each, job)), job];
}
