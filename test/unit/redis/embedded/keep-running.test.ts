import { expect, it } from 'vitest';
import { keepRunning } from '../../../../src/redis/embedded/keep-running.ts';
import type { ServerProcess } from '../../../../src/redis/embedded/server-process.ts';

const deadServer: ServerProcess = { port: 1, exited: Promise.resolve(), stop: async () => undefined };

async function keepDead(startAgain: () => Promise<ServerProcess>) {
  const log: string[] = [];
  let starts = 0;
  const kept = keepRunning(deadServer, {
    name: 'redis-server',
    log: (text, level) => log.push(`${level} ${text}`),
    startAgain: () => {
      starts += 1;
      return startAgain();
    },
    sleep: async () => undefined,
  });
  return { reason: await kept.lost, starts, log };
}

it('gives up on a server that cannot be started, with the reason', async () => {
  const { reason, starts, log } = await keepDead(() => Promise.reject(new Error('no space left')));
  expect({ reason, starts }).toEqual({ reason: 'no space left', starts: 5 });
  expect(log).toEqual([
    'error redis-server has stopped unexpectedly; upwave starts it again',
    'error redis-server stays stopped: no space left',
  ]);
});

it('gives up on a server that stops after every start', async () => {
  const { reason, starts, log } = await keepDead(async () => ({ ...deadServer }));
  expect({ reason, starts }).toEqual({ reason: 'it stopped again after each start', starts: 5 });
  expect(log.filter((line) => line.startsWith('error'))).toHaveLength(7);
});

it('does not start a server that was closed', async () => {
  let end = () => {};
  const exited = new Promise<void>((resolve) => {
    end = resolve;
  });
  let starts = 0;
  const kept = keepRunning(
    { port: 1, exited, stop: async () => end() },
    {
      name: 'redis-server',
      log: () => undefined,
      startAgain: async () => {
        starts += 1;
        return deadServer;
      },
    },
  );
  await kept.close();
  await exited;
  expect(starts).toBe(0);
});
