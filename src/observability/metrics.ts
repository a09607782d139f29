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
  const registry = new Registry();
  const installation = parts.installation === undefined ? {} : { installation: parts.installation };
  registry.setDefaultLabels(installation);
  const series = makeSeries(registry);
  series
    .gauge('build_info', 'Always 1. The label has the version of this daemon.', ['version'])
    .set({ version: parts.version }, 1);
  const upgrades = makeUpgradeMetrics(series);
  const config = makeConfigMetrics(series, parts);
  collectDefaultMetrics({ register: registry });
  for (const name of misnamedDefaults) registry.removeSingleMetric(name);

  let policies: readonly string[] = [];
  const setPolicies = (present: readonly string[]): void => {
    for (const policy of policies) if (!present.includes(policy)) config.forget(policy);
    for (const policy of present) {
      if (policies.includes(policy)) continue;
      upgrades.begin(policy);
      config.setConfig(policy, 'newest');
    }
    policies = [...present];
  };
  setPolicies(parts.policies);

  const shared = makeSharedStateMetrics({
    installation,
    sharedState: parts.sharedState,
    withinMs: parts.sharedStateWithinMs ?? 3_000,
    ...(parts.onStateRead === undefined ? {} : { onStateRead: parts.onStateRead }),
  });
  return {
    ...upgrades,
    ...config,
    ...makeApiMetrics(series),
    ...makeStateMetrics(series, parts),
    setPolicies,
    expose: async () => {
      const sharedBody = await shared.expose();
      const body = await registry.metrics();
      return { contentType: registry.contentType, body: sharedBody === '' ? body : `${body}\n${sharedBody}` };
    },
  };
}

type Series = ReturnType<typeof makeSeries>;

function makeSeries(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name: `upwave_${name}`, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name: `upwave_${name}`, help, labelNames, registers }),
    /** A gauge that is asked at each scrape. */
    asked: (name: string, help: string, read: () => number) =>
      new Gauge({
        name: `upwave_${name}`,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name: `upwave_${name}`, help, labelNames, buckets, registers }),
  };
}

function makeUpgradeMetrics({ counter, histogram }: Series) {
  const outcomes = counter('upgrade_outcomes_total', 'Upgrades that ended, by outcome.', [
    'policy',
    'outcome',
  ]);
  const attempts = counter(
    'upgrade_attempts_total',
    'Attempts that ended, by the class of their failure or by their outcome.',
    ['policy', 'class'],
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
    /** Counters start at zero, so that a first failure shows as an increase. */
    begin: (policy: string): void => {
      for (const outcome of endStates) outcomes.inc({ policy, outcome }, 0);
      for (const attemptClass of attemptClasses) attempts.inc({ policy, class: attemptClass }, 0);
      for (const event of countedEvents) rolloutEvents.inc({ policy, event }, 0);
      durations.zero({ policy });
    },
    upgradeEnded: ({ policy, outcome, durationMs }) => {
      outcomes.inc({ policy, outcome });
      if (isDuration(durationMs)) durations.observe({ policy }, durationMs / 1_000);
    },
    taskEndSeen: (seenDelayMs) => {
      if (isDuration(seenDelayMs)) seenDelays.observe(seenDelayMs / 1_000);
    },
    attemptEnded: (attempt) => attempts.inc({ policy: attempt.policy, class: attempt.class }),
    rolloutEvent: ({ policy, event }) => rolloutEvents.inc({ policy, event }),
  } satisfies Partial<Metrics> & { begin: unknown };
}

function makeApiMetrics({ counter, gauge, histogram }: Series) {
  const requests = counter(
    'api_requests_total',
    'Requests to the Collector Management API, by operation and HTTP status. Status `none`: no answer.',
    ['operation', 'status'],
  );
  const durations = histogram(
    'api_request_duration_seconds',
    'Time from sending a request to the Collector Management API until its answer was complete.',
    apiDurationBuckets,
    ['operation'],
  );
  const budgetWaits = histogram(
    'api_budget_wait_seconds',
    'Time that requests waited for their place in the shared API budget, by class.',
    budgetWaitBuckets,
    ['class'],
  );
  const throttled = counter(
    'api_throttled_total',
    'Answers which paused all requests: 429, or 401 from the sign-in throttle.',
    ['reason'],
  );
  for (const reason of ['429', '401']) throttled.inc({ reason }, 0);
  const service = gauge('service_up', '1 while the Collector Management API answers, 0 during an outage.');
  service.set(1);
  return {
    apiAnswered: ({ operation, status, durationMs }) => {
      requests.inc({ operation, status: statusLabel(status) });
      if (isDuration(durationMs)) durations.observe({ operation }, durationMs / 1_000);
    },
    budgetTaken: (grant) => {
      if (isDuration(grant.waitedMs)) budgetWaits.observe({ class: grant.class }, grant.waitedMs / 1_000);
    },
    apiThrottled: (reason) => throttled.inc({ reason }),
    setService: (standing) => service.set(standing === 'up' ? 1 : 0),
  } satisfies Partial<Metrics>;
}

function makeConfigMetrics({ gauge, asked }: Series, { isConfigUnread }: MetricsParts) {
  const outdated = gauge(
    'config_outdated',
    '1 while another daemon has a newer config of the policy, else 0.',
    ['policy'],
  );
  const isGood = gauge(
    'config_last_reload_successful',
    '1 when the last reading of the config file succeeded, 0 when the file had mistakes.',
  );
  const goodAt = gauge(
    'config_last_reload_success_timestamp_seconds',
    'When the config file was last read without a mistake, in seconds since the epoch.',
  );
  asked('config_unread', '1 while the config file has changes that this daemon has not read, else 0.', () =>
    isConfigUnread?.() === true ? 1 : 0,
  );
  return {
    forget: (policy: string): void => outdated.remove({ policy }),
    setConfig: (policy, standing) => outdated.set({ policy }, standing === 'outdated' ? 1 : 0),
    configRead: (reading) => {
      isGood.set(reading.kind === 'good' ? 1 : 0);
      if (reading.kind === 'good') goodAt.set(reading.at / 1_000);
    },
  } satisfies Partial<Metrics> & { forget: unknown };
}

/** What this daemon knows of itself, of Redis and of the inventory. */
function makeStateMetrics({ counter, gauge, asked }: Series, { foreignRollouts }: MetricsParts) {
  const leader = gauge('leader', '1 while this daemon leads, else 0.');
  const redis = gauge('redis_up', '1 while this daemon reaches Redis, else 0.');
  const refusals = gauge(
    'redis_right_refused',
    '1 for each right that this daemon needs and Redis refuses. No series while Redis refuses none.',
    ['right'],
  );
  const dataLosses = counter('redis_emptied_total', 'Data losses of Redis that this daemon noticed.');
  const inventoryReadAt = gauge(
    'inventory_read_timestamp_seconds',
    'When this daemon last read the whole inventory, in seconds since the epoch. 0: not yet.',
  );
  asked(
    'foreign_rollouts',
    'Running rollouts that this daemon leaves alone because they belong to another account.',
    () => foreignRollouts?.() ?? 0,
  );
  return {
    setLeader: (state) => leader.set(state === 'leading' ? 1 : 0),
    setRedis: (standing) => redis.set(standing === 'up' ? 1 : 0),
    setRedisRefusals: (rights) => {
      refusals.reset();
      for (const right of rights) refusals.set({ right }, 1);
    },
    redisEmptied: () => dataLosses.inc(),
    inventoryRead: (at) => inventoryReadAt.set(at / 1_000),
  } satisfies Partial<Metrics>;
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
