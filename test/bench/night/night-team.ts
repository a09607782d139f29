import type { DurationMs } from '../../../src/base/time.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import type { ConfigData } from '../bench-config.ts';
import { type DaemonProcess, type LogLine, startDaemon } from '../processes/daemon-process.ts';
import { startRollout } from '../processes/start-rollout.ts';

export const daemonNames = ['daemon 1', 'daemon 2'] as const;
export type DaemonName = (typeof daemonNames)[number];

type Start = (config: ConfigData, onLine: (line: LogLine) => void) => Promise<DaemonProcess>;

/** Two daemons with one config. */
export interface NightTeam {
  /** Those that are up. */
  readonly daemons: ReadonlyMap<DaemonName, DaemonProcess>;
  /** Log lines about holds, such as `rollout.held`. */
  readonly holds: readonly string[];
  /** Fails when a daemon ends by itself. */
  readonly failed: Promise<never>;
  startAll(): Promise<void>;
  /** Kills the daemon that leads the most accounts with SIGKILL, and starts it again after this time. */
  killLeader(startAgainAfterMs: DurationMs): Promise<void>;
}

/** @param speed how many times as fast as ours the service's clock runs */
export function makeNightTeam(config: ConfigData, speed: number): NightTeam {
  const daemons = new Map<DaemonName, DaemonProcess>();
  const led = new Map(daemonNames.map((name) => [name, new Set<string>()]));
  const holds: string[] = [];
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const onLineOf =
    (name: DaemonName) =>
    ({ event, account = '', rollout = account, reason = '' }: LogLine) => {
      if (event === 'leader.acquired') led.get(name)?.add(account);
      if (event === 'leader.lost') led.get(name)?.delete(account);
      if (event.endsWith('.held')) holds.push(`${rollout}: ${event}, ${reason}`);
    };
  const startWith = async (name: DaemonName, start: Start): Promise<void> => {
    led.get(name)?.clear();
    const daemon = await start(config, onLineOf(name));
    daemon.failed.catch(fail);
    daemons.set(name, daemon);
  };
  return {
    daemons,
    holds,
    failed,
    startAll: async () => {
      const start: Start = (of, onLine) => startRollout(of, onLine, { speed });
      await Promise.all(daemonNames.map((name) => startWith(name, start)));
    },
    killLeader: async (startAgainAfterMs) => {
      const ledBy = (name: DaemonName) => led.get(name)?.size ?? 0;
      const leader = daemonNames.reduce((most, name) => (ledBy(name) > ledBy(most) ? name : most));
      const daemon = daemons.get(leader);
      daemons.delete(leader);
      await daemon?.stop('SIGKILL');
      await sleepForReal(startAgainAfterMs);
      await startWith(leader, startDaemon);
    },
  };
}
