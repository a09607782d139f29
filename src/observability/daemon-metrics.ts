import type { DurationMs, EpochMs } from '../base/time.ts';
import type { BudgetClass } from '../orchestrator/ports/api-budget.ts';
import type { DaemonNote } from '../orchestrator/ports/event-sink.ts';
import { isDuration, type Series } from './series.ts';

const apiDurationBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** At 4 requests a second requests are a quarter of a second apart. A pause lasts up to a minute. */
const budgetWaitBuckets = [0.01, 0.05, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Makes the series of requests to the service. */
export function makeApiMetrics({ counter, gauge, histogram }: Series) {
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
  const service = gauge(
    'service_up',
    '1 while the Collector Management API answers, 0 during an outage or while it refuses the access key.',
  );
  service.set(1);
  return {
    /** `status`: the HTTP status, null when no answer came. */
    apiAnswered: ({
      operation,
      status,
      durationMs,
    }: {
      readonly operation: string;
      readonly status: number | null;
      readonly durationMs: DurationMs;
    }): void => {
      requests.inc({ operation, status: statusLabel(status) });
      if (isDuration(durationMs)) durations.observe({ operation }, durationMs / 1_000);
    },
    budgetTaken: (grant: { readonly class: BudgetClass; readonly waitedMs: DurationMs }): void => {
      if (isDuration(grant.waitedMs)) budgetWaits.observe({ class: grant.class }, grant.waitedMs / 1_000);
    },
    /** Whether the service lets this daemon work, as `/readyz` shows it. */
    serviceJudged: ({ ok }: { readonly ok: boolean }): void => service.set(ok ? 1 : 0),
    countNote: (note: DaemonNote): void => {
      if (note.event === 'service.throttled') throttled.inc({ reason: note.reason });
    },
  };
}

/** Makes the series of the config file. */
export function makeConfigMetrics(
  { gauge, computedGauge }: Series,
  { isConfigUnread }: { readonly isConfigUnread: () => boolean },
) {
  const outdated = gauge(
    'config_outdated',
    '1 while another daemon has a newer config of the policy, else 0.',
    ['policy'],
  );
  const isGood = gauge(
    'config_last_reload_successful',
    '1 when the last reading of the config file succeeded, 0 when the file had errors.',
  );
  const goodAt = gauge(
    'config_last_reload_success_timestamp_seconds',
    'When the config file was last read without an error, in seconds since the epoch.',
  );
  computedGauge(
    'config_unread',
    '1 while the config file has changes that this daemon has not read, else 0.',
    () => (isConfigUnread() ? 1 : 0),
  );
  const configRead = (at: EpochMs): void => {
    isGood.set(1);
    goodAt.set(at / 1_000);
  };
  return {
    /** Shows a policy as not outdated, until a note says that it is. */
    begin: (policy: string): void => outdated.set({ policy }, 0),
    /** Removes the series of a policy that is no longer in the config. */
    forget: (policy: string): void => outdated.remove({ policy }),
    /** The config file was read without a mistake. */
    configRead,
    countNote: (note: DaemonNote): void => {
      if (note.event === 'config.outdated') outdated.set({ policy: note.policy }, 1);
      if (note.event === 'config.differs' || note.event === 'config.agreed')
        outdated.set({ policy: note.policy }, 0);
      if (note.event === 'config.reloaded') configRead(note.at);
      if (note.event === 'config.refused') isGood.set(0);
    },
  };
}

/** Makes the series of this daemon's own state, of Redis and of the inventory. */
export function makeStateMetrics(
  { counter, gauge, computedGauge }: Series,
  { foreignRollouts }: { readonly foreignRollouts: () => number },
) {
  const leader = gauge('leader', '1 while this daemon leads, else 0.');
  const redis = gauge('redis_up', '1 while this daemon reaches Redis, else 0.');
  const clockWrong = gauge(
    'clock_wrong',
    "1 while this daemon does nothing because its clock and Redis's differ by more than 10 seconds, else 0.",
  );
  clockWrong.set(0);
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
  const notifications = counter(
    'notifications_total',
    'Attempts to send a notification, by result. `failed` is retried, `dropped` is lost.',
    ['result'],
  );
  for (const result of ['sent', 'failed', 'dropped']) notifications.inc({ result }, 0);
  const reports = counter(
    'reports_total',
    'Attempts to write the report of an ended rollout, by result. `failed` is retried.',
    ['result'],
  );
  for (const result of ['written', 'failed']) reports.inc({ result }, 0);
  computedGauge(
    'foreign_rollouts',
    'Running rollouts that this daemon leaves alone because they belong to another account.',
    foreignRollouts,
  );
  const setRefusals = (rights: readonly string[]): void => {
    refusals.reset();
    for (const right of rights) refusals.set({ right }, 1);
  };
  return {
    countNote: (note: DaemonNote): void => {
      if (note.event === 'leader.acquired') leader.set(1);
      if (note.event === 'leader.lost') leader.set(0);
      if (note.event === 'redis.reachable') redis.set(1);
      if (note.event === 'redis.unreachable') redis.set(0);
      if (note.event === 'clock.wrong') clockWrong.set(1);
      if (note.event === 'clock.right') clockWrong.set(0);
      if (note.event === 'redis.emptied') dataLosses.inc();
      if (note.event === 'redis.forbidden') setRefusals(note.rights);
      if (note.event === 'redis.allowed') setRefusals([]);
      if (note.event === 'notification.sent') notifications.inc({ result: 'sent' });
      if (note.event === 'notification.failed') notifications.inc({ result: 'failed' });
      if (note.event === 'notification.dropped') notifications.inc({ result: 'dropped' });
      if (note.event === 'notification.pushedOut') notifications.inc({ result: 'dropped' }, note.messages);
      if (note.event === 'report.written') reports.inc({ result: 'written' });
      if (note.event === 'report.failed') reports.inc({ result: 'failed' });
    },
    /** This daemon has read the whole inventory. */
    inventoryRead: (at: EpochMs): void => inventoryReadAt.set(at / 1_000),
  };
}

/** The service may send any number (P13). A label has a bounded set of values. */
function statusLabel(status: number | null): string {
  return status !== null && Number.isInteger(status) && status >= 100 && status <= 599
    ? String(status)
    : 'none';
}
