import type { StepOutcome } from '../../src/orchestrator/ports/leader.ts';
import type { VerbJudgement } from '../../src/rollout/verbs/judge-verb.ts';
import { answerWithinMs, runWork } from './actor-parts.ts';
import type { Engine } from './engine.ts';
import { isBusy, type Move } from './moves.ts';
import { isJobOf, isWrite, perform, waitsForAnswer, withJob } from './perform.ts';
import { judgeCreate, judgeRecords, type Violation } from './promises.ts';
import { allPromises, type Call, InjectedFault, type Reply, Rerun } from './rerun.ts';
import { comeBack, create as createTask, endTask } from './small-service.ts';
import type { Actor, Faults, SmallWorld, Work } from './small-world.ts';

export interface Moved {
  readonly world: SmallWorld;
  readonly violations: readonly Violation[];
}

// After a failed command a worker tries its job again soon, and so does the leader.
const againMs = 1_000;

/** Makes one move. The world before it stays as it was. */
export async function applyMove(engine: Engine, world: SmallWorld, move: Move): Promise<Moved> {
  const after = await makeMove(engine, world, move);
  const left = after.creates.at(-1);
  const hasLeft = left !== undefined && after.creates.length > world.creates.length;
  const ofCreate = hasLeft ? judgeCreate(after, left) : [];
  const isChanged = after.store !== world.store || after.service !== world.service;
  return { world: after, violations: isChanged ? [...ofCreate, ...judgeRecords(after)] : ofCreate };
}

async function makeMove(engine: Engine, world: SmallWorld, move: Move): Promise<SmallWorld> {
  switch (move.do) {
    case 'go':
      return go(engine, world, actorOf(world, move.actor), performAll);
    case 'fail':
      return go(engine, spend(world, 'storeFault'), actorOf(world, move.actor), failing(move.how));
    case 'step':
      return begin(engine, world, move.daemon, { kind: 'step', ...move.job });
    case 'look':
      return look(engine, world, move.rolloutId);
    case 'ask':
      return ask(engine, world, move.daemon);
    case 'arrive':
      return arrive(world, move.create);
    case 'answer':
      return answer(engine, world, move.create);
    case 'cut':
      return cut(engine, spend(world, 'createLost'), move.create);
    case 'drop':
      return { ...world, creates: world.creates.filter((_each, at) => at !== move.create) };
    case 'end': {
      const spent = move.end === 'failed' ? spend(world, 'taskFails') : world;
      return { ...spent, service: endTask(world.service, move.task, { end: move.end, at: world.now }) };
    }
    case 'return':
      return {
        ...world,
        service: comeBack(world.service, move.collector, world.areListsRead ? world.now : null),
      };
    case 'crash':
      return crash(spend(world, 'crash'), move.daemon);
    case 'lead':
      return lead(spend(world, 'leaseLost'), move.daemon);
    case 'forget':
      return forget(spend(world, 'writesLost'), move.writes);
    case 'withdraw':
      return { ...spend(world, 'withdrawn'), service: { ...world.service, isOffered: false } };
    case 'wait':
      return wait(world, move.until);
  }
}

function spend(world: SmallWorld, fault: keyof Faults): SmallWorld {
  return { ...world, faults: { ...world.faults, [fault]: world.faults[fault] - 1 } };
}

function actorOf({ actors }: SmallWorld, id: number): Actor {
  const found = actors.find((actor) => actor.id === id);
  if (found === undefined) throw new Error(`there is no actor ${id}`);
  return found;
}

/** How an actor's open calls are answered. */
type Answering = (
  engine: Engine,
  world: SmallWorld,
  actor: Actor,
  calls: readonly Call[],
) => Promise<{ readonly world: SmallWorld; readonly replies: readonly Reply[] }>;

const performAll: Answering = async (engine, world, actor, calls) => {
  const { world: after, values } = await perform(engine, world, actor, calls);
  return { world: after, replies: values.map((value) => ({ at: world.now, value })) };
};

/** The writes among the calls fail, before they are done or after it. */
function failing(how: 'notDone' | 'unanswered'): Answering {
  return async (engine, world, actor, calls) => {
    const done = await performAll(
      engine,
      world,
      actor,
      how === 'notDone' ? calls.filter((call) => !isWrite(call)) : calls,
    );
    const replies = calls.map((call): Reply => {
      const known =
        done.replies[calls.filter((each) => how === 'unanswered' || !isWrite(each)).indexOf(call)];
      return isWrite(call) || known === undefined ? { at: world.now, lost: true } : known;
    });
    return { world: done.world, replies };
  };
}

