import type { RolloutEvent, RolloutEventName } from '../rollout/model/events.ts';
import { type EndState, endStates } from '../rollout/model/upgrade.ts';
import { turnReasonKinds } from '../rollout/model/upgrade-reason.ts';
import { failureClasses } from '../rollout/upgrade/failure-classes.ts';
import { isDuration, type Series } from './series.ts';

/** The result of one upgrade task: the class of its failure, or the end that it reached. */
const attemptClasses = [
  'succeeded',
  ...failureClasses,
  'failed',
  'timedOut',
  'unconfirmed',
  'other',
] as const;
type AttemptClass = (typeof attemptClasses)[number];

/** Events that are counted by name: rare ones that are worth a mark in a graph. */
const countedEvents = [
  'rollout.planned',
  'rollout.approved',
  'rollout.held',
  'rollout.paused',
  'rollout.resumed',
  'rollout.reopened',
  'rollout.rollingBack',
  'rollout.succeeded',
  'rollout.finishedWithFailures',
  'rollout.aborted',
  'rollout.rolledBack',
  'wave.awaitingApproval',
  'wave.approved',
  'wave.opened',
  'wave.soaking',
  'wave.soakSkipped',
  'wave.passed',
  'stratum.held',
  'stratum.released',
] as const satisfies readonly RolloutEventName[];

const minutes = 60;
/** Most upgrades take 3 to 10 minutes. The default deadline is 35 minutes, and retries add to it. */
const upgradeDurationBuckets = [1, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 40, 60].map((count) => count * minutes);
/** From an immediate poll to the longest wait between two polls. */
const seenDelayBuckets = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];

/** Makes the counters of upgrades and rollouts. */
export function makeUpgradeMetrics({ counter, histogram }: Series) {
  const outcomes = counter('upgrade_outcomes_total', 'Upgrades that ended, by outcome.', [
    'policy',
    'outcome',
  ]);
  const attempts = counter(
    'upgrade_attempts_total',
    'Attempts that ended, by the class of their failure or by their outcome.',
    ['policy', 'class'],
  );
  const putBacks = counter(
    'upgrade_put_backs_total',
    'Upgrades that released their slot before their create request was sent, by reason.',
    ['policy', 'reason'],
  );
  const durations = histogram(
    'upgrade_duration_seconds',
    'Time from the first upgrade task of a collector until its upgrade ended, whatever the outcome.',
    upgradeDurationBuckets,
    ['policy'],
  );
  const seenDelays = histogram(
    'outcome_seen_delay_seconds',
    'Time from the end of an upgrade task at the service until a poll showed it, at most: since the poll before.',
    seenDelayBuckets,
  );
  const rolloutEvents = counter(
    'rollout_events_total',
    'Events of rollouts, waves, gates and strata that this daemon caused, by name.',
    ['policy', 'event'],
  );
  return {
    /** Starts the counters of a policy at zero, so that a first failure shows as an increase. */
    startAtZero: (policy: string): void => {
      for (const outcome of endStates) outcomes.inc({ policy, outcome }, 0);
      for (const attemptClass of attemptClasses) attempts.inc({ policy, class: attemptClass }, 0);
      for (const event of countedEvents) rolloutEvents.inc({ policy, event }, 0);
      for (const reason of turnReasonKinds) putBacks.inc({ policy, reason }, 0);
      durations.zero({ policy });
    },
    /** Counts an event. Shared state is not counted here, but read at each scrape. */
    countEvent: (event: RolloutEvent): void => {
      const { policy, durationMs, seenDelayMs } = event;
      const counted = countedEvents.find((name) => name === event.event);
      if (counted !== undefined) rolloutEvents.inc({ policy, event: counted });
      const putBackFor = turnReasonKinds.find((kind) => kind === event.reasonKind);
      const isPutBack = event.event === 'upgrade.pending' || event.event === 'upgrade.retrying';
      if (isPutBack && putBackFor !== undefined) putBacks.inc({ policy, reason: putBackFor });
      const attemptClass = attemptClassOf(event);
      if (attemptClass !== undefined) attempts.inc({ policy, class: attemptClass });
      if (isDuration(seenDelayMs)) seenDelays.observe(seenDelayMs / 1_000);
      const outcome = endStates.find((state) => event.event === `upgrade.${state}`);
      if (outcome === undefined) return;
      outcomes.inc({ policy, outcome });
      if (isDuration(durationMs)) durations.observe({ policy }, durationMs / 1_000);
    },
  };
}

const attemptEnds: readonly EndState[] = ['succeeded', 'failed', 'timedOut', 'unconfirmed'];

/** The class of an event that ends an attempt: the event names a class, or an end that an attempt led to. */
function attemptClassOf(event: RolloutEvent): AttemptClass | undefined {
  if (!event.event.startsWith('upgrade.')) return undefined;
  const name = event.failureClass ?? attemptEnds.find((end) => event.event === `upgrade.${end}`);
  if (name === undefined) return undefined;
  return attemptClasses.find((known) => known === name) ?? 'other';
}
