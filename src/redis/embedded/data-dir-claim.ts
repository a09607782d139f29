import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { exchangeLine } from './inline-commands.ts';

// The server of a killed daemon ends within milliseconds.
const goneWithinMs = 2_000;
const checkEveryMs = 50;

/**
 * Waits until no server uses this data directory, because two servers would destroy the append-only file. A file there has
 * the last server's port; the check is whether a Redis still answers on it.
 * @throws when one does
 */
export async function waitForDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const last = Number(await readFile(portFile(dataDir), 'utf8').catch(() => ''));
  for (let waitedMs = 0; last > 0 && (await isRedisAt(last)); waitedMs += checkEveryMs) {
    if (waitedMs >= goneWithinMs) {
      throw new Error(
        `another upwave uses ${dataDir}: its Redis answers on port ${last}; stop the daemon first`,
      );
    }
    await wait(checkEveryMs);
  }
}

/** Records that the server on this port now uses the directory. */
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
