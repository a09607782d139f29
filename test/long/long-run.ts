import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeRedisConnection } from '../../src/redis/connection/connection.ts';
import { nightConfig } from '../support/night/daemon-night.ts';
import { daemonUrl, startUpwave } from '../support/night/upwave-process.ts';
import { startProcess } from '../support/redis/start-test-redis.ts';
import { until } from '../support/until.ts';
import { growthOf, type Sample } from './growth.ts';
import { takeSample } from './take-sample.ts';

const usage = `npm run test:long -- [--minutes 60]

One daemon upgrades a fleet of 60 again and again, to a new build every half minute, on a service at three hundred
times real speed: an hour is twelve days. Shows that memory, handles, Redis keys and delayed jobs do not grow.
`;

/** The service's clock runs so many times as fast as ours. */
const speed = 300;

// A rollout of this fleet takes about ten seconds.
const buildEveryMs = 30_000;

const credentials = { accessId: 'anAccessId', accessKey: 'Zz9-theAccessKey-4711' };

/** @returns the exit code: 1 when something grew */
async function longRun(): Promise<number> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '60' }, help: { type: 'boolean' } },
  });
  const minutes = Number(values.minutes);
  if (values.help === true || !(minutes > 0)) {
    process.stdout.write(usage);
    return values.help === true ? 0 : 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'upwave-long-'));
  const redis = await startProcess();
  const killAfterMs = (minutes + 5) * 60_000;
  const service = startUpwave({ args: serviceArgs(folder, minutes), killAfterMs });
  try {
    const serviceUrl = await until(
      'the service to listen',
      () => /http:\/\/127\.0\.0\.1:\d+/.exec(service.out())?.[0],
    );
    const config = join(folder, 'upwave.yaml');
    writeFileSync(config, JSON.stringify(configOf(`${serviceUrl}/api`, redis.url)));
    const daemon = startUpwave({ args: ['run', '--config', config], killAfterMs });
    try {
      const url = await daemonUrl(daemon);
      return report(await watch({ url, pid: daemon.pid }, redis.url, minutes));
    } finally {
      daemon.kill('SIGTERM');
      await daemon.ended;
    }
  } finally {
    service.kill('SIGTERM');
    await service.ended;
    await redis.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function watch(
  daemon: { readonly url: string; readonly pid: number },
  redisUrl: string,
  minutes: number,
): Promise<readonly Sample[]> {
  const connection = makeRedisConnection({ url: redisUrl, keyPrefix: 'long' }, 'worker');
  const endsAt = performance.now() + minutes * 60_000;
  const samples: Sample[] = [];
  try {
    let ended = 0;
    while (performance.now() < endsAt) {
      await wait(1_000);
      // Between two rollouts, when no upgrade is running. What remains then is kept.
      const sample = await takeSample(daemon, connection.commands);
      if (sample === undefined || sample.rolloutsEnded === ended) continue;
      ended = sample.rolloutsEnded;
      samples.push(sample);
      process.stdout.write(`${JSON.stringify(sample)}\n`);
    }
    return samples;
  } finally {
    await connection.close();
  }
}

function report(samples: readonly Sample[]): number {
  const growth = growthOf(samples);
  process.stdout.write(`${growth.words.join('\n')}\n`);
  return growth.isGrown ? 1 : 0;
}

function serviceArgs(folder: string, minutes: number): string[] {
  const scenario = join(folder, 'scenario.yaml');
  const count = Math.ceil((minutes * 60_000) / buildEveryMs) + 1;
  const offeredAfter = (index: number) => `${(index * buildEveryMs * speed) / 1_000}s`;
  const builds = Array.from({ length: count }, (_, index) => ({
    version: `19.${600 + index}-1`,
    ...(index === 0 ? {} : { offeredAfter: offeredAfter(index) }),
  }));
  const scenarioInput = {
    fleet: {
      size: 60,
      seed: 'long',
      shares: { dead: 0, mac: 0, container: 0, hosted: 0, unparsableVersion: 0, aboveLatest: 0 },
    },
    builds: ['19.525-63', '19.533-5', ...builds],
    naturalFailures: { failed: 0.03, timeout: 0, lost: 0, lostMac: 0 },
    durations: { median: '2m', p95: '3m', min: '1m', max: '4m' },
    limits: { requestsPerSecond: 1 },
  };
  writeFileSync(scenario, JSON.stringify(scenarioInput));
  return [
    ...['service', '--port', '0', '--speed', String(speed), '--scenario', scenario],
    ...['--access-id', credentials.accessId, '--access-key', credentials.accessKey],
  ];
}

function configOf(baseUrl: string, redisUrl: string): object {
  const rollout = { schedule: '*/2 * * * * *', concurrency: 20 };
  const config = nightConfig(baseUrl, { rollout, service: { ...credentials, requestsPerSecond: 250 } });
  return { ...config, redis: { url: redisUrl, keyPrefix: 'long' }, log: { level: 'info' } };
}

process.exitCode = await longRun();
