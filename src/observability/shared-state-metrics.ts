import { Gauge, Registry } from 'prom-client';
import type { DurationMs } from '../base/time.ts';
import { inTime } from '../base/waiting.ts';
import { makeGauges, type SharedState } from './shared-state-gauges.ts';

/** Why the state could not be read for a scrape; null: it was. */
export type OnStateRead = (failure: unknown) => void;

/**
 * The series of shared state, made again at each scrape. One rollout stands for its policy: the active one, else the
 * latest. An ended rollout shows its state alone.
 * @returns what exposes them: nothing while another daemon leads. When the state cannot be read in time,
 *   `upwave_state_readable` alone is there, and says so
 */
export function makeSharedStateMetrics(parts: {
  /** Labels on every series. */
  readonly labels: Readonly<Record<string, string>>;
  readonly sharedState: () => Promise<SharedState | null>;
  readonly withinMs: DurationMs;
  /** Called at the first scrape with another result than the one before. */
  readonly onStateRead?: OnStateRead;
}): () => Promise<string> {
  const registry = new Registry();
  const ownRegistry = new Registry();
  for (const each of [registry, ownRegistry]) each.setDefaultLabels(parts.labels);
  const readable = new Gauge({
    name: 'upwave_state_readable',
    help: '1 when the last scrape of the leader could read the shared state. 0: the series of shared state are missing.',
    registers: [ownRegistry],
  });
  const show = makeGauges(registry);
  let wasReadable = true;
  const report = (failure: unknown): void => {
    readable.set(failure === null ? 1 : 0);
    if ((failure === null) !== wasReadable) parts.onStateRead?.(failure);
    wasReadable = failure === null;
  };
  const scrape = async (): Promise<string> => {
    const read = await readWithin(parts.sharedState, parts.withinMs);
    if (!read.ok) {
      report(read.failure);
      return ownRegistry.metrics();
    }
    // Another daemon leads, and reads it.
    if (read.state === null) return '';
    report(null);
    registry.resetMetrics();
    show(read.state);
    return `${await ownRegistry.metrics()}\n${await registry.metrics()}`;
  };
  // Two concurrent scrapes would mix their values in the same gauges, so the second one shares the first one's answer.
  let running: Promise<string> | undefined;
  return () => {
    running ??= scrape().finally(() => {
      running = undefined;
    });
    return running;
  };
}

type Reading =
  | { readonly ok: true; readonly state: SharedState | null }
  | { readonly ok: false; readonly failure: unknown };

/** A scrape answers in time, even if Redis does not. */
async function readWithin(
  sharedState: () => Promise<SharedState | null>,
  withinMs: DurationMs,
): Promise<Reading> {
  try {
    return { ok: true, state: await inTime(withinMs, sharedState()) };
  } catch (failure) {
    return { ok: false, failure };
  }
}
