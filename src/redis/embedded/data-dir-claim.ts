import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { exchangeLine } from './inline-commands.ts';

// A server whose daemon was killed goes within milliseconds.
const goneWithinMs = 2_000;
const checkEveryMs = 50;

/**
 * Waits until no server uses this data directory: two on one append-only file would destroy it. The last server's port
 * is in a file there; what counts is whether a Redis still answers on it.
 * @throws when one does
 */
export async function waitForDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const last = Number(await readFile(portFile(dataDir), 'utf8').catch(() => ''));
  for (let waitedMs = 0; last > 0 && (await isRedisAt(last)); waitedMs += checkEveryMs) {
    if (waitedMs >= goneWithinMs) {
      throw new Error(`another upwave uses ${dataDir}: its Redis answers on port ${last}`);
    }
    await wait(checkEveryMs);
  }
}

/** Notes that the server on this port uses the directory now. */
export async function claimDataDir(dataDir: string, port: number): Promise<void> {
  await writeFile(portFile(dataDir), `${port}\n`, { mode: 0o600 });
}

function portFile(dataDir: string): string {
  return join(dataDir, 'embedded-redis.port');
}

async function isRedisAt(port: number): Promise<boolean> {
  const line = await exchangeLine(port, 'PING', 500);
  return line?.startsWith('-NOAUTH') === true || line === '+PONG';
}