/** Runs an actor up to its open calls, answers them, and lets it continue to its next ones or to its end. */
async function go(
  engine: Engine,
  world: SmallWorld,
  actor: Actor,
  answering: Answering,
): Promise<SmallWorld> {
  const rerun = new Rerun(actor.log, actor.startedAt);
  const result: { ended?: Ended } = {};
  runWork(actor, rerun, world).then(
    (value) => {
      result.ended = { value };
    },
    (error: unknown) => {
      result.ended = { error };
    },
  );
  await allPromises();
  let after = world;
  let answer = answering;
  do {
    const done = await answer(engine, after, actor, rerun.open);
    after = done.world;
    // What an actor that waits for the answer to a create has done so far is known, and the answer comes later.
    if (done.replies.some((reply) => 'value' in reply && reply.value === waitsForAnswer))
      return {
        ...after,
        actors: after.actors.map((each) =>
          each.id === actor.id ? { ...each, log: rerun.log, open: rerun.open } : each,
        ),
      };
    rerun.reply(done.replies);
    await allPromises();
    answer = performAll;
  } while (result.ended === undefined && rerun.open.every((call) => isUnseen(call, world)));
  if (rerun.isWoken) after = wake(after);
  if (result.ended !== undefined) return finish(after, actor, result.ended);
  const moved: Actor = { ...actor, log: rerun.log, open: rerun.open };
  return { ...after, actors: after.actors.map((each) => (each.id === actor.id ? moved : each)) };
}

/**
 * Calls that nobody else sees, and whose answer nobody else changes: they need no turn of their own. A place in the budget may
 * come so late that a row has to replace the poll.
 */
function isUnseen({ port, name }: Call, { areListsRead }: SmallWorld): boolean {
  return port === 'register' || (port === 'create' && name === 'reserve' && !areListsRead);
}

type Ended = { readonly value: unknown } | { readonly error: unknown };

function finish(world: SmallWorld, actor: Actor, ended: Ended): SmallWorld {
  const after = { ...world, actors: world.actors.filter(({ id }) => id !== actor.id) };
  if ('error' in ended && !(ended.error instanceof InjectedFault)) throw ended.error;
  const { work } = actor;
  const value = 'value' in ended ? ended.value : undefined;
  switch (work.kind) {
    case 'step': {
      const outcome = value as StepOutcome | undefined;
      const jobs = after.jobs.filter((job) => !isJobOf(job, work));
      if (outcome?.job === 'end') return { ...after, jobs };
      return { ...after, jobs: withJob(jobs, { ...jobOf(work), dueAt: outcome?.at ?? world.now + againMs }) };
    }
    case 'reconcile': {
      if (actor.daemon !== world.leader || work.fence !== world.fence) return after;
      const next = 'error' in ended ? world.now + againMs : (value as number | null);
      return nextLook(after, work.rolloutId, next ?? Number.POSITIVE_INFINITY);
    }
    case 'verb': {
      const judgement = value as VerbJudgement | undefined;
      const stops = work.asked.verb === 'pause' || work.asked.verb === 'abort';
      const isInForce = judgement?.kind === 'change' || judgement?.kind === 'unchanged';
      return stops && isInForce ? { ...after, stopped: [...after.stopped, work.rolloutId] } : after;
    }
  }
}

function jobOf({ rolloutId, collectorId }: Extract<Work, { kind: 'step' }>) {
  return { rolloutId, collectorId };
}

/** A wake-up that came while the leader looked makes it look again. */
function nextLook(world: SmallWorld, rolloutId: string, at: number): SmallWorld {
  const looksAt = world.looksAt.map(
    ([id, known]) => [id, id === rolloutId ? Math.min(known, at) : known] as const,
  );
  return { ...world, looksAt };
}

function wake(world: SmallWorld): SmallWorld {
  return { ...world, looksAt: world.looksAt.map(([id]) => [id, world.now] as const) };
}

function look(engine: Engine, world: SmallWorld, rolloutId: string): Promise<SmallWorld> {
  const looksAt = world.looksAt.map(
    ([id, at]) => [id, id === rolloutId ? Number.POSITIVE_INFINITY : at] as const,
  );
  const work: Work = { kind: 'reconcile', rolloutId, fence: world.fence };
  return begin(engine, { ...world, looksAt }, world.leader, work);
}

