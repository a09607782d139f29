import { randomBytes } from 'node:crypto';
import { sleepForReal } from '../../src/base/waiting.ts';
import { startProcess } from '../support/redis/start-test-redis.ts';
import { until } from '../support/until.ts';
import { benchConfig, idlePolicy } from './bench-config.ts';
import { goals } from './goals.ts';
import type { Part } from './part.ts';
import { startDaemon } from './processes/daemon-process.ts';
import { startServiceProcess } from './processes/service-process.ts';
import { figureRow, fixed, mebibytes, percent, table } from './report.ts';

const collectors = 1_000;

// What a start costs is over by then.
const settleMs = 15_000;

/** A daemon that has nothing to upgrade. */
export const idlePart: Part = async ({ isShort, tell }) => {
  tell('an idle daemon');
  const credentials = { accessId: 'bench', accessKey: randomBytes(18).toString('base64url') };
  const redis = await startProcess();
  const service = await startServiceProcess({
    scenario: { fleet: { size: collectors } },
    speed: 1,
    credentials,
  });
  const config = benchConfig(
    { speed: 1, slots: 10, expectMs: 300_000 },
    { ...service, credentials, redisUrl: redis.url },
  );
  let isScanned = false;
  const daemon = await startDaemon(
    { ...config, log: { level: 'info' }, rollouts: [idlePolicy] },
    ({ event }) => {
      if (event === 'scan.finished') isScanned = true;
    },
  );
  try {
    await until('a scan', () => isScanned);
    await sleepForReal(settleMs);
    const before = daemon.usage();
    const measureMs = isShort ? 5_000 : 60_000;
    await sleepForReal(measureMs);
    const { cpuSeconds, rssBytes } = daemon.usage();
    const cpuShare = ((cpuSeconds - before.cpuSeconds) * 1_000) / measureMs;
    return {
      data: { collectors, cpuShare, rssBytes },
      tables: [
        table(
          `an idle daemon, ${collectors} collectors, none to upgrade`,
          ['upwave'],
          [
            figureRow('CPU, of one core', [cpuShare], percent(2), goals.idle.cpuShare),
            figureRow('memory (MiB)', [mebibytes(rssBytes)], fixed(0), goals.idle.mebibytes),
          ],
        ),
      ],
      broken: [],
    };
  } finally {
    await daemon.stop('SIGTERM');
    await service.stop();
    await redis.close();
  }
};
