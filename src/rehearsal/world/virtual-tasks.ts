import type { EpochMs } from '../../base/time.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';
import type { TaskSighting } from '../../rollout/upgrade/facts.ts';
import type { Fate, FateOf } from './fates.ts';

interface Task {
  readonly buildBefore: string;
  readonly toBuild: string;
  readonly createdAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly fate: Fate;
}

export const heartbeatMs = 15_000;
const deadAfterMs = 30 * 60_000;
const receivedForMs = 5_000;

/** The upgrade tasks of the service on a virtual clock, and what they make of the collectors. */
export class VirtualTasks {
  /** Tasks for the target build by collector. */
  readonly creates = new Map<number, number>();
  /** Violated promises, each once: P1 and P2. */
  readonly brokenPromises = new Set<string>();
  readonly #tasks: Task[] = [];
  readonly #last = new Map<number, Task>();
  #runningUntil: EpochMs[] = [];
  readonly #of: { readonly targetBuild: string; readonly fateOf: FateOf; readonly slots: number };

  /** @param of `slots`: the maximum of running tasks */
  constructor(of: { readonly targetBuild: string; readonly fateOf: FateOf; readonly slots: number }) {
    this.#of = of;
  }

  find(taskId: string): Task | undefined {
    return this.#tasks[Number(taskId) - 1];
  }

  isBusy(collectorId: number, now: EpochMs): boolean {
    return (this.#last.get(collectorId)?.endsAt ?? 0) > now;
  }

  hasFailed(collectorId: number): boolean {
    return this.#last.get(collectorId)?.fate.ends.kind === 'failed';
  }

  /** The first heartbeat after this instant, at which a task has ended; Infinity: there is none. */
  returnOf(collectorId: number, endedAt: EpochMs): EpochMs {
    const returnsAt = (Math.floor(endedAt / heartbeatMs) + 1) * heartbeatMs;
    return returnsAt <= downFrom(this.#last.get(collectorId)) ? returnsAt : Number.POSITIVE_INFINITY;
  }

  /** What the service shows of a collector. */
  observe(
    collector: FleetCollector,
    now: EpochMs,
  ): Pick<FleetCollector, 'build' | 'alive' | 'lastSeenAlive'> {
    if (!collector.alive) return collector;
    const task = this.#last.get(collector.id);
    const ended = task !== undefined && task.endsAt <= now ? task : undefined;
    const upUntil = Math.min(now, downFrom(ended));
    const lastSeenAlive = Math.floor(upUntil / heartbeatMs) * heartbeatMs;
    const isChanged = ended !== undefined && ended.fate.ends.kind !== 'failed';
    return {
      build: isChanged ? ended.toBuild : (task?.buildBefore ?? collector.build),
      alive: now - lastSeenAlive < deadAfterMs,
      lastSeenAlive,
    };
  }

  /** @returns the id of the task; undefined for a collector that is not alive */
  create(collector: FleetCollector, toBuild: string, now: EpochMs): string | undefined {
    const { slots } = this.#of;
    const { id } = collector;
    const { build, alive } = this.observe(collector, now);
    this.#runningUntil = this.#runningUntil.filter((endsAt) => endsAt > now);
    if (this.isBusy(id, now)) this.brokenPromises.add(`a second task beside an open one: ${id}`);
    if (build === toBuild) this.brokenPromises.add(`a task for the build it runs: ${id}`);
    if (this.#runningUntil.length >= slots) this.brokenPromises.add(`more than ${slots} tasks at once`);
    if (!alive) return undefined;
    const fate = this.#drawFate(id, toBuild);
    const task = { buildBefore: build, toBuild, createdAt: now, endsAt: now + fate.durationMs, fate };
    this.#tasks.push(task);
    this.#last.set(id, task);
    this.#runningUntil.push(task.endsAt);
    return String(this.#tasks.length);
  }

  /** Only the target build breaks collectors. Any other is a build that the collector ran before. */
  #drawFate(collectorId: number, toBuild: string): Fate {
    const { fateOf, targetBuild } = this.#of;
    if (toBuild !== targetBuild) return { ...fateOf(collectorId, 1), ends: { kind: 'succeeded' } };
    const attempt = (this.creates.get(collectorId) ?? 0) + 1;
    this.creates.set(collectorId, attempt);
    return fateOf(collectorId, attempt);
  }
}

/** What the service shows of a task. */
export function sightingOf({ createdAt, endsAt, fate: { ends } }: Task, now: EpochMs): TaskSighting {
  if (endsAt > now) return { status: now - createdAt < receivedForMs ? 1 : 6, message: '', serviceAt: now };
  if (ends.kind === 'failed') return { status: 3, message: ends.message, serviceAt: now };
  return { status: 2, message: '', serviceAt: now };
}

function downFrom(ended: Task | undefined): EpochMs {
  if (ended?.fate.ends.kind === 'lost') return ended.endsAt;
  if (ended?.fate.ends.kind === 'dies') return ended.endsAt + ended.fate.ends.afterMs;
  return Number.POSITIVE_INFINITY;
}
