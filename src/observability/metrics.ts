import { collectDefaultMetrics, Registry } from 'prom-client';
import type { DurationMs } from '../base/time.ts';
import type { DaemonNote } from '../orchestrator/ports/event-sink.ts';
import { makeApiMetrics, makeConfigMetrics, makeStateMetrics } from './daemon-metrics.ts';
import { makeSeries } from './series.ts';
import type { SharedState } from './shared-state-gauges.ts';
import { makeSharedStateMetrics, type OnStateRead } from './shared-state-metrics.ts';
import { makeUpgradeMetrics } from './upgrade-metrics.ts';

/** The metrics of this daemon. */
export type Metrics = ReturnType<typeof makeMetrics>;

export interface MetricsParts {
  /** The version of this program. */
  readonly version: string;
  /** Where people reach this daemon; undefined: the metrics do not show it. */
  readonly publicUrl?: string | undefined;
  /** A label on every series, so that one Prometheus can distinguish several installations; undefined: no such label. */
  readonly installation: string | undefined;
  /** A label on the series of one of several accounts; undefined: no such label. */
  readonly account: string | undefined;
  /** False: leaves out the series of the process, because another account exposes them. */
  readonly showsProcess: boolean;
  /** Names of the configured policies. Their counters start at zero, so that a first failure shows as an increase. */
  readonly policies: readonly string[];
  /** How many rollouts this daemon leaves alone. Called at each scrape. */
  readonly foreignRollouts: () => number;
  /** Whether the config file changed since this daemon last read it. Called at each scrape. */
  readonly isConfigUnread: () => boolean;
  /** Shared state, which only the leader exposes; null while another daemon leads. Called at each scrape. */
  readonly sharedState: () => Promise<SharedState | null>;
  /** How long a scrape waits for the shared state. Prometheus itself gives up after 10 s by default. */
  readonly sharedStateWithinMs?: DurationMs;
  /** Called when a scrape cannot read the shared state, and when a later one can. */
  readonly onStateRead: OnStateRead;
}

// The default of 10 ms would cause half of an idle daemon's work. Only longer lags matter.
const lagEveryMs: DurationMs = 50;

/** Gauges whose names end in `_total`, which is reserved for counters (`promtool check metrics`). */
const misnamedDefaults = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Makes the metrics of this daemon (DESIGN §5, Metrics). No label holds a collector or a rollout id. */
export function makeMetrics(parts: MetricsParts) {
  const registry = new Registry();
  const labels = {
    ...(parts.installation !== undefined && { installation: parts.installation }),
    ...(parts.account !== undefined && { account: parts.account }),
  };
  registry.setDefaultLabels(labels);
  const series = makeSeries(registry);
  if (parts.showsProcess) showProcess(registry, series, parts);
  const { startAtZero, countEvent } = makeUpgradeMetrics(series);
  const { begin, forget, configRead, ...config } = makeConfigMetrics(series, parts);
  const { apiAnswered, budgetTaken, serviceJudged, ...api } = makeApiMetrics(series);
  const { inventoryRead, ...state } = makeStateMetrics(series, parts);

  let policies: readonly string[] = [];
  const setPolicies = (present: readonly string[]): void => {
    for (const policy of policies) if (!present.includes(policy)) forget(policy);
    for (const policy of present) {
      if (policies.includes(policy)) continue;
      startAtZero(policy);
      begin(policy);
    }
    policies = [...present];
  };
  setPolicies(parts.policies);

  const exposeShared = makeSharedStateMetrics({
    labels,
    sharedState: parts.sharedState,
    withinMs: parts.sharedStateWithinMs ?? 3_000,
    onStateRead: parts.onStateRead,
  });
  return {
    ...{ countEvent, configRead, apiAnswered, budgetTaken, serviceJudged, inventoryRead },
    countNote: (note: DaemonNote): void => {
      for (const counter of [api, config, state]) counter.countNote(note);
    },
    /** Sets the configured policies. Counters of new ones start at zero. */
    setPolicies,
    /** The exposition in Prometheus's text format. It waits for the shared state for a limited time, then leaves it out. */
    expose: async (): Promise<{ readonly contentType: string; readonly body: string }> => {
      const sharedBody = await exposeShared();
      const body = await registry.metrics();
      return { contentType: registry.contentType, body: sharedBody === '' ? body : `${body}\n${sharedBody}` };
    },
  };
}

function showProcess(
  registry: Registry,
  series: ReturnType<typeof makeSeries>,
  { version, publicUrl }: MetricsParts,
): void {
  series
    .gauge('build_info', 'Always 1. The label has the version of this daemon.', ['version'])
    .set({ version }, 1);
  const help =
    'Always 1. The label has `http.publicUrl`, below which `/docs/` has the guides. Absent without it.';
  if (publicUrl !== undefined) series.gauge('docs_info', help, ['url']).set({ url: publicUrl }, 1);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagEveryMs });
  for (const name of misnamedDefaults) registry.removeSingleMetric(name);
}
