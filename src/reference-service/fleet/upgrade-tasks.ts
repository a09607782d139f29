import { compareBuildVersions, isSameBuild, parseBuildVersion } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { BuildList } from './build-list.ts';
import { matchesCollector } from './collector-match.ts';
import type { CollectorRegistry } from './collector-registry.ts';
import { serviceRefusal } from './refusals.ts';
import { advanceCollector, isAlive, type SimulatedCollector } from './simulated-collector.ts';
import { drawTaskScript, type ScriptParts, type TaskScript, timedOutMessage } from './task-script.ts';
import { decideOutcome, type ResolvedRule, type UpgradeTry } from './upgrade-outcome.ts';

/** An upgrade task with its drawn course. */
export interface SimulatedTask {
  readonly id: string;
  readonly collectorId: number;
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly requestedAt: EpochMs;
  /** Who created it: a client of the API, or a person on the vendor's web page. */
  readonly by: 'api' | 'human';
  script: TaskScript;
}

/** The request for a task. Without a version, or with an empty one, the target is the latest build. */
export interface TaskRequest {
  readonly collectorId: number;
  readonly toVersion: string | undefined;
  readonly by: 'api' | 'human';
}

/** An accepted request, from which the course of its task is drawn. */
export type AcceptedUpgrade = UpgradeTry & Omit<ScriptParts, 'outcome' | 'times'> & Pick<TaskRequest, 'by'>;

/** @throws RefusedRequest when the request is refused after all */
export type DrawScript = (accepted: AcceptedUpgrade) => TaskScript;

/** Draws courses as the scenario has them: by its rules, else by chance. */
export function scenarioScripts(rules: readonly ResolvedRule[]): DrawScript {
  return (accepted) => {
    const outcome = decideOutcome(accepted.scenario, rules, accepted);
    if (outcome.kind === 'createCode') throw serviceRefusal(outcome.code);
    return drawTaskScript({ ...accepted, outcome, times: timesOf(accepted) });
  };
}

/** How many times as long as usual the upgrades of a collector take. */
function timesOf({ scenario, facts, version }: AcceptedUpgrade): number {
  const { durations, fleet } = scenario;
  const rule = durations.slow.find(({ match }, index) =>
    matchesCollector({ match, key: `${fleet.seed}:slow:${index}`, chosenIds: null }, { facts, version }),
  );
  return rule?.times ?? 1;
}

/** Task ids have ten digits, unlike collectors'. */
const firstTaskId = 1_000_000_001;

interface UpgradeTasksParts {
  readonly scenario: Scenario;
  readonly builds: BuildList;
  readonly collectors: CollectorRegistry;
  readonly idOffset: number;
}

/** The upgrade tasks of an account (collector-api.md §3, §4.3, §7.5). */
export class UpgradeTasks {
  readonly #parts: UpgradeTasksParts;
  readonly #tasks = new Map<string, SimulatedTask>();
  readonly #lastTaskOf = new Map<number, SimulatedTask>();
  /** Attempts of a collector for a build, by `<collector>:<build>`. */
  readonly #attempts = new Map<string, number>();

  constructor(parts: UpgradeTasksParts) {
    this.#parts = parts;
  }

  find(id: string): SimulatedTask | undefined {
    return this.#tasks.get(id);
  }

  isInUpgrade(collectorId: number, now: EpochMs): boolean {
    const last = this.#lastTaskOf.get(collectorId);
    return last !== undefined && now < last.script.endsAt;
  }

