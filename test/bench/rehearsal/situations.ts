import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import type { WhatIf } from '../../../src/rehearsal/world/what-if.ts';

/** A policy and a fault, as settings for the service, the daemon and the rehearsal. Times are those of the service. */
export interface Situation {
  readonly name: string;
  /** Merged into a fleet that is well. */
  readonly scenario?: ScenarioInput;
  /** The fleet's share of offline collectors. */
  readonly dead?: number;
  /** Keys of the policy. */
  readonly rollout?: Readonly<Record<string, unknown>>;
  readonly whatIf?: Partial<Pick<WhatIf, 'breaks' | 'failures'>>;
  /** The service does not answer in this time after the start of the rollout. */
  readonly outage?: { readonly fromMs: DurationMs; readonly toMs: DurationMs };
  /** Windows of this length, in which the rollout begins at this time before the first closes. */
  readonly windows?: {
    readonly openMs: DurationMs;
    readonly closedMs: DurationMs;
    readonly firstMs: DurationMs;
  };
  /** What upwave may send. */
  readonly requestsPerSecond?: number;
  /** Keys of another policy of the account, which starts at the same time. */
  readonly other?: Readonly<Record<string, unknown>>;
}

type Failure = NonNullable<ScenarioInput['failures']>[number];

const minute: DurationMs = 60_000;

/** How many collectors there are, and how many are upgraded at once. */
export interface FleetSize {
  readonly collectors: number;
  readonly slots: number;
}
export const usualSize: FleetSize = { collectors: 300, slots: 60 };

/** By the documentation of the service, and half of it with others. */
export const requestsPerSecondUsual = 4 * 0.8;

const unknown = 'upgrade process exited with code 17';
const failsOnce: Failure = { match: { share: 0.05 }, attempts: [1], outcome: 'failed', message: unknown };
const once = { once: 0.05, always: 0 };
const soaks = { soak: 5 * minute };
const rack = 'staging/api';
const onRack = { match: { category: [rack] }, share: 1, afterMs: 0 } as const;
const onWindows = { match: { osName: ['Windows*'] }, share: 1, afterMs: 0 } as const;

/** Durations in the policy are numbers of milliseconds, which `policyAt` scales. */
export const situations: readonly Situation[] = [
  { name: 'three waves' },
  {
    name: '5% fail once',
    scenario: { failures: [failsOnce] },
    whatIf: { failures: once },
  },
  {
    name: 'fails on Windows; a canary of each stratum',
    scenario: { failures: [{ match: { osName: 'Windows*' }, outcome: 'failed', message: unknown }] },
    whatIf: { breaks: [{ ...onWindows, how: 'fails' }] },
    rollout: {
      waves: [
        { name: 'canary', size: '1 per stratum', maxFailures: 0, ...soaks },
        { name: 'rest', maxFailures: '10%' },
      ],
    },
  },
  {
    name: 'fails in one rack, isolated by attributes',
    scenario: { failures: [{ match: { category: rack }, outcome: 'failed', message: unknown }] },
    whatIf: { breaks: [{ ...onRack, how: 'fails' }] },
    rollout: {
      isolate: 'attributes',
      waves: [
        { name: 'canary', size: '15%', maxFailures: '20%', ...soaks },
        { name: 'rest', maxFailures: '10%' },
      ],
    },
  },
  {
    name: '3% fail always; 1% allowed',
    scenario: { failures: [{ match: { share: 0.03 }, outcome: 'failed', message: unknown }] },
    whatIf: { failures: { once: 0, always: 0.03 } },
    rollout: {
      waves: [
        { name: 'canary', size: 10, maxFailures: 1, ...soaks },
        { name: 'rest', maxFailures: '1%' },
      ],
    },
  },
  { name: 'one of each cluster at once', rollout: { maxInFlightPer: { 'fields.cluster': 1 } } },
  {
    name: 'one rack does not return',
    scenario: { failures: [{ match: { category: rack }, outcome: 'lost' }] },
    whatIf: { breaks: [{ ...onRack, how: 'neverReturns' }] },
    rollout: {
      waves: [
        { name: 'canary', size: 10, maxFailures: 0, ...soaks },
        { name: 'rest', maxFailures: '1%' },
      ],
    },
  },
  {
    name: 'one category fails; rolled back',
    scenario: { failures: [{ match: { category: 'staging/*' }, outcome: 'failed', message: unknown }] },
    whatIf: { breaks: [{ match: { category: ['staging/*'] }, share: 1, afterMs: 0, how: 'fails' }] },
    rollout: {
      onBreach: 'rollback',
      waves: [
        { name: 'early', size: '30%', maxFailures: '30%', ...soaks },
        { name: 'rest', maxFailures: '10%' },
      ],
    },
  },
  {
    name: 'a fifth is offline; 5% fail once',
    dead: 0.2,
    scenario: { failures: [failsOnce] },
    whatIf: { failures: once },
  },
  { name: 'an outage of an hour', outage: { fromMs: 20 * minute, toMs: 80 * minute } },
  {
    name: 'two windows',
    windows: { openMs: 60 * minute, closedMs: 40 * minute, firstMs: 30 * minute },
  },
  {
    name: 'half a request a second; 5% fail once',
    requestsPerSecond: 0.5,
    scenario: { failures: [failsOnce] },
    whatIf: { failures: once },
  },
  {
    name: 'another policy at the same time; one request a second',
    requestsPerSecond: 1,
    rollout: { select: { include: { osName: 'Linux*' } } },
    other: { select: { include: { osName: 'Windows*' } } },
  },
];

