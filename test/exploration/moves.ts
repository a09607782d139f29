import { freshForMs } from '../../src/rollout/upgrade/step.ts';
import { overdueMs } from './actor-parts.ts';
import { isJobOf, isWrite } from './perform.ts';
import { isRunningTask, restartMaxMs, taskTimeoutMs } from './small-service.ts';
import type { Actor, Create, Faults, Job, SmallWorld } from './small-world.ts';

/** One thing that may happen next in a small world. */
export type Move =
  /** An actor's open calls are performed and answered. */
  | { readonly do: 'go'; readonly actor: number }
  | { readonly do: 'fail'; readonly actor: number; readonly how: 'notDone' | 'unanswered' }
  | { readonly do: 'step'; readonly daemon: number; readonly job: Omit<Job, 'dueAt'> }
  | { readonly do: 'look'; readonly rolloutId: string }
  | { readonly do: 'ask'; readonly daemon: number }
  | { readonly do: 'arrive'; readonly create: number }
  | { readonly do: 'answer'; readonly create: number }
  /** The connection of a create breaks. It may arrive all the same. */
  | { readonly do: 'cut'; readonly create: number }
  /** A create whose answer nobody waits for never arrives. */
  | { readonly do: 'drop'; readonly create: number }
  | { readonly do: 'end'; readonly task: string; readonly end: 'succeeded' | 'failed' }
  | { readonly do: 'return'; readonly collector: number }
  | { readonly do: 'crash'; readonly daemon: number }
  | { readonly do: 'lead'; readonly daemon: number }
  | { readonly do: 'forget'; readonly writes: number }
  | { readonly do: 'withdraw' }
  /** Time passes until the next instant at which something is due. */
  | { readonly do: 'wait'; readonly until: number };

/** No create arrives later than this after it left. */
const travelMaxMs = 30_000;

const daemons = [0, 1] as const;

/** Every move that is possible now. */
export function movesOf(world: SmallWorld): readonly Move[] {
  const { faults, actors, creates } = world;
  const moves: Move[] = [];
  for (const actor of actors) if (isReady(world, actor)) moves.push(...movesOfActor(faults, actor));
  moves.push(...startsOf(world));
  for (const [index, create] of creates.entries()) moves.push(...movesOfCreate(world, create, index));
  moves.push(...movesOfService(world));
  for (const daemon of daemons) {
    if (faults.crash > 0 && actors.some((actor) => actor.daemon === daemon))
      moves.push({ do: 'crash', daemon });
    if (faults.leaseLost > 0 && daemon !== world.leader && isLooking(world))
      moves.push({ do: 'lead', daemon });
  }
  if (faults.writesLost > 0)
    for (let writes = 1; writes <= world.before.length; writes += 1) moves.push({ do: 'forget', writes });
  const until = nextInstant(world);
  if (until !== undefined && (!isBusy(world) || faults.suspend > 0)) moves.push({ do: 'wait', until });
  return moves;
}

/** Its calls can be answered now: it neither waits for the answer to a create, nor sleeps. */
function isReady({ creates, now }: SmallWorld, actor: Actor): boolean {
  if (creates.some((create) => create.actor === actor.id)) return false;
  return sleepsUntil(actor) <= now;
}

/** When the poll of an actor that waits for its place in the API budget is too old for its create. */
function pollIsOldAt({ open, log, startedAt }: Actor): number {
  const isWaiting = open.some(({ port, name }) => port === 'create' && name === 'reserve');
  return isWaiting ? (log.at(-1)?.at ?? startedAt) + freshForMs + 1 : Number.NEGATIVE_INFINITY;
}

/** Until when an actor sleeps; before any instant where it does not. */
function sleepsUntil({ open, log, startedAt }: Actor): number {
  const [call] = open;
  if (call?.port !== 'sleep') return Number.NEGATIVE_INFINITY;
  return (log.at(-1)?.at ?? startedAt) + Number(call.args[0]);
}

function movesOfActor(faults: Faults, { id, open }: Actor): readonly Move[] {
  const go: Move = { do: 'go', actor: id };
  if (faults.storeFault === 0 || !open.some(isWrite)) return [go];
  return [go, { do: 'fail', actor: id, how: 'notDone' }, { do: 'fail', actor: id, how: 'unanswered' }];
}