  /**
   * Collectors that are alive, Installed, at another build, not in an upgrade and not too old (field-facts.md, Upgrades).
   * Downgrades are included.
   */
  upgradableTo(toVersion: string, now: EpochMs): SimulatedCollector[] {
    // A fleet runs few builds.
    const byBuild = new Map<string, boolean>();
    return this.#parts.collectors.all(now).filter((collector) => {
      if (collector.facts.collectorType === 'Hosted') return false;
      const { version } = advanceCollector(collector, now);
      const isUpgradable = byBuild.get(version) ?? this.#leadsTo(version, toVersion);
      byBuild.set(version, isUpgradable);
      return isUpgradable && isAlive(collector, now) && !this.isInUpgrade(collector.facts.id, now);
    });
  }

  #leadsTo(version: string, toVersion: string): boolean {
    const toTarget = compareBuildVersions(version, toVersion);
    // An unreadable build can't be compared with the target, so the collector is left out, like one that is too old.
    if (toTarget === undefined || toTarget === 0) return false;
    return (compareBuildVersions(version, this.#parts.scenario.tooOldBelow) ?? 0) >= 0;
  }

  /**
   * The build that a request means. Default: the latest.
   * @throws RefusedRequest `collector.version.invalid` when it is unreadable or not on offer
   */
  targetVersion(asked: string | undefined, now: EpochMs): string {
    const toVersion = asked === undefined || asked === '' ? this.#parts.builds.latest(now) : asked;
    if (toVersion === undefined || parseBuildVersion(toVersion) === undefined) {
      throw serviceRefusal('collector.version.invalid');
    }
    const offered = this.#parts.builds.offered(now).find((version) => isSameBuild(version, toVersion));
    if (offered === undefined) throw serviceRefusal('collector.version.invalid');
    return offered;
  }

  /**
   * Accepts a task and draws its course.
   * @throws RefusedRequest with one of the five codes of collector-api.md §7.5
   */
  create(asked: TaskRequest, drawScript: DrawScript, now: EpochMs): SimulatedTask {
    const { collectorId, by } = asked;
    const { collector, toVersion } = this.#admit(asked, now);
    const life = advanceCollector(collector, now);
    const attemptKey = `${collectorId}:${toVersion}`;
    const attempt = (this.#attempts.get(attemptKey) ?? 0) + 1;
    this.#attempts.set(attemptKey, attempt);
    const { version } = life;
    const script = drawScript({
      ...{ facts: collector.facts, version, toVersion, attempt, by },
      scenario: this.#parts.scenario,
      key: `${attemptKey}:${attempt}`,
      requestedAt: now,
      fromVersion: version,
      between: this.#parts.builds.between(version, toVersion),
      reachable: life.kind === 'up' || collector.pending.some(({ kind }) => kind === 'up'),
    });
    collector.pending = [...collector.pending, ...script.life].sort((a, b) => a.at - b.at);
    return this.#keep({
      id: String(firstTaskId + this.#parts.idOffset + this.#tasks.size),
      collectorId,
      fromVersion: version,
      toVersion,
      requestedAt: now,
      by,
      script,
    });
  }

  /** A person starts a task on the vendor's web page, which refuses what the API would refuse: nothing happens then. */
  click(asked: Omit<TaskRequest, 'by'>, drawScript: DrawScript, now: EpochMs): void {
    try {
      this.create({ ...asked, by: 'human' }, drawScript, now);
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
    }
  }

  /** Lets the running task of a collector that is gone for good time out. */
  strand(collectorId: number, now: EpochMs): void {
    const task = this.#lastTaskOf.get(collectorId);
    if (task === undefined || now >= task.script.endsAt) return;
    task.script = {
      ...task.script,
      progressingAt: task.script.progressingAt <= now ? task.script.progressingAt : Infinity,
      endsAt: task.requestedAt + this.#parts.scenario.limits.taskTimeout,
      endStatus: 3,
      message: timedOutMessage,
      life: [],
    };
  }

  /** The state for a restart. */
  stored() {
    return { tasks: [...this.#tasks.values()], attempts: [...this.#attempts] };
  }

  restore(stored: {
    readonly tasks: readonly SimulatedTask[];
    readonly attempts: ReadonlyArray<readonly [string, number]>;
  }): void {
    for (const task of stored.tasks) this.#keep(task);
    for (const [key, attempt] of stored.attempts) this.#attempts.set(key, attempt);
  }

  #keep(task: SimulatedTask): SimulatedTask {
    this.#tasks.set(task.id, task);
    this.#lastTaskOf.set(task.collectorId, task);
    return task;
  }

  /** The rules of collector-api.md §7.5, in the order of its table. */
  #admit({ collectorId, toVersion }: TaskRequest, now: EpochMs) {
    const collector = this.#parts.collectors.find(collectorId, now);
    if (collector === undefined) throw serviceRefusal('collector.invalid');
    if (collector.facts.collectorType === 'Hosted') throw serviceRefusal('collector.type.invalid');
    if (!isAlive(collector, now)) throw serviceRefusal('collector.not.alive');
    if (this.isInUpgrade(collectorId, now)) throw serviceRefusal('collector.in.upgrading');
    return { collector, toVersion: this.targetVersion(toVersion, now) };
  }
}
