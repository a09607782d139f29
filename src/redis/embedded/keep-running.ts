import { type Sleep, sleepForReal } from '../../base/waiting.ts';
import type { EmbeddedRedisLog, ServerProcess } from './server-process.ts';

// A server that stops more often has a cause that a start does not repair, such as a full disk.
const startsMax = 5;
const startsWithinMs = 300_000;
const pauseMs = 1_000;

/** Starts a server again that stopped unexpectedly. It gives up after several starts within minutes. */
export function keepRunning(
  first: ServerProcess,
  parts: {
    readonly name: string;
    readonly log: EmbeddedRedisLog;
    /** @throws when the server does not start */
    readonly startAgain: () => Promise<ServerProcess>;
    readonly sleep?: Sleep;
  },
): { readonly lost: Promise<string>; close(): Promise<void> } {
  const { name, log, startAgain, sleep = sleepForReal } = parts;
  const closing = new AbortController();
  let server = first;
  let starting: Promise<unknown> = Promise.resolve();
  let why = 'it stopped again after each start';
  let startedAt: readonly number[] = [];

  const start = async (): Promise<void> => {
    try {
      server = await startAgain();
      log(`${name} runs again`, 'info');
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
  };
  /** @returns why the server stays stopped; undefined after `close` */
  const watch = async (): Promise<string | undefined> => {
    for (let watched: ServerProcess | undefined; ; ) {
      if (watched !== server) {
        watched = server;
        await watched.exited;
        if (!closing.signal.aborted) log(`${name} has stopped unexpectedly; upwave starts it again`, 'error');
      }
      startedAt = startedAt.filter((at) => performance.now() - at < startsWithinMs);
      if (startedAt.length === startsMax) return why;
      if (startedAt.length > 0) await sleep(pauseMs, closing.signal);
      if (closing.signal.aborted) return undefined;
      startedAt = [...startedAt, performance.now()];
      starting = start();
      await starting;
    }
  };
  const lost = new Promise<string>((resolve) => {
    void watch().then((reason) => {
      if (reason === undefined) return;
      log(`${name} stays stopped: ${reason}`, 'error');
      resolve(reason);
    });
  });
  return {
    lost,
    close: async () => {
      closing.abort();
      await starting;
      await server.stop();
    },
  };
}
