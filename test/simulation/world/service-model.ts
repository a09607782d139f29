import { isSameBuild } from '../../../src/base/build-version.ts';
import type { Build } from '../../../src/orchestrator/ports/fleet-service.ts';
import type { FleetCollector } from '../../../src/rollout/model/collector.ts';
import { makeChances } from '../chances.ts';
import { zones } from '../random-policy.ts';
import type { FaultKind, Setup } from '../setup.ts';
import { beginGap, type Delivery, drawDelivery, endGap } from './delivery-model.ts';
import type { Account } from './process-model.ts';
import type { Scheduler } from './scheduler.ts';

export const firstTarget = '19.536-4';
export const newerBuild = '19.540-1';
const oldBuilds = ['19.441-2', '19.426-3', '19.403-1'] as const;

/** One of the clusters that the first target may break, which no policy knows. */
const badCluster = 'c1';

const heartbeatMs = 15_000;
const taskTimeoutMs = 30 * 60_000;

/** One task as the service knows it. */
export interface TaskModel {
  readonly id: string;
  readonly collectorId: number;
  readonly toBuild: string;
  /** Whose: a rollout's, or null for someone else's. */
  readonly rolloutId: string | null;
  readonly createdAt: number;
  readonly endsAt: number;
  readonly succeeds: boolean;
  readonly message: string;
  isOver: boolean;
}

/** A collector as it is, whatever anybody knows of it. */
export interface CollectorModel {
  about: FleetCollector;
  /** Names that it had, each until it got the next. */
  formerNames: ReadonlyArray<{ readonly name: string; readonly until: number }>;
  /** What the service shows of it. */
  build: string;
  buildSince: number;
  /** The build was put there by an upgrade that is none of ours. */
  isBuildSomeoneElses: boolean;
  buildBefore: string;
  upSince: number;
  downSince: number | null;
  /** The last heartbeat before it went down. */
  lastBeforeDown: number;
  deletedAt: number | null;
  delivery: Delivery;
  task: TaskModel | null;
  lastTaskEndedAt: number;
  /** How long the service takes to show a dead one as dead. */
  readonly aliveForMs: number;
  creates: number;
  /** Into a build, at the end of a task. */
  isRestarting: boolean;
  restartsInto: string | null;
}

export type CreateResult =
  | { readonly kind: 'created'; readonly task: TaskModel }
  | { readonly kind: 'refused'; readonly code: string };

/** The service and its fleet: what really happens, against which the promises are judged. */
export interface ServiceModel {
  readonly collectors: ReadonlyMap<number, CollectorModel>;
  readonly tasks: ReadonlyMap<string, TaskModel>;
  builds(): readonly Build[];
  setBuilds(builds: readonly Build[]): void;
  create(of: {
    readonly collectorId: number;
    readonly toBuild: string;
    readonly rolloutId: string | null;
  }): CreateResult;
  /** Tasks of rollouts that run now. */
  running(): ReadonlySet<TaskModel>;
  lastHeartbeat(collector: CollectorModel): number;
  isShownAlive(collector: CollectorModel): boolean;
  isUpgradable(collector: CollectorModel, toBuild: string): boolean;
  goDown(collector: CollectorModel): void;
  comeUp(collector: CollectorModel): void;
  /** A person installs it on the host itself: there is no task of it. */
  installByHand(collector: CollectorModel, build: string): void;
  appear(): CollectorModel;
  rename(collector: CollectorModel): void;
}

