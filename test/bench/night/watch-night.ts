import type { DurationMs } from '../../../src/base/time.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import { endStates } from '../../../src/rollout/model/upgrade.ts';
import type { DaemonProcess } from '../processes/daemon-process.ts';
import type { ProcessUsage } from '../processes/process-usage.ts';
import { type DaemonName, daemonNames } from './night-team.ts';

export const processNames = [...daemonNames, 'Redis 1', 'Redis 2', 'service'] as const;
export type ProcessName = (typeof processNames)[number];

/** What was seen at an instant, in seconds of the watch. */
export interface Sample {
  readonly at: number;
  readonly ended: number;
  /** Null while it is down. */
  readonly usages: Readonly<Record<ProcessName, ProcessUsage | null>>;
}

/** An answer of a daemon; `takenMs` is null where none came. */
export interface Read {
  readonly name: 'status' | 'overview' | 'collectors' | 'scrape';
  readonly at: number;
  readonly takenMs: DurationMs | null;
}

/** How late the event loop of a daemon was, at most, in 99 of 100 cases since its scrape before. */
export interface Lag {
  readonly daemon: DaemonName;
  readonly at: number;
  readonly p99Ms: DurationMs;
}

export interface Watched {
  readonly samples: readonly Sample[];
  readonly reads: readonly Read[];
  readonly lags: readonly Lag[];
}

const readEveryMs: DurationMs = 500;
// In reads, as are the next two.
const sampleEvery = 2;
const tellEvery = 120;

/** Each daemon is scraped as often as a Prometheus might do it. */
const scrapeEvery = 20;
const readNames = ['status', 'overview', 'collectors'] as const;
const pageSize = 50;

// The daemon measures each 50 ms how late that is (`observability/metrics.ts`), so 0.05 is not late.
const lagWhenIdleMs: DurationMs = 50;

/** Samples processes each second, and asks the daemons as operators and Prometheus do, however long an answer takes. */
export function startWatch(parts: {
  readonly daemons: ReadonlyMap<DaemonName, DaemonProcess>;
  readonly usages: () => Readonly<Record<Exclude<ProcessName, DaemonName>, ProcessUsage | null>>;
  readonly tell: (text: string) => void;
}) {
  const { daemons } = parts;
  const beganAt = performance.now();
  const seconds = () => (performance.now() - beganAt) / 1_000;
  const samples: Sample[] = [];
  const reads: Read[] = [];
  const lags: Lag[] = [];
  let statuses: readonly RolloutStatus[] = [];
  let isStopped = false;
  const ended = () =>
    statuses.reduce(
      (sum, { counts }) => sum + endStates.reduce((inOne, state) => inOne + (counts[state] ?? 0), 0),
      0,
    );

  const readFrom = async (daemon: DaemonName, { api, url }: DaemonProcess, name: Read['name']) => {
    const id = statuses[reads.length % Math.max(1, statuses.length)]?.id;
    if (name === 'overview' || id === undefined) statuses = await api.listRollouts();
    else if (name === 'status') await api.rolloutStatus(id);
    else if (name === 'collectors') await api.searchUpgrades(id, { limit: pageSize });
    if (name !== 'scrape') return;
    const at = seconds();
    const text = await (await fetch(`${url}/metrics`)).text();
    const lag = Number(/^nodejs_eventloop_lag_p99_seconds(?:\{.*\})? (\S+)$/m.exec(text)?.[1]);
    lags.push({ daemon, at, p99Ms: Math.max(0, lag * 1_000 - lagWhenIdleMs) });
  };
  const read = async (step: number): Promise<void> => {
    const daemon = daemonNames[step % 2] ?? daemonNames[0];
    const process = daemons.get(daemon);
    if (process === undefined) return;
    const at = seconds();
    const isScrape = step % scrapeEvery < daemonNames.length;
    const name = isScrape ? 'scrape' : (readNames[step % readNames.length] ?? 'status');
    const isAnswered = await readFrom(daemon, process, name).then(
      () => true,
      () => false,
    );
    reads.push({ name, at, takenMs: isAnswered ? (seconds() - at) * 1_000 : null });
  };
  const run = async (): Promise<void> => {
    const asked: Array<Promise<void>> = [];
    for (let step = 0; !isStopped; step += 1) {
      await sleepForReal(Math.max(0, step * readEveryMs - seconds() * 1_000));
      asked.push(read(step));
      if (step % sampleEvery === 0) {
        const usageOf = (name: DaemonName) => daemons.get(name)?.usage() ?? null;
        const usages = {
          'daemon 1': usageOf('daemon 1'),
          'daemon 2': usageOf('daemon 2'),
          ...parts.usages(),
        };
        samples.push({ at: seconds(), ended: ended(), usages });
      }
      if (step % tellEvery === 0) parts.tell(`${seconds().toFixed(0)} s: ${ended()} upgrades ended`);
    }
    await Promise.all(asked);
  };
  const running = run();
  return {
    watched: { samples, reads, lags } satisfies Watched,
    seconds,
    ended,
    statuses: () => statuses,
    isOver: (rollouts: number) =>
      statuses.length === rollouts && statuses.every(({ endedAt }) => endedAt !== null),
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}
