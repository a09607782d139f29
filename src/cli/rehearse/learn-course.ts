import type { DurationMs } from '../../base/time.ts';
import { eventsMax } from '../../contract/admin/event-limits.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { UsualCourse, UsualDurations } from '../../rehearsal/world/fates.ts';
import { failedStates } from '../../rollout/model/upgrade.ts';
import { UsageFailure } from '../shell/command.ts';

/** Fewer upgrades say little about the next rollout. */
const upgradesMin = 20;

/** How many rollouts are searched for one to learn from. */
const rolloutsMax = 100;

/** The calls to the daemon that this module needs. */
export interface CourseReads {
  pageRollouts(page: { readonly limit: number }): Promise<{ readonly rollouts: readonly KnownRollout[] }>;
  readEvents(
    rolloutId: string,
    search: { readonly type: string; readonly limit: number },
  ): Promise<readonly KnownEvent[]>;
}

/** How upgrades went in an earlier rollout. */
export interface LearnedCourse extends Pick<UsualCourse, 'durations'> {
  readonly rolloutId: string;
  /** Absent where only durations were asked for. */
  readonly failures?: UsualCourse['failures'];
  /** How long the task of each collector took. */
  readonly tookMs: ReadonlyMap<number, DurationMs>;
}

type KnownEvent = Pick<
  RolloutEventBody,
  'at' | 'event' | 'attempt' | 'collectorId' | 'durationMs' | 'seenDelayMs'
>;

type KnownRollout = Pick<RolloutStatus, 'id' | 'policy' | 'kind' | 'state' | 'counts'>;

/**
 * Reads how upgrades went in the last completed rollout of the policy: up to 1,000 of its latest successes, and its
 * failures. @throws CommandFailure when there is no such rollout
 */
export async function learnCourse(
  client: CourseReads,
  policy: string,
): Promise<LearnedCourse & Pick<UsualCourse, 'failures'>> {
  const ended = await findLast(client, policy, ({ state }) => endStates.has(state));
  if (ended === undefined)
    throw new UsageFailure(
      `${policy} has no ended rollout with at least ${upgradesMin} upgrades to learn from; leave out --learn`,
    );
  const { successes, ...durations } = await readDurations(client, ended);
  const { counts } = ended;
  const failed = failedStates.reduce((sum, state) => sum + counts[state], 0);
  const always = failed / (counts.succeeded + failed);
  const first = successes.filter(({ attempt }) => attempt === 1);
  const once = (1 - always) * (1 - first.length / Math.max(1, successes.length));
  return { ...durations, failures: { always, once } };
}

/**
 * Reads only how long upgrades took, also from a rollout that was stopped. In one that is running, the slow ones are missing.
 * @returns undefined when there is no rollout with enough upgrades
 */
export async function learnDurations(
  client: CourseReads,
  policy: string,
): Promise<LearnedCourse | undefined> {
  const last = await findLast(client, policy, ({ state }) => state !== 'running');
  if (last === undefined) return undefined;
  const { successes: _all, ...durations } = await readDurations(client, last);
  return durations.tookMs.size < upgradesMin ? undefined : durations;
}

async function findLast(
  client: CourseReads,
  policy: string,
  isMeant: (rollout: KnownRollout) => boolean,
): Promise<KnownRollout | undefined> {
  const { rollouts } = await client.pageRollouts({ limit: rolloutsMax });
  return rollouts.find(
    (each) =>
      each.policy === policy &&
      each.kind === 'upgrade' &&
      each.counts.succeeded >= upgradesMin &&
      isMeant(each),
  );
}

async function readDurations(client: CourseReads, { id }: KnownRollout) {
  const readLatest = (type: string) => client.readEvents(id, { type, limit: eventsMax });
  const successes = await readLatest('upgrade.succeeded');
  const taskEnds = new Map((await readLatest('upgrade.verifying')).map((each) => [each.collectorId, each]));
  const tookMs = new Map<number, DurationMs>();
  for (const success of successes) {
    const { attempt, collectorId } = success;
    const ms = taskDurationOf(success, taskEnds.get(collectorId));
    if (attempt === 1 && collectorId !== undefined && ms !== undefined) tookMs.set(collectorId, ms);
  }
  return { rolloutId: id, successes, tookMs, durations: usualOf([...tookMs.values()]) };
}

/** The median and the 95th percentile. */
export function usualOf(tookMs: readonly DurationMs[]): UsualDurations {
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number) => Math.max(1, sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return { medianMs: at(0.5), p95Ms: at(0.95) };
}

/**
 * How long its task ran. The verification, and half of the last poll interval, are subtracted, because a rehearsal adds
 * polls and verifications of its own.
 */
function taskDurationOf(success: KnownEvent, taskEnd: KnownEvent | undefined): DurationMs | undefined {
  if (success.durationMs === undefined || taskEnd === undefined) return undefined;
  return Math.max(0, success.durationMs - (success.at - taskEnd.at) - (taskEnd.seenDelayMs ?? 0) / 2);
}

/** States of completed rollouts, in which every upgrade had its turn. */
const endStates: ReadonlySet<string> = new Set(['succeeded', 'finishedWithFailures']);
