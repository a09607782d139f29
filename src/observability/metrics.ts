import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DurationMs, EpochMs } from '../base/time.ts';
import type { BudgetClass } from '../orchestrator/ports/api-budget.ts';
import type { RolloutEventName } from '../rollout/model/events.ts';
import { type EndState, endStates } from '../rollout/model/upgrade.ts';
import { makeSharedStateMetrics, type OnStateRead, type SharedState } from './shared-state-metrics.ts';

/** How one upgrade task of ours went: the class that led to what came next, or the end it reached. */
export const attemptClasses = [
  'succeeded',
  'retry',
  'again',
  'defer',
  'adopt',
  'look',
  'permanent',
  'hold',
  'failed',
  'timedOut',
  'unconfirmed',
  'other',
] as const;
export type AttemptClass = (typeof attemptClasses)[number];

/** Events that are counted by name: few, and worth a mark in a graph. */
export const countedEvents = [
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
export type CountedEvent = (typeof countedEvents)[number];

/** What this daemon counts, and how it is shown. Nothing here throws. */
export interface Metrics {
  upgradeEnded(end: {
    readonly policy: string;
    readonly outcome: EndState;
    readonly durationMs?: DurationMs;
  }): void;
  /** The end of a task became known, so long after it was last seen on its way. */
  taskEndSeen(seenDelayMs: DurationMs): void;
  attemptEnded(attempt: { readonly policy: string; readonly class: AttemptClass }): void;
  /** `status`: the HTTP status, null when no answer came. */
  apiAnswered(call: {
    readonly operation: string;
    readonly status: number | null;
    readonly durationMs: DurationMs;
  }): void;
  budgetTaken(grant: { readonly class: BudgetClass; readonly waitedMs: DurationMs }): void;
  apiThrottled(reason: '429' | '401'): void;
  setLeader(state: 'leading' | 'following'): void;
  /** `down`: request after request brought no usable answer, and one at a time tries. */
  setService(standing: 'up' | 'down'): void;
  /** `down` until it was reached for the first time. */
  setRedis(standing: 'up' | 'down'): void;
  redisEmptied(): void;
  /** `outdated`: another daemon has a newer config of the policy. */
  setConfig(policy: string, standing: 'newest' | 'outdated'): void;
  /** Policies of the present config: those that are new begin at zero. */
  setPolicies(policies: readonly string[]): void;
  /** How the last reading of the config file went. */
  configRead(reading: { readonly kind: 'good'; readonly at: EpochMs } | { readonly kind: 'bad' }): void;
  /** Something happened in a rollout as a whole: a wave, a verb, a hold. */
  rolloutEvent(event: { readonly policy: string; readonly event: CountedEvent }): void;
  /** This daemon has read the whole inventory. */
  inventoryRead(at: EpochMs): void;
  /** What Redis refuses to our user, as `ACL SETUSER` takes it; replaces what was said before. */
  setRedisRefusals(rights: readonly string[]): void;
  /** The exposition in Prometheus's text format. Waits for the shared state a bounded time, then leaves it out, and says so. */
  expose(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export interface MetricsParts {
  /** Of this program. */
  readonly version: string;
  /** A label on every series, so that one Prometheus can tell several installations apart; undefined: no such label. */
  readonly installation?: string | undefined;
  /** Names of the configured policies: their counters start at zero, so that a first failure shows as an increase. */
  readonly policies: readonly string[];
  /** How many rollouts this daemon leaves alone; called at each scrape. */
  readonly foreignRollouts?: () => number;
  /** Whether the config file was changed since this daemon last read it; called at each scrape. */
  readonly isConfigUnread?: () => boolean;
  /** What only the leader tells; null while another daemon leads. Called at each scrape. */
  readonly sharedState: () => Promise<SharedState | null>;
  /** How long a scrape waits for the shared state; Prometheus itself gives up after 10 s unless told otherwise. */
  readonly sharedStateWithinMs?: DurationMs;
  /** Told when a scrape could not read it, and when one can again. */
  readonly onStateRead?: OnStateRead;
}

const minutes = 60;
/** Most upgrades take 3 to 10 minutes; the default deadline is 35 minutes, and retries add to it. */
const upgradeDurationBuckets = [1, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 40, 60].map((count) => count * minutes);
/** From a lucky poll to the longest wait between two polls. */
const seenDelayBuckets = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const apiDurationBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** At 4 requests a second one place is a quarter of a second; a pause lasts up to a minute. */
const budgetWaitBuckets = [0.01, 0.05, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Gauges that call themselves totals: a name that promises a counter (`promtool check metrics`). */
const misnamedDefaults = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Makes the metrics of this daemon (DESIGN §5, Metrics). No label holds a collector or a rollout id. */
export function makeMetrics(parts: MetricsParts): Metrics {
  const own = new Registry();
  const installation = parts.installation === undefined ? {} : { installation: parts.installation };
  own.setDefaultLabels(installation);
  const registers = [own];
  new Gauge({
    name: 'upwave_build_info',
    help: 'Always 1. The label has the version of this daemon.',
    labelNames: ['version'],
    registers,
  }).set({ version: parts.version }, 1);
  const outcomes = new Counter({
    name: 'upwave_upgrade_outcomes_total',
    help: 'Upgrades that ended, by outcome.',
    labelNames: ['policy', 'outcome'],
    registers,
  });
  const attempts = new Counter({
    name: 'upwave_upgrade_attempts_total',
    help: 'Attempts that ended, by the class of their failure or by their outcome.',
    labelNames: ['policy', 'class'],
    registers,
  });
  const durations = new Histogram({
    name: 'upwave_upgrade_duration_seconds',
    help: 'Time from the first upgrade task of a collector until its upgrade ended, whatever the outcome.',
    labelNames: ['policy'],
    buckets: upgradeDurationBuckets,
    registers,
  });
  const seenDelays = new Histogram({
    name: 'upwave_outcome_seen_delay_seconds',
    help: 'Time from the end of an upgrade task at the service until a poll showed it, at most: since the poll before.',
    buckets: seenDelayBuckets,
    registers,
  });
  const apiRequests = new Counter({
    name: 'upwave_api_requests_total',
    help: 'Requests to the Collector Management API, by operation and HTTP status. Status `none`: no answer.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const apiDurations = new Histogram({
    name: 'upwave_api_request_duration_seconds',
    help: 'Time from sending a request to the Collector Management API until its answer was complete.',
    labelNames: ['operation'],
    buckets: apiDurationBuckets,
    registers,
  });
  const budgetWaits = new Histogram({
    name: 'upwave_api_budget_wait_seconds',
    help: 'Time that requests waited for their place in the shared API budget, by class.',
    labelNames: ['class'],
    buckets: budgetWaitBuckets,
    registers,
  });
  const throttled = new Counter({
    name: 'upwave_api_throttled_total',
    help: 'Answers which paused all requests: 429, or 401 from the sign-in throttle.',
    labelNames: ['reason'],
    registers,
  });
  const redis = new Gauge({
    name: 'upwave_redis_up',
    help: '1 while this daemon reaches Redis, else 0.',
    registers,
  });
  const refusals = new Gauge({
    name: 'upwave_redis_right_refused',
    help: '1 for each right that this daemon needs and Redis refuses. No series while Redis refuses none.',
    labelNames: ['right'],
    registers,
  });
  const emptied = new Counter({
    name: 'upwave_redis_emptied_total',
    help: 'Data losses of Redis that this daemon noticed.',
    registers,
  });
  const outdated = new Gauge({
    name: 'upwave_config_outdated',
    help: '1 while another daemon has a newer config of the policy, else 0.',
    labelNames: ['policy'],
    registers,
  });
  const configGood = new Gauge({
    name: 'upwave_config_last_reload_successful',
    help: '1 when the last reading of the config file succeeded, 0 when the file had mistakes.',
    registers,
  });
  const configGoodAt = new Gauge({
    name: 'upwave_config_last_reload_success_timestamp_seconds',
    help: 'When the config file was last read without a mistake, in seconds since the epoch.',
    registers,
  });
  new Gauge({
    name: 'upwave_config_unread',
    help: '1 while the config file has changes that this daemon has not read, else 0.',
    registers,
    collect() {
      this.set(parts.isConfigUnread?.() === true ? 1 : 0);
    },
  });
  const rolloutEvents = new Counter({
    name: 'upwave_rollout_events_total',
    help: 'Events of rollouts, waves, gates and strata that this daemon caused, by name.',
    labelNames: ['policy', 'event'],
    registers,
  });
  const inventoryReadAt = new Gauge({
    name: 'upwave_inventory_read_timestamp_seconds',
    help: 'When this daemon last read the whole inventory, in seconds since the epoch. 0: not yet.',
    registers,
  });
  new Gauge({
    name: 'upwave_foreign_rollouts',
    help: 'Running rollouts that this daemon leaves alone because they belong to another account.',
    registers,
    collect() {
      this.set(parts.foreignRollouts?.() ?? 0);
    },
  });
  const leader = new Gauge({
    name: 'upwave_leader',
    help: '1 while this daemon leads, else 0.',
    registers,
  });
  const service = new Gauge({
    name: 'upwave_service_up',
    help: '1 while the Collector Management API answers, 0 during an outage.',
    registers,
  });
  service.set(1);
  collectDefaultMetrics({ register: own });
  for (const name of misnamedDefaults) own.removeSingleMetric(name);

  let policies: readonly string[] = [];
  const setPolicies = (present: readonly string[]): void => {
    for (const policy of policies) if (!present.includes(policy)) outdated.remove({ policy });
    for (const policy of present) {
      if (policies.includes(policy)) continue;
      for (const outcome of endStates) outcomes.inc({ policy, outcome }, 0);
      for (const attemptClass of attemptClasses) attempts.inc({ policy, class: attemptClass }, 0);
      for (const event of countedEvents) rolloutEvents.inc({ policy, event }, 0);
      durations.zero({ policy });
      outdated.set({ policy }, 0);
    }
    policies = [...present];
  };
  setPolicies(parts.policies);
  for (const reason of ['429', '401']) throttled.inc({ reason }, 0);

  const shared = makeSharedStateMetrics({
    installation,
    sharedState: parts.sharedState,
    withinMs: parts.sharedStateWithinMs ?? 3_000,
    ...(parts.onStateRead === undefined ? {} : { onStateRead: parts.onStateRead }),
  });
  return {
    upgradeEnded: ({ policy, outcome, durationMs }) => {
      outcomes.inc({ policy, outcome });
      if (isDuration(durationMs)) durations.observe({ policy }, durationMs / 1_000);
    },
    taskEndSeen: (seenDelayMs) => {
      if (isDuration(seenDelayMs)) seenDelays.observe(seenDelayMs / 1_000);
    },
    attemptEnded: (attempt) => attempts.inc({ policy: attempt.policy, class: attempt.class }),
    apiAnswered: ({ operation, status, durationMs }) => {
      apiRequests.inc({ operation, status: statusLabel(status) });
      if (isDuration(durationMs)) apiDurations.observe({ operation }, durationMs / 1_000);
    },
    budgetTaken: (grant) => {
      if (isDuration(grant.waitedMs)) budgetWaits.observe({ class: grant.class }, grant.waitedMs / 1_000);
    },
    apiThrottled: (reason) => throttled.inc({ reason }),
    setLeader: (state) => leader.set(state === 'leading' ? 1 : 0),
    setService: (standing) => service.set(standing === 'up' ? 1 : 0),
    setRedis: (standing) => redis.set(standing === 'up' ? 1 : 0),
    redisEmptied: () => emptied.inc(),
    setConfig: (policy, standing) => outdated.set({ policy }, standing === 'outdated' ? 1 : 0),
    setPolicies,
    configRead: (reading) => {
      configGood.set(reading.kind === 'good' ? 1 : 0);
      if (reading.kind === 'good') configGoodAt.set(reading.at / 1_000);
    },
    rolloutEvent: ({ policy, event }) => rolloutEvents.inc({ policy, event }),
    inventoryRead: (at) => inventoryReadAt.set(at / 1_000),
    setRedisRefusals: (rights) => {
      refusals.reset();
      for (const right of rights) refusals.set({ right }, 1);
    },
    expose: async () => {
      const sharedBody = await shared.expose();
      const body = await own.metrics();
      return { contentType: own.contentType, body: sharedBody === '' ? body : `${body}\n${sharedBody}` };
    },
  };
}

/** Clocks of two machines may disagree: a negative time is no observation. */
function isDuration(durationMs: DurationMs | undefined): durationMs is DurationMs {
  return durationMs !== undefined && Number.isFinite(durationMs) && durationMs >= 0;
}

/** The service may send any number (P13); a label may not have any value. */
function statusLabel(status: number | null): string {
  return status !== null && Number.isInteger(status) && status >= 100 && status <= 599
    ? String(status)
    : 'none';
}
