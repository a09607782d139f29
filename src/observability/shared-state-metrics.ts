import { Registry } from 'prom-client';
import type { DurationMs } from '../base/time.ts';
import { inTime } from '../base/waiting.ts';
import { makeSeries } from './series.ts';
import { makeGauges, type SharedState } from './shared-state-gauges.ts';

/** Receives the error when a scrape could not read the state; null when it could. */
export type OnStateRead = (failure: unknown) => void;

/**
 * Makes the series of shared state, set again at each scrape. For each policy they show the active rollout, or the
 * latest one. Of an ended rollout they show only the state.
 * @returns a function that exposes them: nothing while another daemon leads. When the state cannot be read in time, it
 *   exposes `upwave_state_readable` alone
 */
export function makeSharedStateMetrics(parts: {
  /** Labels on every series. */
  readonly labels: Readonly<Record<string, string>>;
  readonly sharedState: () => Promise<SharedState | null>;
  readonly withinMs: DurationMs;
  /** Called when the result changes from the previous scrape. */
  readonly onStateRead: OnStateRead;
}): () => Promise<string> {
  const registry = new Registry();
  const ownRegistry = new Registry();
  for (const each of [registry, ownRegistry]) each.setDefaultLabels(parts.labels);
  const readable = makeSeries(ownRegistry).gauge(
    'state_readable',
    '1 when the last scrape of the leader could read the shared state. 0: the series of shared state are missing.',
  );
  const show = makeGauges(registry);
  let wasReadable = true;
  const report = (failure: unknown): void => {
    readable.set(failure === null ? 1 : 0);
    if ((failure === null) !== wasReadable) parts.onStateRead(failure);
    wasReadable = failure === null;
  };
  const scrape = async (): Promise<string> => {
    let state: SharedState | null;
    try {
      state = await inTime(parts.withinMs, parts.sharedState());
    } catch (failure) {
      report(failure);
      return ownRegistry.metrics();
    }
    if (state === null) return '';
    report(null);
    registry.resetMetrics();
    show(state);
    return `${await ownRegistry.metrics()}\n${await registry.metrics()}`;
  };
  // Two concurrent scrapes would mix their values in the same gauges, so the second one shares the result of the first.
  let running: Promise<string> | undefined;
  return () => {
    running ??= scrape().finally(() => {
      running = undefined;
    });
    return running;
  };
}
