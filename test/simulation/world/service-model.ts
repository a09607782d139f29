import { isSameBuild } from '../../../src/base/build-version.ts';
import type { Build } from '../../../src/orchestrator/ports/fleet-service.ts';
import type { SimulatedCollector } from '../../../src/reference-service/fleet/simulated-collector.ts';
import type { SimulatedTask } from '../../../src/reference-service/fleet/upgrade-tasks.ts';
import { World } from '../../../src/reference-service/fleet/world.ts';
import { RefusedRequest } from '../../../src/reference-service/scenario/refused-request.ts';
import { makeChances } from '../chances.ts';
import type { FaultKind, Setup } from '../setup.ts';
import {
  type CollectorModel,
  heartbeatOf,
  type TaskModel,
  type TrackedCollector,
  trackCollector,
} from './collector-model.ts';
import { drawScenario, makeDrawCollector, makeDrawScript } from './night-fleet.ts';
import { drawHabits, type ServiceHabits } from './night-wire.ts';
import type { Account } from './process-model.ts';
import type { Scheduler } from './scheduler.ts';

/** The reference service's world in a night, with what really happens in it, against which the promises are judged. */
export interface ServiceModel {
  readonly world: World;
  readonly habits: ServiceHabits;
  readonly collectors: ReadonlyMap<number, CollectorModel>;
  readonly tasks: ReadonlyMap<string, TaskModel>;
  builds(): readonly Build[];
  /** A task was created for this rollout; null: by someone else. */
  began(task: SimulatedTask, rolloutId: string | null): TaskModel;
  /** Tasks of rollouts and of others that run now. */
  running(): ReadonlySet<TaskModel>;
  lastHeartbeat(collector: CollectorModel): number;
  goDown(collector: CollectorModel): void;
  comeUp(collector: CollectorModel): void;
  /** It is removed from the account. */
  leave(collector: CollectorModel): void;
  /** A person starts an upgrade, where the service takes it. */
  click(collector: CollectorModel, toBuild: string): void;
  /** A person installs it on the host itself: there is no task of it. */
  installByHand(collector: CollectorModel, build: string): void;
  appear(): void;
  rename(collector: CollectorModel): void;
}

export function makeServiceModel(
  setup: Setup,
  scheduler: Scheduler,
  expectMs: number,
  struck: (kind: FaultKind) => void,
  account: Account = 'ours',
  wants: (kind: FaultKind) => boolean = () => false,
): ServiceModel {
  const isOurs = account === 'ours';
  const chances = makeChances(setup.seed, isOurs ? 'fleet' : 'other fleet');
  const { now } = scheduler;
  const idOffset = isOurs || chances.hit(0.5) ? 0 : 10_000;
  const draw = { setup, chances, isOurs, expectMs, struck, wants };
  const scenario = drawScenario(draw);
  const world = new World({
    ...{ scenario, idOffset, clock: { now } },
    drawCollector: makeDrawCollector(draw, idOffset + 1),
    drawScript: makeDrawScript(draw),
  });
  const tracked = new Map<number, TrackedCollector>();
  const collectors = new Map<number, CollectorModel>();
  const tasks = new Map<string, TaskModel>();
  const open = new Set<TaskModel>();
  const follow = (simulated: SimulatedCollector, isNight: boolean): void => {
    const { id } = simulated.facts;
    const isThere = () => world.collector(id) !== undefined;
    const onSilenced = () => struck('silenced');
    const each = trackCollector(simulated, { seed: setup.seed, now, isNight, isThere, onSilenced });
    tracked.set(id, each);
    collectors.set(id, each.model);
  };
  for (const each of world.collectors()) follow(each, false);
  const trackOf = ({ about }: CollectorModel): TrackedCollector => {
    const known = tracked.get(about.id);
    if (known === undefined) throw new Error(`no collector ${about.id} in the night`);
    return known;
  };
  const change = (collector: CollectorModel, happen: (id: number) => void): void => {
    if (collector.deletedAt !== null) return;
    happen(collector.about.id);
    trackOf(collector).observe(null);
  };
  const began: ServiceModel['began'] = (simulated, rolloutId) => {
    const { id, collectorId, toVersion: toBuild, script } = simulated;
    const task: TaskModel = { id, collectorId, toBuild, rolloutId, simulated };
    tasks.set(id, task);
    open.add(task);
    const each = tracked.get(collectorId);
    each?.begins(task);
    for (const { at } of script.life) scheduler.at(at, () => each?.observe(task));
    return task;
  };

  return {
    world,
    habits: drawHabits(setup, account),
    collectors,
    tasks,
    builds: () => {
      const latest = world.builds.latest(now());
      return world.builds.offered(now()).map((version) => ({ version, latest: version === latest }));
    },
    began,
    running: () => {
      for (const task of open) if (task.simulated.script.endsAt <= now()) open.delete(task);
      return open;
    },
    lastHeartbeat: (collector) => heartbeatOf(trackOf(collector), now()),
    goDown: (collector) => change(collector, (id) => world.kill(id)),
    comeUp: (collector) => change(collector, (id) => world.revive(id)),
    leave: (collector) => {
      change(collector, (id) => world.kill(id));
      change(collector, (id) => world.remove(id));
      trackOf(collector).deleted();
    },
    click: (collector, toBuild) => {
      try {
        if (!isSameBuild(collector.build, toBuild))
          began(world.clickUpgrade(collector.about.id, toBuild), null);
      } catch (error) {
        if (!(error instanceof RefusedRequest)) throw error;
      }
    },
    installByHand: (collector, build) => change(collector, (id) => world.install(id, build)),
    appear: () => follow(world.appear(), true),
    rename: (collector) => {
      change(collector, (id) => world.rename(id, `${collector.about.name}-renamed`));
      if (collector.deletedAt === null) trackOf(collector).renamed();
    },
  };
}