/** The other policy of a situation as one of its own; undefined: it has none. */
export function otherOf({ other }: Situation): Situation | undefined {
  return other && { name: 'other', rollout: other };
}

/** A fleet that is well. Each seed draws other collectors and durations. */
export function scenarioFor(
  { scenario = {}, dead = 0 }: Situation,
  { seed, size }: { readonly seed: number; readonly size: FleetSize },
): ScenarioInput {
  return {
    naturalFailures: { failed: 0, timeout: 0, lost: 0, lostMac: 0 },
    ...scenario,
    fleet: {
      size: size.collectors,
      seed: `rehearsal-${seed}`,
      shares: {
        ...{ dead, category: 1, fields: 1, hosted: 0, mac: 0, container: 0, ephemeral: 0 },
        ...{ unparsableVersion: 0, aboveLatest: 0, latestOrOneBehind: 0, oneToThreeYears: 0.5 },
      },
    },
    durations: { median: '3m', p95: '5m', max: '12m' },
    failures: [...(scenario.failures ?? []), { outcome: 'succeeded' }],
  };
}

/**
 * The policy in the time of a daemon whose service runs so many times as fast.
 * @param closesAt when the first window closes, at a whole minute
 */
export function policyAt(
  factor: number,
  { rollout, windows }: Situation,
  { closesAt, size }: { readonly closesAt: EpochMs; readonly size: FleetSize },
): Readonly<Record<string, unknown>> {
  const scaled = (durationMs: DurationMs) => `${Math.round(durationMs / factor)}ms`;
  const { waves, ...keys } = { waves: usualWaves, ...rollout } as { readonly waves: readonly WaveOf[] };
  return {
    ...{
      concurrency: size.slots,
      isolate: 'off',
      spreadBy: ['osName'],
      schedule: '0 0 1 1 *',
      select: { exclude: [] },
    },
    upgrade: { deadline: scaled(35 * minute), verifyWithin: scaled(10 * minute), expect: scaled(3 * minute) },
    retry: { backoff: { initial: scaled(2 * minute), max: scaled(60 * minute) } },
    defer: { upTo: scaled(12 * 60 * minute) },
    ...(windows && { windows: windowsAt(factor, windows, closesAt) }),
    ...keys,
    waves: waves.map(({ soak, ...wave }) => ({
      ...wave,
      ...(soak === undefined ? {} : { soak: scaled(soak) }),
    })),
  };
}

function windowsAt(
  factor: number,
  { openMs, closedMs }: NonNullable<Situation['windows']>,
  closesAt: EpochMs,
) {
  const timeOfDay = (afterMs: DurationMs) =>
    new Date(closesAt + afterMs / factor).toISOString().slice(11, 16);
  return [
    { from: timeOfDay(-openMs), to: timeOfDay(0) },
    { from: timeOfDay(closedMs), to: timeOfDay(closedMs + openMs) },
  ];
}

interface WaveOf {
  readonly name: string;
  readonly size?: string | number;
  readonly maxFailures: string | number;
  readonly soak?: DurationMs;
}

const usualWaves: readonly WaveOf[] = [
  { name: 'canary', size: 10, maxFailures: 1, ...soaks },
  { name: 'early', size: '30%', maxFailures: '10%', ...soaks },
  { name: 'rest', maxFailures: '10%' },
];
