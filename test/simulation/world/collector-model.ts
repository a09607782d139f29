import {
  advanceCollector,
  lastHeartbeatAt,
  type SimulatedCollector,
} from '../../../src/reference-service/fleet/simulated-collector.ts';
import type { SimulatedTask } from '../../../src/reference-service/fleet/upgrade-tasks.ts';
import type { FleetCollector } from '../../../src/rollout/model/collector.ts';
import { beginGap, type Delivery, drawDelivery, endGap } from './delivery-model.ts';

/** One task, with what only the night knows of it. */
export interface TaskModel extends Pick<SimulatedTask, 'id' | 'collectorId'> {
  readonly toBuild: string;
  /** Whose: a rollout's, or null for someone else's. */
  readonly rolloutId: string | null;
  /** Of the world. Its end moves when its collector dies. */
  readonly simulated: SimulatedTask;
}

/** A collector as it is, whatever anybody knows of it. */
export interface CollectorModel {
  about: Pick<FleetCollector, 'id' | 'name' | 'category' | 'osName' | 'timeZone' | 'fields'>;
  /** Names that it had, each until it got the next. */
  formerNames: ReadonlyArray<{ readonly name: string; readonly until: number }>;
  /** What the service shows of it. */
  build: string;
  buildSince: number;
  /** No task that we know of put the build there: a person did, or a task that was called failed before. */
  isBuildSomeoneElses: boolean;
  buildBefore: string;
  upSince: number;
  downSince: number | null;
  delivery: Delivery;
  readonly deletedAt: number | null;
  /** The one that runs. */
  readonly task: TaskModel | null;
  readonly lastTaskEndedAt: number;
  /** The build that a task of ours is called successful for, while the collector is down on its way into that. */
  readonly restartsInto: string | null;
}

/** What happens to a collector, as the night sees it. */
export interface TrackedCollector {
  readonly model: CollectorModel;
  readonly simulated: SimulatedCollector;
  /** Something may have changed at this instant. @param by the task that did it; null: none */
  observe(by: TaskModel | null): void;
  begins(task: TaskModel): void;
  renamed(): void;
  deleted(): void;
}

/** Follows a collector of a world, which itself keeps only the present. */
export function trackCollector(
  simulated: SimulatedCollector,
  {
    seed,
    now,
    isNight,
    isThere,
    onSilenced,
  }: {
    readonly seed: number;
    readonly now: () => number;
    /** It came in the night, and delivered nothing before. */
    readonly isNight: boolean;
    /** Whether the world still has it. */
    readonly isThere: () => boolean;
    readonly onSilenced: () => void;
  },
): TrackedCollector {
  const { id } = simulated.facts;
  const { life } = simulated;
  let silentSince: number | undefined;
  let deletedAt: number | null = null;
  let last: TaskModel | null = null;
  let endedBefore = 0;
  const isOver = (task: TaskModel) => task.simulated.script.endsAt <= now();
  const model: CollectorModel = {
    about: aboutOf(simulated),
    formerNames: [],
    build: life.version,
    buildSince: now(),
    isBuildSomeoneElses: false,
    buildBefore: '',
    upSince: life.kind === 'up' ? life.upSince : now(),
    downSince: null,
    delivery: drawDelivery(seed, id, isNight ? now() : Number.NEGATIVE_INFINITY),
    get deletedAt() {
      // An ephemeral one that is away for long is deleted by the service itself.
      if (deletedAt === null && !isThere()) deletedAt = now();
      return deletedAt;
    },
    get task() {
      return last === null || isOver(last) ? null : last;
    },
    get lastTaskEndedAt() {
      return last === null || !isOver(last) ? endedBefore : last.simulated.script.endsAt;
    },
    get restartsInto() {
      if (last === null || last.rolloutId === null || !isOver(last)) return null;
      const isCalledDone = last.simulated.script.endStatus === 2;
      const next = simulated.pending.find(({ kind }) => kind === 'up');
      return isCalledDone && model.downSince !== null ? (next?.version ?? null) : null;
    },
  };
  const gap = (kind: 'down' | 'silent', is: boolean): void => {
    const change = is ? beginGap : endGap;
    model.delivery = change(model.delivery, kind, now());
  };

  return {
    model,
    simulated,
    observe: (by) => {
      const at = now();
      const state = advanceCollector(simulated, at);
      if ((state.kind === 'down') !== (model.downSince !== null)) {
        model.downSince = state.kind === 'down' ? at : null;
        gap('down', state.kind === 'down');
      }
      if (state.kind === 'up') {
        model.upSince = state.upSince;
        const isSilent = state.silentSince !== undefined;
        if (isSilent !== (silentSince !== undefined)) gap('silent', isSilent);
        if (isSilent && silentSince === undefined) onSilenced();
        ({ silentSince } = state);
      }
      if (state.version === model.build) return;
      const isFailed = by !== null && isOver(by) && by.simulated.script.endStatus !== 2;
      model.isBuildSomeoneElses = by === null || by.rolloutId === null || isFailed;
      model.buildBefore = model.build;
      model.build = state.version;
      model.buildSince = at;
    },
    begins: (task) => {
      endedBefore = model.lastTaskEndedAt;
      last = task;
    },
    renamed: () => {
      model.formerNames = [...model.formerNames, { name: model.about.name, until: now() }];
      model.about = aboutOf(simulated);
    },
    deleted: () => {
      deletedAt = now();
    },
  };
}

function aboutOf({ facts }: SimulatedCollector): CollectorModel['about'] {
  const { id, name } = facts;
  const text = (value: string | null | undefined) => value ?? '';
  const fields = Object.entries(facts.fields ?? {}).map(([key, value]) => [key, String(value)]);
  return {
    ...{ id, name, category: text(facts.category), osName: text(facts.osName) },
    ...{ timeZone: text(facts.timeZone), fields: Object.fromEntries(fields) },
  };
}

/** The last heartbeat that the service shows. */
export function heartbeatOf({ simulated }: TrackedCollector, now: number): number {
  return lastHeartbeatAt(advanceCollector(simulated, now), now);
}