const messages = [
  'download failed',
  'permission denied',
  'not enough space',
  'timed out',
  '',
  'gremlins',
] as const;

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
  // Ids of two accounts may meet or not.
  const firstId = isOurs || chances.hit(0.5) ? 1 : 10_001;
  const clusters = Math.max(1, Math.round(setup.collectors / chances.pick([2, 4, 10])));
  const collectors = new Map<number, CollectorModel>();
  const tasks = new Map<string, TaskModel>();
  const runningTasks = new Set<TaskModel>();
  let offered: readonly Build[] = [...oldBuilds, firstTarget].map((version) => ({
    version,
    latest: version === firstTarget,
  }));
  const pace = chances.between(0.7, 1.2);
  const oneBuild = chances.hit(0.5);
  const badStratum = chances.pick(['Linux/amd64', 'Linux/arm64', 'Windows/amd64'] as const);
  const startedAt = scheduler.now();
  let isNight = false;

  /** Where a cluster is broken, it is large enough to be noticed. */
  const clusterOf = (id: number, drawn: FleetCollector['fields']): FleetCollector['fields'] =>
    setup.faults.badCluster > 0 && makeChances(setup.seed, `cluster of ${id}`).hit(0.35)
      ? { cluster: badCluster }
      : drawn;

  const appear = (): CollectorModel => {
    const id = firstId + collectors.size;
    const build = oneBuild ? oldBuilds[0] : chances.pick(oldBuilds);
    const zone = chances.hit(0.1) ? chances.pick(['', 'Foo/Bar']) : chances.pick(zones);
    const about: FleetCollector = {
      id,
      name: `${isOurs ? 'collector' : 'other'}-${id}`,
      category: chances.hit(0.5) ? '' : chances.pick(['web', 'db']),
      hostName: `host-${id}`,
      osName: chances.hit(0.05) ? 'Mac OS X' : chances.pick(['Linux', 'Linux', 'Windows']),
      osArch: chances.pick(['amd64', 'amd64', 'amd64', 'arm64']),
      build,
      alive: true,
      lastSeenAlive: undefined,
      ephemeral: chances.hit(0.03),
      sourceSyncMode: 'UI',
      timeZone: zone,
      fields: clusterOf(id, chances.hit(0.8) ? { cluster: `c${chances.int(1, clusters)}` } : {}),
    };
    const now = scheduler.now();
    const collector: CollectorModel = {
      about,
      formerNames: [],
      build,
      buildSince: now,
      isBuildSomeoneElses: false,
      buildBefore: '',
      upSince: now - chances.int(60, 3_600) * 1_000,
      downSince: null,
      lastBeforeDown: now,
      deletedAt: null,
      delivery: drawDelivery(setup.seed, id, isNight ? now : Number.NEGATIVE_INFINITY),
      task: null,
      lastTaskEndedAt: 0,
      aliveForMs: chances.int(1, 30) * 60_000,
      creates: 0,
      isRestarting: false,
      restartsInto: null,
    };
    collectors.set(id, collector);
    return collector;
  };
  for (let count = 0; count < setup.collectors; count += 1) appear();
  isNight = true;

  const lastHeartbeat = (collector: CollectorModel): number => {
    if (collector.downSince !== null) return collector.lastBeforeDown;
    const phase = (collector.about.id * 4_271) % heartbeatMs;
    const last = Math.floor((scheduler.now() - phase) / heartbeatMs) * heartbeatMs + phase;
    return last >= collector.upSince ? last : collector.lastBeforeDown;
  };
  const isShownAlive = (collector: CollectorModel) =>
    scheduler.now() - lastHeartbeat(collector) < collector.aliveForMs;
  const goDown = (collector: CollectorModel): void => {
    if (collector.downSince !== null) return;
    collector.lastBeforeDown = lastHeartbeat(collector);
    collector.downSince = scheduler.now();
    collector.delivery = beginGap(collector.delivery, 'down', scheduler.now());
  };
  const comeUp = (collector: CollectorModel): void => {
    if (collector.downSince === null) return;
    collector.downSince = null;
    collector.upSince = scheduler.now();
    collector.delivery = endGap(collector.delivery, 'down', scheduler.now());
  };
  const show = (collector: CollectorModel, build: string, rolloutId: string | null): void => {
    if (collector.build === build) return;
    collector.isBuildSomeoneElses = rolloutId === null;
    collector.buildBefore = collector.build;
    collector.build = build;
    collector.buildSince = scheduler.now();
    collector.delivery = endGap(collector.delivery, 'silent', scheduler.now());
    if (
      build !== firstTarget ||
      !makeChances(setup.seed, `silenced/${collector.about.id}`).hit(setup.faults.silenced)
    )
      return;
    struck('silenced');
    collector.delivery = beginGap(collector.delivery, 'silent', scheduler.now());
  };

  const create: ServiceModel['create'] = ({ collectorId, toBuild, rolloutId }) => {
    const refused = (code: string): CreateResult => ({ kind: 'refused', code });
    const collector = collectors.get(collectorId);
    if (collector === undefined || collector.deletedAt !== null) return refused('collector.invalid');
    if (collector.task !== null) return refused('collector.in.upgrading');
    if (!isShownAlive(collector)) return refused('collector.not.alive');
    if (!offered.some(({ version }) => isSameBuild(version, toBuild)))
      return refused('collector.version.invalid');
    if (isSameBuild(collector.build, toBuild)) return refused('collector.version.invalid');
    collector.creates += 1;
    const now = scheduler.now();
    const fate = drawFate(setup, collector, {
      toBuild,
      expectMs: expectMs * pace,
      badStratum,
      isOurs: rolloutId !== null,
      struck,
      wants,
    });
    const task: TaskModel = {
      id: String(tasks.size + 1),
      collectorId,
      toBuild,
      rolloutId,
      createdAt: now,
      endsAt: now + fate.lastsMs,
      succeeds: fate.succeeds,
      message: fate.message,
      isOver: false,
    };
    tasks.set(task.id, task);
    runningTasks.add(task);
    collector.task = task;
    // It restarts into the new build before the service calls the task ended, or right after.
    const restartAt = task.endsAt - fate.restartMs;
    if (fate.intermediate !== null && restartAt - 60_000 > now) {
      const shown = fate.intermediate;
      scheduler.at(restartAt - 60_000, () => show(collector, shown, rolloutId));
    }
    if (fate.shows !== null) {
      const shows = fate.shows;
      scheduler.at(restartAt, () => {
        collector.isRestarting = true;
        collector.restartsInto = fate.returns ? shows : null;
        goDown(collector);
      });
      if (fate.returns) {
        scheduler.at(restartAt + fate.downMs, () => {
          collector.isRestarting = false;
          if (collector.deletedAt !== null) return;
          show(collector, shows, rolloutId);
          comeUp(collector);
        });
      } else
        scheduler.at(task.endsAt, () => {
          collector.isRestarting = false;
          show(collector, shows, rolloutId);
        });
    }
    scheduler.at(task.endsAt, () => {
      task.isOver = true;
      runningTasks.delete(task);
      collector.task = null;
      collector.lastTaskEndedAt = scheduler.now();
    });
    return { kind: 'created', task };
  };

  // Their heartbeats began long before the night.
  for (const collector of collectors.values()) collector.lastBeforeDown = startedAt;
  return {
    collectors,
    tasks,
    builds: () => offered,
    setBuilds: (builds) => {
      offered = builds;
    },
    create,
    running: () => runningTasks,
    lastHeartbeat,
    isShownAlive,
    isUpgradable: (collector, toBuild) =>
      isShownAlive(collector) && collector.task === null && !isSameBuild(collector.build, toBuild),
    goDown,
    comeUp,
    installByHand: (collector, build) => {
      show(collector, build, null);
      if (collector.downSince === null) collector.upSince = Math.max(collector.upSince, scheduler.now() - 1);
    },
    appear,
    rename: (collector) => {
      const { about, formerNames } = collector;
      collector.formerNames = [...formerNames, { name: about.name, until: scheduler.now() }];
      collector.about = { ...about, name: `${about.name}-renamed` };
    },
  };
}

