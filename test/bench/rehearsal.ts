import { Writable } from 'node:stream';
import type { DurationMs } from '../../src/base/time.ts';
import { learnCourse } from '../../src/cli/rehearse/learn-course.ts';
import { readFleet } from '../../src/cli/rehearse/read-fleet.ts';
import type { ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import { playSeed, type Scene, type SeedResult } from '../../src/rehearsal/play/play-seed.ts';
import { type Rehearsal, summarize } from '../../src/rehearsal/result/rehearsal.ts';
import type { UsualCourse } from '../../src/rehearsal/world/fates.ts';
import { fleetAsOf } from '../../src/rehearsal/world/virtual-service.ts';
import type { WhatIf } from '../../src/rehearsal/world/what-if.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';
import { readConfig } from '../support/config-fixtures.ts';
import {
  aDaemonNight,
  aStartedNight,
  type NightDaemon,
  nightConfig,
  nightPolicy,
  scan,
  statusOf,
} from '../support/night/daemon-night.ts';
import { startProcess } from '../support/redis/start-test-redis.ts';
import { until } from '../support/until.ts';
import { runInLanes } from './lanes.ts';
import type { Part } from './part.ts';
import { table } from './report.ts';

/** The service's clock runs so many times as fast: a daemon's milliseconds stay below a second of it. */
const speed = 10;
const minute: DurationMs = 60_000;
const fleetSize = 60;
const seeds = 60;

/** The median of fewer durations is off by a twentieth, as much as the ends of calm rollouts are apart. */
const learnedSize = 240;

/** What the daemon may send in a second of the service's time (`nightConfig`). */
const requestsPerSecond = (240 * 0.8) / speed;

/** Rollouts beside each other: they wait most of the time. */
const lanes = 10;

interface Fault {
  readonly scenario: ScenarioInput['failures'];
  readonly whatIf: Pick<WhatIf, 'breaks' | 'failures'>;
}

const never = { once: 0, always: 0 };
const windows = { match: { osName: ['Windows*'] }, share: 1, afterMs: 0 } as const;
const message = 'upgrade process exited with code 17';
const faults: Readonly<Record<string, Fault>> = {
  calm: { scenario: [], whatIf: { breaks: [], failures: never } },
  'a tenth fails once': {
    scenario: [{ match: { share: 0.1 }, attempts: [1], outcome: 'failed', message }],
    whatIf: { breaks: [], failures: { once: 0.1, always: 0 } },
  },
  'Windows fails': {
    scenario: [{ match: { osName: 'Windows*' }, outcome: 'failed', message }],
    whatIf: { breaks: [{ ...windows, how: 'fails' }], failures: never },
  },
  'Windows does not return': {
    scenario: [{ match: { osName: 'Windows*' }, outcome: 'lost' }],
    whatIf: { breaks: [{ ...windows, how: 'neverReturns' }], failures: never },
  },
};

const soakMs = 5 * minute;
const policies: Readonly<
  Record<string, { readonly concurrency: number; readonly waves: readonly WaveOf[] }>
> = {
  'canary of strata': {
    concurrency: 8,
    waves: [
      { name: 'canary', size: '1 per stratum', maxFailures: 0, soakMs },
      { name: 'early', size: '30%', maxFailures: '10%', soakMs },
      { name: 'rest', maxFailures: '20%' },
    ],
  },
  'a tenth first': {
    concurrency: 8,
    waves: [
      { name: 'first', size: '10%', maxFailures: '20%', soakMs },
      { name: 'rest', maxFailures: '20%' },
    ],
  },
  'one wave, four at once': { concurrency: 4, waves: [{ name: 'all', maxFailures: '30%' }] },
  'one wave, all at once': { concurrency: fleetSize, waves: [{ name: 'all', maxFailures: '50%' }] },
  'a long soak': {
    concurrency: 12,
    waves: [
      { name: 'canary', size: 4, maxFailures: 0, soakMs: 20 * minute },
      { name: 'rest', maxFailures: '10%' },
    ],
  },
};

interface WaveOf {
  readonly name: string;
  readonly size?: string | number;
  readonly maxFailures: string | number;
  readonly soakMs?: DurationMs;
}

/** One rollout of a real daemon, and what is to be rehearsed of it. */
interface Ran {
  readonly name: string;
  readonly real: { readonly state: string; readonly tookMs: DurationMs; readonly harmed: number };
  readonly scene: Scene;
  readonly policy: Policy;
}

interface Compared extends Pick<Ran, 'name' | 'real'> {
  readonly rehearsal: Rehearsal;
  /** The one with the same collectors in the same waves. */
  readonly sameSeats: SeedResult;
}

/** Rehearsals against rollouts of a daemon on the reference service: the end, and collectors harmed. */
export const rehearsalPart: Part = async ({ isShort, tell }) => {
  const redis = await startProcess();
  const all = Object.keys(policies).flatMap((policy) =>
    Object.keys(faults).map((fault) => ({ policy, fault })),
  );
  try {
    // Its listeners for signals are each command's own.
    process.setMaxListeners(2 * all.length);
    const course = await learn({ url: redis.url, keyPrefix: 'learn' });
    const tasks = all
      .filter((_, index) => !isShort || index % 7 === 0)
      .map((of, index) => () => {
        tell(`${of.policy}, ${of.fault}`);
        return run(of, course, { url: redis.url, keyPrefix: `r${index}` });
      });
    const ran = await runInLanes(tasks, lanes);
    // Not beside them: what is rehearsed takes every turn of this process.
    const compared: Compared[] = [];
    for (const each of ran) compared.push(await compare(each));
    return { data: compared, tables: [render(compared)], broken: [] };
  } finally {
    await redis.close();
  }
};

/** How long upgrades take in the service's time, as `--learn` reads it from a calm rollout. */
async function learn(redis: RedisPlace): Promise<UsualCourse['durations']> {
  const closing: Array<() => Promise<void> | void> = [];
  try {
    const rollout = policyAt(speed, { concurrency: learnedSize, waves: [{ name: 'all', maxFailures: 0 }] });
    const input = { redis, speed, scenario: { fleet: { size: learnedSize } }, rollout };
    const { daemon, rolloutId } = await aStartedNight(input, (close) => void closing.push(close));
    await untilAtRest(daemon, rolloutId);
    const { operations } = daemon;
    const { durations } = await learnCourse(
      {
        pageRollouts: async () => ({ rollouts: [await statusOf(daemon, rolloutId)] }),
        readEvents: async (id, { limit, type }) => (await operations.readEvents(id, limit, { type })) ?? [],
      },
      nightPolicy,
    );
    return { medianMs: durations.medianMs * speed, p95Ms: durations.p95Ms * speed };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

type RedisPlace = { readonly url: string; readonly keyPrefix: string };

function untilAtRest(daemon: NightDaemon, id: string) {
  return until(
    `the end of ${id}`,
    async () => {
      const { state, inFlight, endedAt, headline } = await statusOf(daemon, id);
      return (endedAt !== null || (headline.needsPerson && inFlight === 0)) && { state, endedAt };
    },
    30 * minute,
  );
}

/** Lets a daemon do it. */
async function run(
  of: { readonly policy: string; readonly fault: string },
  durations: UsualCourse['durations'],
  redis: RedisPlace,
): Promise<Ran> {
  const fault = faults[of.fault];
  const rollout = policies[of.policy];
  if (fault === undefined || rollout === undefined) throw new Error('no such case');
  const closing: Array<() => Promise<void> | void> = [];
  try {
    const scenario = { fleet: { size: fleetSize }, failures: fault.scenario };
    const input = { redis, speed, scenario, rollout: policyAt(speed, rollout) };
    const night = await aDaemonNight(input, (close) => void closing.push(close));
    const [policy] = night.config.rollouts;
    const slowConfig = nightConfig(night.baseUrl, { rollout: policyAt(1, rollout) });
    const [slow] = readConfig(JSON.stringify(slowConfig)).rollouts;
    if (policy === undefined || slow === undefined) throw new Error('no policy');
    const err = new Writable({ write: (_text, _encoding, done) => done() });
    const { snapshot, targetBuild } = await readFleet(night.config, policy, { at: 0 }, { err });

    const daemon = await night.startDaemon();
    const id = await scan(daemon);
    const status = await untilAtRest(daemon, id);
    const { createdAt } = await statusOf(daemon, id);
    const [held] = (await daemon.operations.readEvents(id, 1, { type: 'rollout.held' })) ?? [];
    const tookMs = ((status.endedAt ?? held?.at ?? Date.now()) - createdAt) * speed;

    const scene: Scene = {
      ...{ targetBuild, beganAt: createdAt, requestsPerSecond, passPauseMs: 1_000 },
      snapshot: { ...fleetAsOf(snapshot.collectors, createdAt), upgradableIds: snapshot.upgradableIds },
      whatIf: {
        ...{ ...fault.whatIf, disturbances: [], gates: {}, approval: { kind: 'atOnce' } },
        durations,
      },
    };
    const isBroken = new Set(
      snapshot.collectors.filter(({ osName }) => osName.startsWith('Windows')).map((each) => each.id),
    );
    const started = new Set(night.record().creates.map(({ collectorId }) => collectorId));
    const harmed =
      fault.whatIf.breaks.length === 0 ? 0 : [...started].filter((each) => isBroken.has(each)).length;
    return {
      name: `${of.policy}; ${of.fault}`,
      real: { state: status.state, tookMs, harmed },
      scene,
      policy: slow,
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function compare({ scene, policy, name, real }: Ran): Promise<Compared> {
  const results: SeedResult[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) results.push(await playSeed(scene, policy, seed));
  const [sameSeats] = results;
  if (sameSeats === undefined) throw new Error('no seed was played');
  return { name, real, rehearsal: summarize(results, scene.beganAt), sameSeats };
}

/** The policy in the time of a daemon whose service runs so many times as fast. */
function policyAt(factor: number, of: { readonly concurrency: number; readonly waves: readonly WaveOf[] }) {
  const scaled = (durationMs: DurationMs) => `${Math.round(durationMs / factor)}ms`;
  return {
    concurrency: of.concurrency,
    isolate: 'off',
    spreadBy: ['osName'],
    waves: of.waves.map(({ soakMs: soaks, ...wave }) => ({
      ...wave,
      ...(soaks === undefined ? {} : { soak: scaled(soaks) }),
    })),
    upgrade: { deadline: scaled(30 * minute), verifyWithin: scaled(10 * minute), expect: scaled(3 * minute) },
    retry: { backoff: { initial: scaled(2 * minute), max: scaled(10 * minute) } },
  };
}

function render(compared: readonly Compared[]): string {
  const minutes = (durationMs: DurationMs) => (durationMs / minute).toFixed(0);
  const within = compared.filter(
    ({ real, rehearsal: { tookMs } }) => tookMs.best <= real.tookMs && real.tookMs <= tookMs.worst,
  ).length;
  const sameState = compared.filter(({ real, sameSeats }) => real.state === sameSeats.state).length;
  const exact = compared.filter(({ real, sameSeats }) => real.harmed === sameSeats.harmed).length;
  return table(
    `rehearsals and real rollouts, ${speed} times real speed: the end within the range in ${within} of ${compared.length}, the same state in ${sameState}, the same harm in ${exact}`,
    ['took (min)', 'rehearsed', 'median', 'harmed', 'same seats', 'rehearsed', 'state', 'same seats'],
    compared.map(({ name, real, rehearsal: { tookMs, harmed }, sameSeats }) => ({
      label: name,
      cells: [
        minutes(real.tookMs),
        `${minutes(tookMs.best)}-${minutes(tookMs.worst)}`,
        minutes(tookMs.median),
        String(real.harmed),
        String(sameSeats.harmed),
        `${harmed.best}-${harmed.worst}`,
        real.state,
        sameSeats.state,
      ],
    })),
  );
}
