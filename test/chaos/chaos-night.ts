import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { isSameBuild } from '../../src/base/build-version.ts';
import type { Config } from '../../src/config/config.ts';
import type { RolloutStatus } from '../../src/contract/admin/rollout-status.ts';
import { makeRedisConnection } from '../../src/redis/connection/connection.ts';
import type { RedisConfig } from '../../src/redis/connection/redis-config.ts';
import type { RecordSnapshot } from '../../src/reference-service/api/service-record.ts';
import type { ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import type { Upgrade } from '../../src/rollout/model/upgrade.ts';
import { readConfig } from '../support/config-fixtures.ts';
import { type AtEnd, createsReach, type NightEnd, nightConfig } from '../support/night/daemon-night.ts';
import { brokenPromises, createdTwice } from '../support/night/judge-night.ts';
import { aConfigFolder } from '../support/night/upwave-process.ts';
import { aRedisStore } from '../support/redis/redis-adapters.ts';
import { makeRedisProcess, type RedisProcess } from '../support/redis/redis-process.ts';
import { until } from '../support/until.ts';
import { type ChaosDaemon, startChaosDaemon } from './chaos-daemon.ts';
import { type ChaosService, startChaosService } from './chaos-service.ts';

/** `CHAOS=short`: only the scenarios that tell most. */
export const isShort = process.env['CHAOS'] === 'short';

export interface ChaosInput {
  readonly redis: RedisConfig;
  readonly scenario?: ScenarioInput;
  /** Keys of the policy and of the service section, as in the config file. */
  readonly rollout?: Readonly<Record<string, unknown>>;
  readonly service?: Readonly<Record<string, unknown>>;
  /** Started with it, all at once; none where left out. */
  readonly daemons?: number;
  /** It begins when those daemons have made so many creates. */
  readonly creates?: number;
}

/** A service at high speed, daemons as processes, and what the service saw of them. */
export interface ChaosNight {
  readonly service: ChaosService;
  readonly config: Config;
  /** Those that are alive. */
  readonly daemons: () => readonly ChaosDaemon[];
  record(): RecordSnapshot;
  /** @param redis another way to the same Redis */
  startDaemon(redis?: RedisConfig): Promise<ChaosDaemon>;
  /** Waits until so many creates were accepted. */
  createsReach(count: number): Promise<void>;
  /** The newest rollout's status, from whichever daemon answers; undefined while none does. */
  status(): Promise<RolloutStatus | undefined>;
  /** The newest rollout's records. */
  upgrades(): Promise<readonly Upgrade[]>;
  /** Waits for the end of the newest rollout. */
  end(withinMs?: number): Promise<NightEnd>;
}

/** A Redis that the tests of one block share, each under a key prefix of its own. */
export interface BlockRedis {
  process(): RedisProcess;
  config(keyPrefix: string): RedisConfig;
}

/** Gives a block of tests a Redis process, which is up before its first test and gone after its last. */
export function useRedisProcess(): BlockRedis {
  let redis: RedisProcess | undefined;
  beforeAll(async () => {
    redis = await makeRedisProcess();
    await redis.start();
  });
  afterAll(() => redis?.close());
  const running = () => {
    if (redis === undefined) throw new Error('the Redis of a block is there for its tests alone');
    return redis;
  };
  return { process: running, config: (keyPrefix) => ({ url: running().url, keyPrefix }) };
}

const rollout = {
  concurrency: 12,
  waves: [{ name: 'all', maxFailures: '5%' }],
  upgrade: { deadline: '30s', verifyWithin: '10s', expect: '1500ms' },
  // Without the default exclusions, because no upgrade fails in this fleet.
  select: { exclude: [] },
};
// A create without an answer keeps its slot until none can come any more, so a short time-out makes a short test.
const service = { requestTimeout: '1s' };

export async function aChaosNight(input: ChaosInput, atEnd: AtEnd): Promise<ChaosNight> {
  const folder = aConfigFolder((work) => atEnd(async () => work()));
  const chaosService = await startChaosService(folder.path, input.scenario);
  const daemons: ChaosDaemon[] = [];
  let started = 0;
  atEnd(async () => {
    keepLogs(daemons);
    await Promise.all(daemons.map((daemon) => daemon.close()));
    await chaosService.stop();
  });
  const configFor = (baseUrl: string, redis: RedisConfig) => ({
    ...nightConfig(baseUrl, {
      rollout: { ...rollout, ...input.rollout },
      service: { ...service, ...input.service },
    }),
    redis: redisSection(redis),
  });
  const record = () => chaosService.record();
  const alive = () => daemons.filter((daemon) => daemon.isAlive());
  const config = readConfig(JSON.stringify(configFor(`${chaosService.url}/api`, input.redis)));

  const status = async (): Promise<RolloutStatus | undefined> => {
    for (const daemon of alive()) {
      const [newest] = await daemon.api.listRollouts().catch(() => []);
      if (newest !== undefined) return newest;
    }
    return undefined;
  };
  const night: ChaosNight = {
    service: chaosService,
    config,
    daemons: alive,
    record,
    startDaemon: async (redis = input.redis) => {
      started += 1;
      const name = `daemon-${started}`;
      const daemon = await startChaosDaemon({
        name,
        serviceUrl: () => chaosService.url,
        writeConfig: (baseUrl) => folder.write(`${name}.yaml`, configFor(baseUrl, redis)),
      });
      daemons.push(daemon);
      return daemon;
    },
    createsReach: (count) => createsReach({ record }, count),
    status,
    upgrades: async () => readUpgrades(input.redis, (await until('a rollout', () => status())).id),
    end: async (withinMs = 90_000) => {
      const ended = await until(
        'the end of the rollout',
        async () => {
          const newest = await status();
          return newest?.endedAt === null ? undefined : newest;
        },
        withinMs,
      );
      const upgrades = await readUpgrades(input.redis, ended.id);
      const broken = [
        ...brokenPromises({ record, config }, ended, upgrades),
        ...brokenEnds(chaosService, ended, upgrades),
      ];
      return { status: ended, upgrades, broken };
    },
  };
  await Promise.all(Array.from({ length: input.daemons ?? 0 }, () => night.startDaemon()));
  await night.createsReach(input.creates ?? 0);
  return night;
}

/** Prints one line with a measurement. */
export function report(words: string): void {
  process.stdout.write(`chaos: ${words}\n`);
}

/** What the collectors themselves show at the end. */
function brokenEnds(
  chaosService: ChaosService,
  status: RolloutStatus,
  upgrades: readonly Upgrade[],
): readonly string[] {
  const { world } = chaosService.now();
  const others = upgrades.filter(({ identity: { collectorId, toBuild } }) => {
    const version = world.collector(collectorId)?.life.version ?? '';
    return !isSameBuild(version, toBuild);
  });
  const doubled = createdTwice(chaosService.record());
  const states = upgrades.filter(({ progress: { state } }) => state !== 'succeeded');
  return [
    ...(status.state === 'succeeded' ? [] : [`the rollout is ${status.state}`]),
    ...states.map((upgrade) => `${upgrade.identity.collectorName} is ${JSON.stringify(upgrade)}`),
    // In a fleet in which every upgrade goes well, nobody has a reason to try one again.
    ...doubled.map((collectorId) => `P1: more than one task for collector ${collectorId}`),
    ...others.map(({ identity: { collectorName } }) => `${collectorName} does not run the build`),
  ];
}

async function readUpgrades(redis: RedisConfig, rolloutId: string): Promise<readonly Upgrade[]> {
  const connection = makeRedisConnection(redis, 'worker');
  const store = aRedisStore({ commands: connection.commands, keyPrefix: redis.keyPrefix });
  try {
    return await store.listUpgrades(rolloutId, { offset: 0, limit: 1_000 });
  } finally {
    await connection.close();
  }
}

/** A Redis as the config file names it. */
function redisSection(redis: RedisConfig): object {
  const { keyPrefix } = redis;
  if ('url' in redis) return { keyPrefix, url: redis.url };
  const place = ({ host, port }: { readonly host: string; readonly port: number }) => `${host}:${port}`;
  return 'sentinels' in redis
    ? { keyPrefix, sentinels: redis.sentinels.map(place), name: redis.name }
    : { keyPrefix, cluster: redis.cluster.map(place) };
}

/** `CHAOS_LOGS=folder` keeps the logs of the daemons. */
function keepLogs(daemons: readonly ChaosDaemon[]): void {
  const folder = process.env['CHAOS_LOGS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const daemon of daemons) writeFileSync(join(folder, `${daemon.name}.log`), daemon.log());
}
