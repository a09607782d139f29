import type { EpochMs } from '../../base/time.ts';
import { taskStatus } from '../../contract/collector-management/upgrades.ts';
import { makeRandom, type Random } from '../scenario/random.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { LifeEvent } from './simulated-collector.ts';
import type { UpgradeOutcome } from './upgrade-outcome.ts';

/** The whole course of a task, drawn when it is created: 0 until `pendingAt`, 1 until `progressingAt`, 6 until `endsAt`. */
export interface TaskScript {
  readonly pendingAt: EpochMs;
  readonly progressingAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly endStatus: 2 | 3;
  readonly message: string;
  /** The events of the collector during and after the task. */
  readonly life: readonly LifeEvent[];
}

/** The message of a task that timed out. */
export const timedOutMessage = 'the upgrade timed out';

export interface ScriptParts {
  readonly scenario: Scenario;
  /** Identifies the attempt by collector, build and number, so that it is drawn independently of everything else. */
  readonly key: string;
  readonly requestedAt: EpochMs;
  readonly fromVersion: string;
  readonly toVersion: string;
  /** Builds between the two, in the order of their release. */
  readonly between: readonly string[];
  /** How many times as long as usual it takes. Default: 1. */
  readonly times?: number;
  readonly outcome: Exclude<UpgradeOutcome, { kind: 'createCode' }>;
  /** False: the collector is unreachable, so the task times out whatever the outcome. */
  readonly reachable: boolean;
}

/** Draws the course of a task (collector-api.md §3; durations: field-facts.md, Upgrades). */
export function drawTaskScript(parts: ScriptParts): TaskScript {
  const random = makeRandom(`task:${parts.scenario.fleet.seed}:${parts.key}`);
  const course = drawCourse(random, parts);
  const timesOutAt = parts.requestedAt + parts.scenario.limits.taskTimeout;
  if (!parts.reachable) {
    return { ...timedOut(course, timesOutAt), progressingAt: Infinity, life: [] };
  }
  const { outcome } = parts;
  switch (outcome.kind) {
    case 'succeeded':
      return inTime(course, timesOutAt, [...increment(course), ...restart(course, parts.toVersion)]);
    case 'silent':
      return inTime(course, timesOutAt, restart(course, parts.toVersion).map(silenced));
    case 'otherBuild':
      return inTime(course, timesOutAt, restart(course, outcome.build ?? parts.fromVersion));
    case 'lost':
      return inTime(course, timesOutAt, [{ at: course.downAt, kind: 'down' }]);
    case 'lostOnBuild':
      return inTime(course, timesOutAt, [
        { at: course.downAt, kind: 'down' },
        { at: course.endsAt, kind: 'down', version: parts.toVersion },
      ]);
    case 'failed': {
      const endsAt = course.progressingAt + (course.endsAt - course.progressingAt) * course.failsAfterShare;
      if (endsAt >= timesOutAt) return timedOut(course, timesOutAt);
      return {
        ...course.phases,
        endsAt: Math.round(endsAt),
        endStatus: taskStatus.failed,
        message: outcome.message,
        life: [],
      };
    }
    case 'timeout':
      // Some tasks never reach the collector, in others the collector hangs.
      return { ...timedOut(course, timesOutAt), ...(course.hangs ? {} : { progressingAt: Infinity }) };
    case 'lateSuccess': {
      const shownAt = timesOutAt + Math.round(course.lateShare * parts.scenario.limits.taskTimeout);
      const downAt = Math.max(course.progressingAt, shownAt - course.gapMs);
      return { ...timedOut(course, timesOutAt), life: restart({ ...course, downAt }, parts.toVersion) };
    }
    case 'lostInUpgrade':
      return { ...timedOut(course, timesOutAt), life: [{ at: course.midAt, kind: 'down' }] };
  }
}

interface Course {
  readonly phases: { readonly pendingAt: EpochMs; readonly progressingAt: EpochMs };
  readonly progressingAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly midAt: EpochMs;
  readonly downAt: EpochMs;
  readonly gapMs: number;
  readonly intermediate: string | undefined;
  readonly failsAfterShare: number;
  readonly lateShare: number;
  readonly hangs: boolean;
}

/** Draws every number in one fixed order, so that no outcome shifts the others. */
function drawCourse(random: Random, parts: ScriptParts): Course {
  const { durations } = parts.scenario;
  const { incrementFromBuildsBehind: fromBehind } = durations;
  const behind = parts.between.length + 1;
  const intermediate =
    fromBehind !== null && behind >= fromBehind
      ? parts.between[Math.floor(parts.between.length / 2)]
      : undefined;
  const increment = intermediate === undefined ? 1 : durations.incrementFactor;
  const drawnMs = random.logNormal(durations) * increment * (parts.times ?? 1);
  const durationMs = Math.round(Math.min(durations.max, Math.max(durations.min, drawnMs)));
  const { requestedAt } = parts;
  const pendingAt = Math.round(requestedAt + durationMs * random.between(0.01, 0.04));
  const progressingAt = Math.round(requestedAt + durationMs * random.between(0.08, 0.18));
  const endsAt = requestedAt + durationMs;
  const gapMs = Math.round(random.between(durations.restartMin, durations.restartMax));
  return {
    phases: { pendingAt, progressingAt },
    progressingAt,
    endsAt,
    midAt: Math.round(progressingAt + (endsAt - progressingAt) * 0.4),
    // The task may end before the collector is back, or after.
    downAt: Math.max(progressingAt, Math.round(endsAt - gapMs * random.next())),
    gapMs,
    intermediate,
    failsAfterShare: random.between(0.3, 1),
    lateShare: random.between(-0.15, 0.1),
    hangs: random.chance(0.7),
  };
}

/** The collector goes down, and comes back on the build. */
function restart(course: Course, version: string): LifeEvent[] {
  return [
    { at: course.downAt, kind: 'down' },
    { at: course.downAt + course.gapMs, kind: 'up', version },
  ];
}

function silenced(event: LifeEvent): LifeEvent {
  return event.kind === 'up' ? { ...event, silent: true } : event;
}

/** During the upgrade it shows an intermediate build (collector-api.md §9.4). */
function increment(course: Course): LifeEvent[] {
  if (course.intermediate === undefined) return [];
  const gapMs = Math.min(course.gapMs, Math.floor((course.downAt - course.midAt) / 2));
  return gapMs <= 0
    ? []
    : [
        { at: course.midAt, kind: 'down' },
        { at: course.midAt + gapMs, kind: 'up', version: course.intermediate },
      ];
}

/** Status 2 at the end, unless the task timed out before: the collector continues all the same. */
function inTime(course: Course, timesOutAt: EpochMs, life: LifeEvent[]): TaskScript {
  if (course.endsAt >= timesOutAt) return { ...timedOut(course, timesOutAt), life };
  return { ...course.phases, endsAt: course.endsAt, endStatus: taskStatus.succeeded, message: '', life };
}

/** 30 minutes without success: failed (collector-api.md §3). */
function timedOut(course: Course, timesOutAt: EpochMs): TaskScript {
  return {
    ...course.phases,
    endsAt: timesOutAt,
    endStatus: taskStatus.failed,
    message: timedOutMessage,
    life: [],
  };
}

/** The task's status at an instant. */
export function taskStatusAt(script: TaskScript, now: EpochMs): number {
  if (now >= script.endsAt) return script.endStatus;
  if (now >= script.progressingAt) return taskStatus.progressing;
  return now >= script.pendingAt ? taskStatus.pending : taskStatus.notStarted;
}