function ask(engine: Engine, world: SmallWorld, daemon: number): Promise<SmallWorld> {
  const [asked, ...verbs] = world.verbs;
  const rolloutId = world.store.rollouts[0]?.rollout.id;
  if (asked === undefined || rolloutId === undefined) throw new Error('there is nothing to ask');
  // Whoever resumes knows that creates leave again.
  const isStopping = asked.verb === 'pause' || asked.verb === 'abort';
  const stopped = isStopping ? world.stopped : world.stopped.filter((id) => id !== rolloutId);
  return begin(engine, { ...world, verbs, stopped }, daemon, { kind: 'verb', rolloutId, asked });
}

/** Starts an actor, and performs its first calls. */
function begin(engine: Engine, world: SmallWorld, daemon: number, work: Work): Promise<SmallWorld> {
  const isDoubled =
    work.kind === 'step' &&
    world.actors.some(({ work: other }) => other.kind === 'step' && isJobOf(other, work));
  const spent = isDoubled ? spend(world, 'jobDoubled') : world;
  const actor: Actor = { id: world.nextActor, daemon, work, startedAt: world.now, log: [], open: [] };
  return go(
    engine,
    { ...spent, nextActor: world.nextActor + 1, actors: [...world.actors, actor] },
    actor,
    performAll,
  );
}

function arrive(world: SmallWorld, index: number): SmallWorld {
  const create = world.creates[index];
  if (create === undefined) throw new Error(`there is no create ${index}`);
  const { service, answer: given } = createTask(world.service, { ...create, at: world.now });
  const isAwaited = world.actors.some(({ id }) => id === create.actor);
  const creates = isAwaited
    ? world.creates.map((each, at) => (at === index ? { ...each, answer: given } : each))
    : world.creates.filter((_each, at) => at !== index);
  return { ...world, service, creates };
}

/** The answer to a create reaches the actor that waits for it. */
function answer(engine: Engine, world: SmallWorld, index: number): Promise<SmallWorld> {
  const create = world.creates[index];
  if (create === undefined) throw new Error(`there is no create ${index}`);
  const creates = world.creates.filter((_each, at) => at !== index);
  return hear(engine, { ...world, creates }, create.actor, create.answer);
}

const noAnswer = { ok: false, failure: { kind: 'unavailable', sent: true, detail: 'no answer' } } as const;

/** The actor gets no answer. A create that is under way stays so. */
function cut(engine: Engine, world: SmallWorld, index: number): Promise<SmallWorld> {
  const create = world.creates[index];
  if (create === undefined) throw new Error(`there is no create ${index}`);
  const creates = world.creates.flatMap((each, at) => {
    if (at !== index) return [each];
    return each.answer === null ? [{ ...each, actor: nobody }] : [];
  });
  return hear(engine, { ...world, creates }, create.actor, noAnswer);
}

const nobody = -1;

async function hear(engine: Engine, world: SmallWorld, actor: number, value: unknown): Promise<SmallWorld> {
  return go(engine, world, actorOf(world, actor), async (_engine, present) => ({
    world: present,
    replies: [{ at: world.now, value }],
  }));
}

/** A daemon dies with all that it had begun, and is there again. Its requests are on their way. */
function crash(world: SmallWorld, daemon: number): SmallWorld {
  const actors = world.actors.filter((actor) => actor.daemon !== daemon);
  const jobs = world.jobs.map((job) =>
    world.actors.some(({ daemon: of, work }) => of === daemon && work.kind === 'step' && isJobOf(job, work))
      ? { ...job, dueAt: world.now }
      : job,
  );
  const after = { ...world, actors, jobs, creates: withoutAnswers(world, actors) };
  return daemon === world.leader ? lead(after, 1 - daemon) : after;
}

/** Answers that nobody waits for any more. */
function withoutAnswers({ creates }: SmallWorld, actors: readonly Actor[]) {
  return creates.filter(
    ({ actor, answer: given }) => given === null || actors.some(({ id }) => id === actor),
  );
}

function lead(world: SmallWorld, daemon: number): SmallWorld {
  return wake({ ...world, leader: daemon, fence: world.fence + 1 });
}

/** All connections break: whoever was at work fails, and starts again. */
function forget(world: SmallWorld, writes: number): SmallWorld {
  const store = world.before.at(-writes);
  if (store === undefined) throw new Error(`the store has not kept ${writes} writes`);
  const trusted = world.now + answerWithinMs;
  return wake({
    ...world,
    ...{ store, before: [], actors: [], creates: withoutAnswers(world, []), hasForgotten: true },
    trustedSince: world.trustedSince.map(() => trusted),
    jobs: world.jobs.map((job) => ({ ...job, dueAt: Math.min(job.dueAt, world.now) })),
    fence: world.fence + 1,
  });
}

function wait(world: SmallWorld, until: number): SmallWorld {
  return { ...(isBusy(world) ? spend(world, 'suspend') : world), now: until };
}
