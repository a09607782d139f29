import { compareBuildVersions } from '../../base/build-version.ts';
import type { Clock, EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { BuildList } from './build-list.ts';
import { matchesCollector } from './collector-match.ts';
import { CollectorRegistry } from './collector-registry.ts';
import { createHostedCollector, updateCollector } from './collector-writes.ts';
import { asCandidate, type DueEvent, FleetEvents } from './fleet-events.ts';
import { type DrawCollector, FleetGenerator } from './fleet-generator.ts';
import { advanceCollector, type CollectorSource, type SimulatedCollector } from './simulated-collector.ts';
import { SourceRegistry } from './source-registry.ts';
import { createSource, deleteSource, updateSource } from './source-writes.ts';
import type { Stated, StatedUpdate } from './statements.ts';
import { restoredCollector, type StoredWorld, storedCollector } from './stored-world.ts';
import { resolveRules } from './upgrade-outcome.ts';
import {
  type DrawScript,
  type SimulatedTask,
  scenarioScripts,
  type TaskRequest,
  UpgradeTasks,
} from './upgrade-tasks.ts';

type Update = Pick<StatedUpdate, 'stated' | 'ifMatch'>;

/**
 * An account's fleet with its sources, builds and tasks. Nothing in it ticks: each method computes the state at the clock's
 * instant. Every write calls `changed`, so that the state can be stored.
 */
export class World {
  readonly startedAt: EpochMs;
  readonly builds: BuildList;
  readonly sources: SourceRegistry;
  readonly #clock: Clock;
  readonly #collectors: CollectorRegistry;
  readonly #tasks: UpgradeTasks;
  readonly #drawScript: DrawScript;
  readonly #updates: Pick<StatedUpdate, 'isStrict' | 'clearsUnstated'>;
  readonly #events: FleetEvents;
  readonly #changed: () => void;
  #eventsDoneUntil: EpochMs;

  constructor(parts: {
    readonly scenario: Scenario;
    readonly clock: Clock;
    /** Separates the ids of several accounts. */
    readonly idOffset?: number;
    /** The state of an earlier run. Default: a new fleet is drawn. */
    readonly stored?: StoredWorld | undefined;
    readonly changed?: () => void;
    /** Draw collectors and the courses of tasks in place of the scenario. */
    readonly drawCollector?: DrawCollector;
    readonly drawScript?: DrawScript;
  }) {
    const { scenario, clock, idOffset = 0, stored, drawCollector: draw } = parts;
    const { seed } = scenario.fleet;
    this.#clock = clock;
    this.#updates = {
      isStrict: scenario.strictUpdates,
      clearsUnstated: scenario.unstatedFields === 'clear',
    };
    this.#changed = parts.changed ?? (() => {});
    this.startedAt = stored?.startedAt ?? clock.now();
    this.#eventsDoneUntil = stored?.eventsDoneUntil ?? this.startedAt;
    this.builds = new BuildList(scenario.builds, this.startedAt);
    const { versions } = this.builds;
    const latest = this.builds.latest(this.startedAt);
    const upToLatest = versions.slice(0, versions.lastIndexOf(latest ?? '') + 1);
    this.#collectors = new CollectorRegistry(
      new FleetGenerator(scenario.fleet, upToLatest, { idOffset, draw }),
    );
    this.sources = new SourceRegistry({ rules: scenario.sources, seed, idOffset });
    this.#tasks = new UpgradeTasks({ scenario, builds: this.builds, collectors: this.#collectors, idOffset });
    for (let made = 0; made < scenario.fleet.size; made++) this.#collectors.register(this.startedAt);
    // Rules choose from the fleet at the start, even if a stored state replaces it.
    const upgradable = this.#belowLatest(latest).map(asCandidate);
    this.#drawScript = parts.drawScript ?? scenarioScripts(resolveRules(scenario, upgradable));
    this.#events = new FleetEvents({ scenario, startedAt: this.startedAt, upgradable });
    if (stored !== undefined) this.#restore(stored);
  }

  now(): EpochMs {
    const now = this.#clock.now();
    this.#applyEvents(now);
    return now;
  }

  /** Every collector of the account that is not deleted, by id. */
  collectors(): SimulatedCollector[] {
    return this.#collectors.all(this.now());
  }

  collector(id: number): SimulatedCollector | undefined {
    return this.#collectors.find(id, this.now());
  }

  collectorNamed(name: string): SimulatedCollector | undefined {
    return this.#collectors.named(name, this.now());
  }

  /** Installed Collectors that were last seen alive at least this many days ago (collector-api.md §4.1). */
  offlineCollectors(aliveBeforeDays: number): SimulatedCollector[] {
    return this.#collectors.offline(aliveBeforeDays * dayMs, this.now());
  }

  /** @throws RefusedRequest when a rule of collector-api.md §2.1 or §4.1 is broken */
  createCollector(stated: Stated): SimulatedCollector {
    return this.#written(createHostedCollector(this.#collectors, stated, this.now()));
  }

  /** @throws RefusedRequest when a rule of collector-api.md §2.1 or §4.4 is broken */
  updateCollector(collector: SimulatedCollector, update: Update): void {
    updateCollector(this.#collectors, collector, this.#toStatedUpdate(update));
    this.#changed();
  }

  /** Starts to delete the offline collectors one after another (collector-api.md §4.1). */
  deleteOfflineCollectors(aliveBeforeDays: number): void {
    this.#collectors.sweep(this.offlineCollectors(aliveBeforeDays), this.now());
    this.#changed();
  }

  /** @throws RefusedRequest when a rule of collector-api.md §2.2 or §4.2 is broken */
  createSource(collector: SimulatedCollector, stated: Stated): CollectorSource {
    return this.#written(createSource(this.sources, collector, stated, this.now()));
  }

  /** @throws RefusedRequest when a rule of collector-api.md §4.2 or §4.4 is broken */
  updateSource(collector: SimulatedCollector, source: CollectorSource, update: Update): CollectorSource {
    const target = { collector, source };
    return this.#written(updateSource(this.sources, target, this.#toStatedUpdate(update)));
  }

  /** @throws RefusedRequest `CannotModifySources` for a collector in JSON mode */
  deleteSource(collector: SimulatedCollector, source: CollectorSource): void {
    deleteSource(this.sources, { collector, source }, this.now());
    this.#changed();
  }

  task(id: string): SimulatedTask | undefined {
    return this.#tasks.find(id);
  }

  isInUpgrade(collectorId: number): boolean {
    return this.#tasks.isInUpgrade(collectorId, this.now());
  }

  /** Alive, Installed, at another build, not in an upgrade and not too old (field-facts.md, Upgrades). */
  upgradableTo(toVersion: string): SimulatedCollector[] {
    return this.#tasks.upgradableTo(toVersion, this.now());
  }

  /**
   * The build that a request means. Default: the latest.
   * @throws RefusedRequest `collector.version.invalid` when it is unreadable or not on offer
   */
  targetVersion(asked: string | undefined): string {
    return this.#tasks.targetVersion(asked, this.now());
  }

  /**
   * Accepts an upgrade task and draws its course.
   * @throws RefusedRequest with one of the five codes of collector-api.md §7.5
   */
  createTask(asked: TaskRequest): SimulatedTask {
    return this.#written(this.#tasks.create(asked, this.#drawScript, this.now()));
  }

  /** The collector goes down for good. Its running upgrade times out. */
  kill(collectorId: number): void {
    this.#kill(this.#known(collectorId), this.now());
    this.#changed();
  }

  /** A collector that is down comes back. */
  revive(collectorId: number): void {
    this.#collectors.wake(this.#known(collectorId), this.now());
    this.#changed();
  }

  /** A person starts an upgrade on the vendor's web page. */
  clickUpgrade(collectorId: number, toVersion?: string): SimulatedTask {
    return this.createTask({ collectorId, toVersion, by: 'human' });
  }

  /** The collector is deleted with its sources. Its running upgrade times out. */
  remove(collectorId: number): void {
    this.#remove(collectorId, this.now());
    this.#changed();
  }

  /** A new collector registers itself. */
  appear(): SimulatedCollector {
    return this.#written(this.#collectors.register(this.now()));
  }

  /** A person installs a build on the collector's host, without a task. */
  install(collectorId: number, version: string): void {
    this.#collectors.install(this.#known(collectorId), version, this.now());
    this.#changed();
  }

  rename(collectorId: number, name: string): void {
    const collector = this.#known(collectorId);
    this.#collectors.change(collector, { ...collector.facts, name });
    this.#changed();
  }

  withdrawBuild(version: string): void {
    this.builds.withdraw(version, this.now());
    this.#changed();
  }

  offerBuild(version: string): void {
    this.builds.offer(version, this.now());
    this.#changed();
  }

  /** The state for a restart. */
  stored(): StoredWorld {
    const now = this.now();
    return {
      startedAt: this.startedAt,
      eventsDoneUntil: this.#eventsDoneUntil,
      counts: { ...this.#collectors.counts, sources: this.sources.createdCount },
      collectors: this.#collectors.all(now).map(storedCollector),
      builds: this.builds.stored(),
      ...this.#tasks.stored(),
    };
  }

  #toStatedUpdate(update: Update): StatedUpdate {
    return { ...update, ...this.#updates, now: this.now() };
  }

  #belowLatest(latest: string | undefined): SimulatedCollector[] {
    if (latest === undefined) return [];
    const isBelow = (collector: SimulatedCollector) =>
      (compareBuildVersions(advanceCollector(collector, this.startedAt).version, latest) ?? 0) < 0;
    return this.#tasks.upgradableTo(latest, this.startedAt).filter(isBelow);
  }

  #restore(stored: StoredWorld): void {
    this.#collectors.restore(stored.collectors.map(restoredCollector), stored.counts);
    this.sources.restore(stored.counts.sources);
    this.builds.restore(stored.builds);
    this.#tasks.restore(stored);
    this.#events.takeDue(stored.eventsDoneUntil);
  }

  #written<T>(result: T): T {
    this.#changed();
    return result;
  }

  #known(collectorId: number): SimulatedCollector {
    const collector = this.#collectors.find(collectorId, this.now());
    if (collector === undefined) throw new Error(`no collector ${collectorId} in the fleet`);
    return collector;
  }

  #kill(collector: SimulatedCollector, now: EpochMs): void {
    this.#collectors.silence(collector, now);
    this.#tasks.strand(collector.facts.id, now);
  }

  #remove(collectorId: number, now: EpochMs): void {
    this.#collectors.remove(collectorId);
    this.#tasks.strand(collectorId, now);
  }

  /** Applies the scenario's events until now, each at its own instant. */
  #applyEvents(now: EpochMs): void {
    const due = this.#events.takeDue(now);
    if (due.length === 0) return;
    for (const each of due) this.#play(each);
    this.#eventsDoneUntil = now;
    this.#changed();
  }

  /** Applies an event to each collector of its match. */
  #play({ at, event, match }: DueEvent): void {
    if (event.event === 'appears') {
      for (let made = 0; made < event.newcomers && !this.#collectors.isFull(at); made++)
        this.#collectors.register(at);
      return;
    }
    for (const collector of this.#collectors.all(at)) {
      advanceCollector(collector, at);
      if (!matchesCollector(match, asCandidate(collector))) continue;
      if (event.event === 'dies') this.#kill(collector, at);
      if (event.event === 'returns') this.#collectors.wake(collector, at);
      if (event.event === 'vanishes') this.#remove(collector.facts.id, at);
      const asked = { collectorId: collector.facts.id, toVersion: event.toVersion };
      if (event.event === 'humanUpgrade') this.#tasks.click(asked, this.#drawScript, at);
    }
  }
}