function startsOf(world: SmallWorld): readonly Move[] {
  const { actors, jobs, now, faults, leader } = world;
  const moves: Move[] = [];
  for (const { rolloutId, collectorId, dueAt } of jobs) {
    if (dueAt > now) continue;
    if (isRunning(world, { rolloutId, collectorId }) && faults.jobDoubled === 0) continue;
    for (const daemon of daemons) moves.push({ do: 'step', daemon, job: { rolloutId, collectorId } });
  }
  for (const [rolloutId, at] of looksOf(world)) {
    const isLooked = actors.some(({ daemon, work }) => daemon === leader && work.kind === 'reconcile');
    if (at <= now && !isLooked) moves.push({ do: 'look', rolloutId });
  }
  const isAsked = actors.some(({ work }) => work.kind === 'verb');
  if (world.verbs.length > 0 && !isAsked) for (const daemon of daemons) moves.push({ do: 'ask', daemon });
  return moves;
}

function isRunning({ actors }: SmallWorld, job: Omit<Job, 'dueAt'>): boolean {
  return actors.some(({ work }) => work.kind === 'step' && isJobOf(job, work));
}

function movesOfCreate(world: SmallWorld, { answer, actor }: Create, create: number): readonly Move[] {
  const next: Move = answer === null ? { do: 'arrive', create } : { do: 'answer', create };
  const isAwaited = world.actors.some(({ id }) => id === actor);
  if (!isAwaited) return [next, { do: 'drop', create }];
  return world.faults.createLost > 0 ? [next, { do: 'cut', create }] : [next];
}

function movesOfService({ service, faults }: SmallWorld): readonly Move[] {
  const moves: Move[] = [];
  for (const task of service.tasks.filter(isRunningTask)) {
    moves.push({ do: 'end', task: task.id, end: 'succeeded' });
    if (faults.taskFails > 0) moves.push({ do: 'end', task: task.id, end: 'failed' });
  }
  for (const { id, restartsSince } of service.collectors)
    if (restartsSince !== null) moves.push({ do: 'return', collector: id });
  if (faults.withdrawn > 0 && service.isOffered) moves.push({ do: 'withdraw' });
  return moves;
}

function isLooking({ actors, leader }: SmallWorld): boolean {
  return actors.some(({ daemon, work }) => daemon === leader && work.kind === 'reconcile');
}

/** When the leader looks at each rollout. It looks each second, and finds nothing new unless a job was lost. */
function looksOf({ looksAt, store, jobs }: SmallWorld): SmallWorld['looksAt'] {
  return looksAt.map(([rolloutId, at]) => {
    const upgrades = store.rollouts.find(({ rollout }) => rollout.id === rolloutId)?.upgrades ?? [];
    const lostAt = upgrades.flatMap(({ identity: { collectorId }, progress }) => {
      if (!('dueAt' in progress) || progress.state === 'retrying') return [];
      const hasJob = jobs.some((job) => isJobOf(job, { rolloutId, collectorId }));
      return hasJob ? [] : [progress.dueAt + overdueMs + 1];
    });
    return [rolloutId, Math.min(at, ...lostAt)] as const;
  });
}

/** Whether somebody would act at once who is not suspended. Whoever sleeps or waits for an answer is not busy. */
export function isBusy(world: SmallWorld): boolean {
  const { jobs, now, actors, creates } = world;
  return (
    actors.some((actor) => isReady(world, actor)) ||
    creates.some(({ answer }) => answer !== null) ||
    jobs.some(({ dueAt, ...job }) => dueAt <= now && !isRunning(world, job)) ||
    looksOf(world).some(([, at]) => at <= now)
  );
}

/**
 * The next instant at which something is due: a step, a look of the leader, the end of a sleep, or the last instant at which
 * a request may be under way. undefined: time must not pass, since one of those is overdue.
 */
function nextInstant(world: SmallWorld): number | undefined {
  const { now, jobs, actors, creates, service } = world;
  const limits = [
    ...creates.flatMap(({ leftAt, answer }) => (answer === null ? [leftAt + travelMaxMs] : [])),
    ...service.tasks.filter(isRunningTask).map(({ createdAt }) => createdAt + taskTimeoutMs),
    ...service.collectors.flatMap(({ restartsSince }) =>
      restartsSince === null ? [] : [restartsSince + restartMaxMs],
    ),
  ];
  if (limits.some((limit) => limit <= now)) return undefined;
  const instants = [
    ...(world.areListsRead ? actors.map(pollIsOldAt) : []),
    ...jobs.map(({ dueAt }) => dueAt),
    ...looksOf(world).map(([, at]) => at),
    ...actors.map(sleepsUntil),
    ...limits,
  ].filter((at) => at > now && Number.isFinite(at));
  return instants.length === 0 ? undefined : Math.min(...instants);
}