interface Fate {
  readonly lastsMs: number;
  readonly succeeds: boolean;
  readonly message: string;
  /** The build it shows afterwards; null: as before. */
  readonly shows: string | null;
  readonly intermediate: string | null;
  readonly returns: boolean;
  readonly restartMs: number;
  readonly downMs: number;
}

function drawFate(
  { seed, faults }: Setup,
  { about, creates }: CollectorModel,
  of: {
    readonly toBuild: string;
    readonly expectMs: number;
    readonly badStratum: string;
    readonly isOurs: boolean;
    readonly struck: (kind: FaultKind) => void;
    readonly wants: (kind: FaultKind) => boolean;
  },
): Fate {
  const chances = makeChances(seed, `fate/${about.id}/${creates}`);
  const lastsMs = Math.round(Math.min(28 * 60_000, Math.max(45_000, chances.logNormal(of.expectMs * 0.85))));
  const restartMs = chances.int(3, 12) * 1_000;
  const strikes = (kind: FaultKind): boolean => {
    const hits = chances.hit(faults[kind]) || of.wants(kind);
    if (hits) of.struck(kind);
    return hits;
  };
  const good: Fate = {
    lastsMs: of.isOurs ? lastsMs : Math.max(150_000, lastsMs),
    succeeds: true,
    message: '',
    shows: of.toBuild,
    intermediate: strikes('taskIntermediate') ? '19.506-1' : null,
    returns: true,
    restartMs: of.isOurs ? restartMs : 40_000,
    // Ours come back a moment after the task's end, those of others before it.
    downMs: of.isOurs ? chances.int(5, 40) * 1_000 : 30_000,
  };
  const message = chances.pick(messages);
  const failed: Fate = { ...good, succeeds: false, message, shows: null, intermediate: null };
  const isBad = `${about.osName}/${about.osArch}` === of.badStratum && of.toBuild === firstTarget;
  const draw = chances.next();
  if (isBad && draw < faults.badStratum) {
    of.struck('badStratum');
    return chances.hit(0.2) ? { ...good, returns: false } : failed;
  }
  const breaksCluster = about.fields['cluster'] === badCluster && of.toBuild === firstTarget;
  if (breaksCluster && makeChances(seed, `cluster/${about.id}/${creates}`).hit(faults.badCluster)) {
    of.struck('badCluster');
    return failed;
  }
  if (strikes('taskFails')) return failed;
  if (strikes('taskStuck')) return { ...failed, lastsMs: taskTimeoutMs, message: 'timed out' };
  if (strikes('taskLost')) return { ...good, returns: false };
  if (strikes('taskOtherBuild')) return { ...good, shows: '19.506-1', intermediate: null };
  if (strikes('taskLateSuccess')) return { ...good, succeeds: false, message };
  return good;
}
