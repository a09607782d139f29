import { type AdminClient, makeAdminClient } from '../../src/admin-api/client/admin-client.ts';
import { openTroubledWay, type TroubledWay } from '../support/network/troubled-way.ts';
import { daemonUrl, startUpwave, type UpwaveProcess } from '../support/night/upwave-process.ts';

/** `upwave run` as a process, with a way to the service of its own. */
export interface ChaosDaemon {
  readonly name: string;
  readonly way: TroubledWay;
  readonly api: AdminClient;
  isLeading(): boolean;
  isAlive(): boolean;
  /** Lines of its log in which this text stands. */
  logged(text: string): readonly string[];
  log(): string;
  /** kill -9. It is gone when this returns. */
  kill(): Promise<void>;
  /** SIGTERM. @returns its exit code, when it is gone */
  stop(): Promise<number | null>;
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

// Whole scenarios, the longest of which waits for a sign-in throttle of more than a minute.
const killAfterMs = 170_000;

export async function startChaosDaemon(parts: {
  readonly name: string;
  readonly serviceUrl: () => string;
  /** @returns the path of its config file */
  readonly writeConfig: (baseUrl: string) => string;
}): Promise<ChaosDaemon> {
  const way = await openTroubledWay(parts.serviceUrl);
  const file = parts.writeConfig(`${way.url}/api`);
  const process = startUpwave({ args: ['run', '--config', file], killAfterMs });
  let alive = true;
  void process.ended.then(() => {
    alive = false;
  });
  const api = makeAdminClient({ baseUrl: await daemonUrl(process), token: undefined });
  const kill = async () => {
    process.kill('SIGKILL');
    await process.ended;
  };
  return {
    name: parts.name,
    way,
    api,
    isLeading: () => alive && isLeading(process),
    isAlive: () => alive,
    logged: (text) =>
      process
        .out()
        .split('\n')
        .filter((line) => line.includes(text)),
    log: () => process.out() + process.err(),
    kill,
    stop: async () => {
      process.kill('SIGTERM');
      return (await process.ended).code;
    },
    freeze: () => process.kill('SIGSTOP'),
    thaw: () => process.kill('SIGCONT'),
    close: async () => {
      await kill();
      await api.close();
      await way.close();
    },
  };
}

function isLeading(process: UpwaveProcess): boolean {
  const log = process.out();
  return log.lastIndexOf('leader.acquired') > log.lastIndexOf('leader.lost');
}
