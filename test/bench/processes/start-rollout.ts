import { AdminClientFault } from '../../../src/admin-api/client/admin-client-fault.ts';
import type { DurationMs } from '../../../src/base/time.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import { fasterClockLeadMs } from '../../../src/rollout/model/service-clock.ts';
import { type ConfigData, idlePolicy } from '../bench-config.ts';
import { type DaemonProcess, type LogLine, startDaemon } from './daemon-process.ts';

// The first id of a simulated fleet. Of several accounts none has it, and each asks its service.
const anyCollector = '100000001';

const readings = 3;
const spacingMinMs: DurationMs = 750;

/**
 * Starts a daemon, lets it learn the service's clock, as one that has run for a while has, and starts the rollout then.
 * Without it, the first creates wait until the clock is known.
 * @param speed how many times as fast as ours the service's clock runs
 * @param ranForMs how long the daemon has run by then at least
 */
export async function startRollout(
  config: ConfigData,
  onLine: (line: LogLine) => void,
  { speed, ranForMs = 0 }: { readonly speed: number; readonly ranForMs?: DurationMs },
): Promise<DaemonProcess> {
  const { accounts } = config;
  const of = accounts === undefined ? {} : { accounts: Object.keys(accounts) };
  const daemon = await startDaemon({ ...config, rollouts: [{ ...idlePolicy, ...of }] }, onLine);
  const { api } = daemon;
  // A clock that runs faster is known by how far it gets ahead between the first and the last reading.
  const learnsForMs = speed === 1 ? 0 : (1.2 * fasterClockLeadMs) / (speed - 1);
  const spacingMs = Math.max(spacingMinMs, learnsForMs / (readings - 1), ranForMs / readings);
  for (let read = 0; read < readings; ) {
    await sleepForReal(spacingMs);
    // It asks the service for one collector; right after its start the daemon has no connection to Redis yet.
    const isRead = await api.explain(anyCollector).then(
      () => true,
      (error: unknown) => error instanceof AdminClientFault && error.kind === 'notFound',
    );
    if (isRead) read += 1;
  }
  daemon.writeConfig(config);
  // A policy that a reload adds is scanned at once.
  await api.reload({ by: 'bench', reason: 'the clock is known' });
  return daemon;
}
