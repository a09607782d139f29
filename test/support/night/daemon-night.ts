import { request } from 'undici';
import type { Clocks } from '../../../src/base/stopwatch.ts';
import { secretsOf } from '../../../src/cli/shell/choose-redis.ts';
import type { Config } from '../../../src/config/config.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import { makeDaemon } from '../../../src/daemon/daemon.ts';
import { type LogFields, makeLogger } from '../../../src/observability/logger.ts';
import type { VerbResult } from '../../../src/orchestrator/operations/operations.ts';
import type { RedisConfig } from '../../../src/redis/connection/redis-config.ts';
import { isRightsRefusal } from '../../../src/redis/connection/redis-errors.ts';
import { parseScenario, type ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import type { ScanFailure } from '../../../src/rollout/messages/scans.ts';
import { countLeft } from '../../../src/rollout/model/left-behind.ts';
import type { WaveState } from '../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import { readConfig } from '../config-fixtures.ts';
import { type OnTheWay, openTroubledWay, type Trouble } from '../network/troubled-way.ts';
import { watchOutput } from '../setup/secret-watch.ts';
import { testSecrets } from '../test-secrets.ts';
import { until } from '../until.ts';
import { brokenPromises } from './judge-night.ts';

/** The service's clock runs so many times as fast as ours: 5 minutes are a second. */
export const nightSpeed = 300;

// Accepted requests in any one real second. We take 80 % of it, so that a moment without a CPU does not look like a
// budget that was exceeded, while two budgets that don't know of each other certainly do.
const requestsPerSecond = 240;
const budgetShare = '80%';

// A create in doubt keeps its slot a little longer than this: far above what a slow machine needs for an answer.
const requestTimeout = '5s';

export const nightPolicy = 'night';
export const nightCredentials = testSecrets.night;

export interface NightInput {
  readonly redis: RedisConfig;
  /** In place of `nightSpeed`; the durations of the policy are of the daemon's time. */
  readonly speed?: number;
  /** Merged into a fleet that is well: `failures` and `httpFaults` say what goes wrong. */
  readonly scenario?: ScenarioInput;
  /** Keys of the policy, as in the config file. */
  readonly rollout?: Readonly<Record<string, unknown>>;
  /** Keys of the service section, as in the config file. */
  readonly service?: Readonly<Record<string, unknown>>;
  readonly http?: Readonly<Record<string, unknown>>;
  /** Receivers of notifications, as in the config file. */
  readonly notify?: ReadonlyArray<Readonly<Record<string, unknown>>>;
  /** Where reports go, as in the config file. */
  readonly report?: Readonly<Record<string, unknown>>;
  /** True: the daemons scan by the schedule; else a test calls `scan`. */
  readonly followsSchedule?: boolean;
  /** In which records are written and read; this upwave's, where left out. */
  readonly recordVersion?: number;
  /** The clocks of the machine of a daemon; this machine's, where left out. */
  readonly clocks?: Clocks;
  /** False: secrets in the log are not redacted, so that a secret which only this redaction keeps out is seen. */
  readonly redactsLog?: boolean;
  /** What happens to requests between the daemons and the service, at first; nothing is between them where left out. */
  readonly behave?: (passing: OnTheWay) => Trouble;
}

export interface LogLine extends LogFields {
  readonly level: string;
  readonly time: string;
}

/** A daemon of a night, in this process. */
export type NightDaemon = Awaited<ReturnType<typeof startDaemon>>;

/** A reference service at high speed, a policy, and any number of daemons on one Redis. */
export type Night = Awaited<ReturnType<typeof aDaemonNight>>;

/** The end of a test: vitest's `onTestFinished`. */
export type AtEnd = (work: () => Promise<void> | void) => void;

/** A service that serves a night, and everything a daemon needs to work against it. What was started ends with the test. */
export async function aDaemonNight(input: NightInput, atEnd: AtEnd) {
  const service = await startReferenceService({
    credentials: [nightCredentials],
    speed: input.speed ?? nightSpeed,
    scenario: parseScenario(nightScenario(input.scenario, input.speed)),
  });
  const way = input.behave && (await openTroubledWay(() => service.url));
  way?.behave(input.behave ?? (() => ({ kind: 'pass' })));
  const baseUrl = `${(way ?? service).url}/api`;
  const read = (changed: NightInput) => readConfig(JSON.stringify(nightConfig(baseUrl, changed)));
  const daemons: NightDaemon[] = [];
  const close = async () => {
    for (const daemon of daemons) await daemon.close();
    await way?.close();
    await service.close();
  };
  atEnd(close);
  return {
    service,
    config: read(input),
    redis: input.redis,
    /** Where daemons find the service: at the end of the way, where there is one. */
    baseUrl,
    way,
    record: () => service.record.snapshot(),
    /** @param changes what its config says otherwise than the night's: of the service section, and of the policy */
    startDaemon: async (
      changes: Pick<NightInput, 'service' | 'rollout' | 'notify' | 'recordVersion' | 'clocks'> = {},
    ) => {
      const service = { ...input.service, ...changes.service };
      const changed = { ...input, ...changes, service, rollout: { ...input.rollout, ...changes.rollout } };
      const daemon = await startDaemon(read(changed), changed);
      daemons.push(daemon);
      return daemon;
    },
    close,
  };
}

export type NightEnd = Awaited<ReturnType<typeof endOf>>;

/** A night with this many daemons (default: one). The first one has scanned, as an operator does. */
export async function aStartedNight(input: NightInput & { readonly daemons?: number }, atEnd: AtEnd) {
  const night = await aDaemonNight(input, atEnd);
  const daemon = await night.startDaemon();
  for (let started = 1; started < (input.daemons ?? 1); started += 1) await night.startDaemon();
  const rolloutId = await scan(daemon);
  return {
    night,
    daemon,
    rolloutId,
    end: () => endOf(night, daemon, rolloutId),
  };
}

/** Waits for the rollout's end, as this daemon shows it; `broken`: what must be true of every end, and is not. */
export async function endOf(night: Night, daemon: NightDaemon, rolloutId: string) {
  const status = await untilEnded(daemon, rolloutId);
  const upgrades = await upgradesOf(daemon, rolloutId);
  return { status, upgrades, broken: brokenPromises(night, status, upgrades) };
}

/** A fleet of 40 in which every upgrade goes well and takes one to four minutes of the service's time. */
function nightScenario(changes: ScenarioInput = {}, speed = nightSpeed): ScenarioInput {
  return {
    naturalFailures: { failed: 0, timeout: 0, lost: 0, lostMac: 0 },
    ...changes,
    fleet: {
      size: 40,
      seed: 'night',
      ...changes.fleet,
      shares: {
        dead: 0,
        hosted: 0.02,
        mac: 0.05,
        container: 0.05,
        unparsableVersion: 0,
        latestOrOneBehind: 0.1,
        ...changes.fleet?.shares,
      },
    },
    durations: { median: '2m', p95: '3m', min: '1m', max: '4m', ...changes.durations },
    limits: { requestsPerSecond: requestsPerSecond / speed, ...changes.limits },
    failures: [...(changes.failures ?? []), { outcome: 'succeeded' }],
  };
}

/** The config file of a night, as data. */
export function nightConfig(baseUrl: string, input: Omit<NightInput, 'redis' | 'scenario'> = {}): object {
  return {
    service: {
      baseUrl,
      ...nightCredentials,
      requestsPerSecond,
      budgetShare,
      requestTimeout,
      ...input.service,
    },
    http: { port: 0, ...input.http },
    log: { level: 'debug' },
    notify: input.notify ?? [],
    ...(input.report && { report: input.report }),
    rollouts: [
      {
        name: nightPolicy,
        concurrency: 8,
        waves: [
          { name: 'canary', size: 4, soak: '300ms', maxFailures: 1 },
          { name: 'early', size: '30%', soak: '300ms', maxFailures: '20%' },
          { name: 'rest', maxFailures: '20%' },
        ],
        // Longer than the service's own times want, so that a slow machine makes no failures.
        upgrade: { deadline: '15s', verifyWithin: '5s', expect: '600ms' },
        retry: { backoff: { initial: '100ms', max: '300ms' } },
        defer: { upTo: '30s' },
        ...input.rollout,
      },
    ],
  };
}

/** The config file of two accounts, `eu` and `us`, with one policy for both. */
export function twoAccountsConfig(eu: Pick<Night, 'baseUrl'>, us: Pick<Night, 'baseUrl'>) {
  const { service, rollouts, ...file } = JSON.parse(JSON.stringify(nightConfig(eu.baseUrl)));
  return {
    ...file,
    accounts: { eu: service, us: { ...service, baseUrl: us.baseUrl } },
    rollouts: [{ ...rollouts[0], waves: [{ name: 'all' }], accounts: ['eu', 'us'] }],
  };
}

/** A daemon with this config, which the test closes. */
export async function startDaemon(config: Config, input: NightInput) {
  const lines: string[] = [];
  const log: LogLine[] = [];
  const destination = {
    write: (line: string) => {
      watchOutput('the log of a daemon', line);
      lines.push(line);
      log.push(JSON.parse(line) as LogLine);
    },
  };
  const daemon = makeDaemon({
    config,
    redis: input.redis,
    logger: makeLogger({
      level: 'debug',
      secrets: input.redactsLog === false ? [] : secretsOf(config, input.redis),
      destination,
    }),
    version: '0.0.0-test',
    followsSchedule: input.followsSchedule ?? false,
    readConfig: () => config,
    isConfigUnread: () => false,
    ...(input.recordVersion === undefined ? {} : { recordVersion: input.recordVersion }),
    ...(input.clocks === undefined ? {} : { clocks: input.clocks }),
  });
  const { url } = await daemon.start();
  // What an operator asks is refused until there is a connection.
  await until('an answer of Redis', () =>
    daemon.operations.listRollouts().catch((error: unknown) => isRightsRefusal(error) || undefined),
  );
  let closing: Promise<void> | undefined;
  return {
    daemon,
    url,
    operations: daemon.operations,
    log: log as readonly LogLine[],
    /** The log as it was written. */
    logText: () => lines.join(''),
    /** Its lines about this event. */
    reported: (event: string): readonly LogLine[] => log.filter((line) => line.event === event),
    /** Asks its API. */
    get: async (path: string) => {
      const answer = await request(`${url}${path}`);
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    /** Once or more often. */
    close: () => {
      closing ??= daemon.close();
      return closing;
    },
  };
}

/**
 * Scans as an operator does, and retries as long as the service gives no answer: a service with faults gives none at times,
 * and one with a short time-out none in time on a machine that has other work to do.
 * @returns the rollout's id
 */
export function scan({ daemon }: NightDaemon, policy = nightPolicy): Promise<string> {
  return until('a scan that succeeds', async () => {
    const result = await daemon.scanNow(policy, 'operator');
    if (result.kind === 'started') return result.rolloutId;
    if (result.kind === 'failed' && isPassing(result.why.kind)) return undefined;
    throw new Error(`no rollout was started: ${JSON.stringify(result)}`);
  });
}

function isPassing(cause: ScanFailure['kind']): boolean {
  return cause === 'unavailable' || cause === 'throttled' || cause === 'shortInventory';
}

export async function statusOf({ operations }: NightDaemon, rolloutId: string): Promise<RolloutStatus> {
  const status = await operations.rolloutStatus(rolloutId);
  if (status === undefined) throw new Error(`there is no rollout ${rolloutId}`);
  return status;
}

/** Waits until the rollout is in this state. */
export function untilState(
  daemon: NightDaemon,
  rolloutId: string,
  state: RolloutStatus['state'],
): Promise<RolloutStatus> {
  return until(`${rolloutId} to be ${state}`, async () => {
    const status = await statusOf(daemon, rolloutId).catch(() => undefined);
    return status?.state === state ? status : undefined;
  });
}

/** Waits until the wave at this index is in this state. */
export function untilWave(
  daemon: NightDaemon,
  rolloutId: string,
  { index, state }: { readonly index: number; readonly state: WaveState },
): Promise<RolloutStatus> {
  return until(`wave ${index} of ${rolloutId} to be ${state}`, async () => {
    const status = await statusOf(daemon, rolloutId);
    return status.waves[index]?.state === state && status;
  });
}

/** Waits until the service has accepted so many creates. */
export async function createsReach({ record }: Pick<Night, 'record'>, count: number): Promise<void> {
  await until(`${count} creates`, () => record().creates.length >= count);
}

/** Waits until the rollout has ended, and none of its upgrades is watched. */
export function untilEnded(daemon: NightDaemon, rolloutId: string): Promise<RolloutStatus> {
  let last: RolloutStatus | undefined;
  const what = () =>
    `the end of ${rolloutId}: ${JSON.stringify({ state: last?.state, reason: last?.reason, counts: last?.counts, blockers: last?.blockers })}, last log: ${JSON.stringify(daemon.log.slice(-20))}`;
  return until(what, async () => {
    last = await statusOf(daemon, rolloutId).catch(() => undefined);
    return last?.endedAt === null ? undefined : last;
  });
}

export async function upgradesOf(
  { operations }: NightDaemon,
  rolloutId: string,
): Promise<readonly Upgrade[]> {
  return (await operations.listUpgrades(rolloutId, { offset: 0, limit: 1_000 })) ?? [];
}

/** Upgrades that may be running at the service, or wait for verification. */
export function activeOf({ counts }: RolloutStatus): number {
  return counts.queued + counts.starting + counts.upgrading + counts.verifying;
}

/** Requests a rollback with the figures of its preview (P15). */
export async function rollBack({ operations }: NightDaemon, rolloutId: string): Promise<VerbResult> {
  const result = await operations.previewRollback(rolloutId);
  if (result.kind !== 'shown') throw new Error(`no preview of a rollback of ${rolloutId}: ${result.kind}`);
  const { collectors, leftBehind } = result.preview;
  const shown = { collectors, leftBehind: countLeft(leftBehind) };
  return operations.apply({ rolloutId, verb: 'rollback', by: 'ops', reason: 'it is bad', shown });
}
