import { compareBuildVersions, isSameBuild, parseBuildVersion } from '../base/build-version.ts';
import type { Clock, EpochMs } from '../base/time.ts';
import { BuildList } from './build-list.ts';
import { type MatchCandidate, matchesCollector, settleMatch } from './collector-match.ts';
import { CollectorRegistry } from './collector-registry.ts';
import { refused } from './create-refusals.ts';
import { FleetGenerator } from './fleet.ts';
import { type DueEvent, FleetEvents } from './fleet-events.ts';
import type { FleetEvent, Scenario } from './scenario.ts';
import { ServiceFailure } from './service-failure.ts';
import { isAlive, type SimulatedCollector, settleCollector } from './simulated-collector.ts';
import { drawTaskScript, type TaskScript, timedOutMessage } from './task-script.ts';
import { decideOutcome, type SettledRule } from './upgrade-outcome.ts';

/** An upgrade task with its whole course. */
export interface SimulatedTask {
  readonly id: string;
  readonly collectorId: number;
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly requestedAt: EpochMs;
  /** Who asked for it: a client of the API, or a person at the vendor's web page. */
  readonly by: 'api' | 'human';
  script: TaskScript;
}

/** Task ids have ten digits, so that none is mistaken for a collector's. */
const firstTaskId = 1_000_000_001;

/** The fleet, the builds and the tasks. Nothing in it ticks: each question is answered for the instant of the clock. */
export class World {
  readonly startedAt: EpochMs;
  readonly builds: BuildList;
  readonly #scenario: Scenario;
  readonly #clock: Clock;
  readonly #collectors: CollectorRegistry;
  readonly #tasks = new Map<string, SimulatedTask>();
  readonly #lastTaskOf = new Map<number, SimulatedTask>();
  /** Tries of a collector for a build, by `<collector>:<build>`. */
  readonly #attempts = new Map<string, number>();
  readonly #rules: readonly SettledRule[];
  readonly #events: FleetEvents;

