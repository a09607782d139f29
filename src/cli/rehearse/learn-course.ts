import type { DurationMs } from '../../base/time.ts';
import { eventsMax } from '../../contract/admin/event-limits.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { UsualCourse } from '../../rehearsal/world/fates.ts';
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

type KnownEvent = Pick<
  RolloutEventBody,
  'at' | 'event' | 'attempt' | 'collectorId' | 'durationMs' | 'seenDelayMs'
>;

type KnownRollout = Pick<RolloutStatus, 'id' | 'policy' | 'kind' | 'state' | 'counts'>;

/**
 * Reads how upgrades went in the last completed rollout of the policy: up to 1,000 of its latest successes, and its
 * failures. @throws CommandFailure when there is no such rollout
 */
export async function learnCourse(client: CourseReads, policy: string): Promise<UsualCourse> {
  const { rollouts } = await client.pageRollouts({ limit: rolloutsMax });
  const ended = rollouts.find(
    ({ policy: policyName, kind, state, counts }) =>
      policyName === policy && kind === 'upgrade' && endStates.has(state) && counts.succeeded >= upgradesMin,
  );
  if (ended === undefined)
    throw new UsageFailure(
      `${policy} has no ended rollout with at least ${upgradesMin} upgrades to learn from; leave out --learn`,
    );
  const { id, counts } = ended;
  const readLatest = (type: string) => client.readEvents(id, { type, limit: eventsMax });
  const successes = await readLatest('upgrade.succeeded');
  const taskEnds = new Map((await readLatest('upgrade.verifying')).map((each) => [each.collectorId, each]));
  const first = successes.filter(({ attempt }) => attempt === 1);
  const durations = first
    .flatMap((success) => taskDurationOf(success, taskEnds.get(success.collectorId)) ?? [])
    .sort((a, b) => a - b);
  const at = (share: number) => durations[Math.floor(share * (durations.length - 1))] ?? 0;
  const failed = failedStates.reduce((sum, state) => sum + counts[state], 0);
  const always = failed / (counts.succeeded + failed);
  return {
    durations: { medianMs: Math.max(1, at(0.5)), p95Ms: Math.max(1, at(0.95)) },
    failures: { always, once: (1 - always) * (1 - first.length / Math.max(1, successes.length)) },
  };
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
