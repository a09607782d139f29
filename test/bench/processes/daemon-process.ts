import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type AdminClient, makeAdminClient } from '../../../src/admin-api/client/admin-client.ts';
import type { LogFields } from '../../../src/observability/logger.ts';
import { type ProcessUsage, readUsage } from './process-usage.ts';

const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** A line of a daemon's log. */
export interface LogLine extends LogFields {
  /** ISO 8601, in milliseconds. */
  readonly time: string;
}

/** `upwave run` as a user starts it. */
export interface DaemonProcess {
  readonly url: string;
  readonly api: AdminClient;
  /** It reads the new file at a reload. */
  writeConfig(config: object): void;
  isLeading(): boolean;
  /** What it has used so far; its memory is that of the whole process. */
  usage(): ProcessUsage;
  /** Fails when the process ends before `stop` was called. */
  readonly failed: Promise<never>;
  /** It is gone when this returns. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts `dist/main.js run` and waits until it listens. @param onLine gets each line of its log */
export async function startDaemon(
  config: object,
  onLine: (line: LogLine) => void = () => undefined,
): Promise<DaemonProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'upwave-bench-'));
  const file = join(folder, 'upwave.yaml');
  // JSON is YAML, too.
  const writeConfig = (data: object) => writeFileSync(file, JSON.stringify(data));
  writeConfig(config);
  const child = spawn(process.execPath, [main, 'run', '--config', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Whatever ends us must leave no daemon behind.
  const endWithUs = () => void child.kill('SIGKILL');
  process.on('exit', endWithUs);
  const exited = once(child, 'exit');
  let isStopping = false;
  let isLeading = false;
  const failed = exited.then(([code]): Promise<never> => {
    process.off('exit', endWithUs);
    rmSync(folder, { recursive: true, force: true });
    if (isStopping) return new Promise(() => undefined);
    throw new Error(`a daemon ended with ${code} before it was stopped`);
  });
  // `failed` reports the end to callers that wait for something else.
  failed.catch(() => undefined);
  const listening = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as LogLine;
      if (line.event === 'leader.acquired') isLeading = true;
      if (line.event === 'leader.lost') isLeading = false;
      const url = /listening on (http:\/\/[^,\s]+)/.exec(line.reason ?? '')?.[1];
      if (url !== undefined) resolve(url);
      onLine(line);
    });
  });
  const url = await Promise.race([listening, failed]);
  const api = makeAdminClient({ baseUrl: url, token: undefined });
  const { pid } = child;
  return {
    url,
    api,
    writeConfig,
    failed,
    isLeading: () => isLeading && child.exitCode === null && child.signalCode === null,
    usage: () => readUsage(pid ?? 0),
    stop: async (signal) => {
      isStopping = true;
      child.kill(signal);
      await exited;
      await api.close();
    },
  };
}