  constructor(parts: { readonly scenario: Scenario; readonly clock: Clock }) {
    const { scenario, clock } = parts;
    this.#scenario = scenario;
    this.#clock = clock;
    this.startedAt = clock.now();
    this.builds = new BuildList(scenario.builds, this.startedAt);
    const versions = this.builds.versions;
    const latest = this.builds.latest(this.startedAt);
    const upToLatest = versions.slice(0, versions.lastIndexOf(latest ?? '') + 1);
    this.#collectors = new CollectorRegistry(new FleetGenerator(scenario.fleet, upToLatest));
    for (let made = 0; made < scenario.fleet.size; made++) this.#collectors.register(this.startedAt);
    const upgradable = latest === undefined ? [] : this.#upgradableTo(latest, this.startedAt).map(candidate);
    const { seed } = scenario.fleet;
    this.#rules = scenario.failures.map((rule, index) => ({
      rule,
      match: settleMatch(rule.match, `${seed}:failure:${index}`, upgradable),
    }));
    this.#events = new FleetEvents({ scenario, startedAt: this.startedAt, upgradable });
  }

  now(): EpochMs {
    const now = this.#clock.now();
    this.#applyEvents(now);
    return now;
  }

  /** Every collector of the account, in the order of their ids; deleted ones are gone. */
  collectors(): SimulatedCollector[] {
    return this.#collectors.all(this.now());
  }

  collector(id: number): SimulatedCollector | undefined {
    return this.#collectors.find(id, this.now());
  }

  collectorNamed(name: string): SimulatedCollector | undefined {
    return this.collectors().find(({ facts }) => facts.name === name);
  }

  task(id: string): SimulatedTask | undefined {
    return this.#tasks.get(id);
  }

  isInUpgrade(collectorId: number): boolean {
    return this.#isInUpgrade(collectorId, this.now());
  }

  /** Alive, Installed, below the build, not in an upgrade and not too old (field-facts.md, Upgrades). */
  upgradableTo(toVersion: string): SimulatedCollector[] {
    return this.#upgradableTo(toVersion, this.now());
  }

  /**
   * Accepts an upgrade task and draws its course.
   * @param toVersion undefined or empty: the latest build
   * @throws ServiceFailure with one of the five codes of collector-api.md §7.5
   */
  createTask(asked: {
    readonly collectorId: number;
    readonly toVersion: string | undefined;
    readonly by: 'api' | 'human';
  }): SimulatedTask {
    const now = this.now();
    return this.#createTask({ ...asked, now });
  }

  /** The collector falls silent for good; an upgrade of its own then runs into the time-out. */
  kill(collectorId: number): void {
    this.#kill(this.#known(collectorId), this.now());
  }

  /** A silent collector comes back. */
  revive(collectorId: number): void {
    this.#collectors.wake(this.#known(collectorId), this.now());
  }

  /** A person clicks upgrade in the vendor's web page. */
  clickUpgrade(collectorId: number, toVersion?: string): SimulatedTask {
    return this.createTask({ collectorId, toVersion, by: 'human' });
  }

  /** The collector is deleted from the account. */
  remove(collectorId: number): void {
    this.#collectors.remove(collectorId);
  }

  /** A new collector registers itself. */
  appear(): SimulatedCollector {
    return this.#collectors.register(this.now());
  }

  withdrawBuild(version: string): void {
    this.builds.withdraw(version, this.now());
  }

  offerBuild(version: string): void {
    this.builds.offer(version, this.now());
  }

  #known(collectorId: number): SimulatedCollector {
    const collector = this.#collectors.find(collectorId, this.now());
    if (collector === undefined) throw new Error(`no collector ${collectorId} in the fleet`);
    return collector;
  }

  #upgradableTo(toVersion: string, now: EpochMs): SimulatedCollector[] {
    return this.#collectors.all(now).filter((collector) => {
      if (collector.facts.collectorType === 'Hosted') return false;
      const { version } = settleCollector(collector, now);
      const toTarget = compareBuildVersions(version, toVersion);
      // An unreadable build can't be placed before the target, so it is missing like a too old one.
      if (toTarget === undefined || toTarget >= 0) return false;
      if ((compareBuildVersions(version, this.#scenario.tooOldBelow) ?? 0) < 0) return false;
      return isAlive(collector, now) && !this.#isInUpgrade(collector.facts.id, now);
    });
  }

  #isInUpgrade(collectorId: number, now: EpochMs): boolean {
    const last = this.#lastTaskOf.get(collectorId);
    return last !== undefined && now < last.script.endsAt;
  }

  #createTask(asked: {
    readonly collectorId: number;
    readonly toVersion: string | undefined;
    readonly by: 'api' | 'human';
    readonly now: EpochMs;
  }): SimulatedTask {
    const { collectorId, now } = asked;
    const { collector, toVersion } = this.#admit(asked);
    const life = settleCollector(collector, now);
    const attemptKey = `${collectorId}:${toVersion}`;
    const attempt = (this.#attempts.get(attemptKey) ?? 0) + 1;
    this.#attempts.set(attemptKey, attempt);
    const { facts } = collector;
    const outcome = decideOutcome(this.#scenario, this.#rules, {
      facts,
      version: life.version,
      toVersion,
      attempt,
    });
    if (outcome.kind === 'createCode') throw refused(outcome.code);
    const script = drawTaskScript({
      scenario: this.#scenario,
      key: `${attemptKey}:${attempt}`,
      requestedAt: now,
      fromVersion: life.version,
      toVersion,
      between: this.builds.between(life.version, toVersion),
      outcome,
      reachable: life.kind === 'up' || collector.pending.some(({ kind }) => kind === 'up'),
    });
    collector.pending = [...collector.pending, ...script.life].sort((a, b) => a.at - b.at);
    const task: SimulatedTask = {
      id: String(firstTaskId + this.#tasks.size),
      collectorId,
      fromVersion: life.version,
      toVersion,
      requestedAt: now,
      by: asked.by,
      script,
    };
    this.#tasks.set(task.id, task);
    this.#lastTaskOf.set(collectorId, task);
    return task;
  }

  /** The rules of collector-api.md §7.5, in the order of its table. */
  #admit(asked: { collectorId: number; toVersion: string | undefined; now: EpochMs }) {
    const { collectorId, now } = asked;
    const collector = this.#collectors.find(collectorId, now);
    if (collector === undefined) throw refused('collector.invalid');
    if (collector.facts.collectorType === 'Hosted') throw refused('collector.type.invalid');
    if (!isAlive(collector, now)) throw refused('collector.not.alive');
    if (this.#isInUpgrade(collectorId, now)) throw refused('collector.in.upgrading');
    const toVersion = this.targetVersion(asked.toVersion);
    return { collector, toVersion };
  }

  /**
   * The build a request means: the latest where none is named.
   * @throws ServiceFailure `collector.version.invalid` when it is unreadable or not on offer
   */
  targetVersion(asked: string | undefined): string {
    const now = this.#clock.now();
    const toVersion = asked === undefined || asked === '' ? this.builds.latest(now) : asked;
    if (toVersion === undefined || parseBuildVersion(toVersion) === undefined) {
      throw refused('collector.version.invalid');
    }
    const offered = this.builds.offered(now).find((version) => isSameBuild(version, toVersion));
    if (offered === undefined) throw refused('collector.version.invalid');
    return offered;
  }

  #kill(collector: SimulatedCollector, now: EpochMs): void {
    this.#collectors.silence(collector, now);
    const task = this.#lastTaskOf.get(collector.facts.id);
    if (task === undefined || now >= task.script.endsAt) return;
    task.script = {
      ...task.script,
      progressingAt: task.script.progressingAt <= now ? task.script.progressingAt : Infinity,
      endsAt: task.requestedAt + this.#scenario.limits.taskTimeout,
      endStatus: 3,
      message: timedOutMessage,
      life: [],
    };
  }

  /** What the scenario has planned up to now, each thing at its own instant. */
  #applyEvents(now: EpochMs): void {
    for (const due of this.#events.takeDue(now)) this.#applyEvent(due);
  }

  #applyEvent({ at, event, match }: DueEvent): void {
    if (event.event === 'appears') {
      for (let made = 0; made < event.newcomers; made++) this.#collectors.register(at);
      return;
    }
    for (const collector of this.#collectors.all(at)) {
      settleCollector(collector, at);
      if (matchesCollector(match, candidate(collector))) this.#happen(event, collector, at);
    }
  }

  #happen(event: FleetEvent, collector: SimulatedCollector, at: EpochMs): void {
    switch (event.event) {
      case 'dies':
        this.#kill(collector, at);
        return;
      case 'returns':
        this.#collectors.wake(collector, at);
        return;
      case 'vanishes':
        this.#collectors.remove(collector.facts.id);
        return;
      case 'humanUpgrade':
        this.#humanUpgrade(collector.facts.id, event.toVersion, at);
        return;
      case 'appears':
        return;
    }
  }

  /** The web page refuses what the API would refuse; the person shrugs. */
  #humanUpgrade(collectorId: number, toVersion: string | undefined, now: EpochMs): void {
    try {
      this.#createTask({ collectorId, toVersion, by: 'human', now });
    } catch (error) {
      if (!(error instanceof ServiceFailure)) throw error;
    }
  }
}

function candidate({ facts, life }: SimulatedCollector): MatchCandidate {
  return { facts, version: life.version };
}
