import { invariant } from '../../../src/base/assert.ts';
import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import { World } from '../../../src/reference-service/fleet/world.ts';
import { parseScenario } from '../../../src/reference-service/scenario/scenario.ts';
import { playSeed, type Scene, type SeedResult } from '../../../src/rehearsal/play/play-seed.ts';
import { isSettled } from '../../../src/rehearsal/result/is-settled.ts';
import { type Range, type Rehearsal, summarizeSeeds } from '../../../src/rehearsal/result/rehearsal.ts';
import type { UsualCourse } from '../../../src/rehearsal/world/fates.ts';
import { fleetAsOf } from '../../../src/rehearsal/world/virtual-service.ts';
import { drawFates } from '../../../src/rehearsal/world/what-if.ts';
import type { FleetSnapshot } from '../../../src/rollout/model/collector.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import { readConfig } from '../../support/config-fixtures.ts';
import { nightConfig } from '../../support/night/daemon-night.ts';
import { quantile } from '../quantile.ts';
import {
  type FleetSize,
  otherOf,
  policyAt,
  requestsPerSecondUsual,
  type Situation,
  scenarioFor,
} from './situations.ts';

/** How a rollout went, and what is to be rehearsed of it. Times are the service's. */
export interface Played {
  readonly name: string;
  readonly state: string;
  /** Until it ended, or was held. */
  readonly tookMs: DurationMs;
  /** Collectors for which a task was created. */
  readonly started: ReadonlySet<number>;
  /** Until nothing of it was in flight. */
  readonly requests: number;
  readonly policy: Policy;
  readonly scene: Scene;
}

/** A play beside its rehearsal. */
export interface Compared extends Pick<Played, 'name' | 'state'> {
  readonly rehearsal: Rehearsal;
  readonly figures: readonly ComparedFigure[];
}

export interface ComparedFigure {
  readonly of: 'tookMs' | 'harmed' | 'requests';
  readonly real: number;
  readonly rehearsed: Range;
  /** In the rehearsed range; for requests, close to the median. */
  readonly isMet: boolean;
}

/** How far requests may be from the rehearsed median. */
const requestsShare = 0.1;

/** Rehearses what was played. */
export async function compare(
  { name, state, scene, policy, ...real }: Played,
  seedsMax: number,
): Promise<Compared> {
  const results: SeedResult[] = [];
  for (let seed = 1; seed <= seedsMax && !isSettled(results); seed += 1)
    results.push(await playSeed(scene, policy, seed));
  const rehearsal = summarizeSeeds(results, scene.beganAt);
  const { broken } = drawFates(scene.whatIf, scene.snapshot.collectors, 1);
  const harmed = [...real.started].filter((id) => broken.has(id)).length;
  const inRange = (of: 'tookMs' | 'harmed', value: number): ComparedFigure => {
    const { best, worst } = rehearsal[of];
    return { of, real: value, rehearsed: rehearsal[of], isMet: best <= value && value <= worst };
  };
  const { requests } = rehearsal;
  const isNear = Math.abs(real.requests - requests.median) <= requests.median * requestsShare;
  const figures: readonly ComparedFigure[] = [
    inRange('tookMs', real.tookMs),
    inRange('harmed', harmed),
    { of: 'requests', real: real.requests, rehearsed: requests, isMet: isNear },
  ];
  return { name, state, rehearsal, figures };
}

/** The policy at real durations. @param closesAt when the first window closes */
export function policyOf(
  situation: Situation,
  of: { readonly closesAt: EpochMs; readonly size: FleetSize },
): Policy {
  const rollout = policyAt(1, situation, of);
  const [policy] = readConfig(
    JSON.stringify(nightConfig('https://api.example.com/api', { rollout })),
  ).rollouts;
  invariant(policy !== undefined, 'the config has one policy');
  return policy;
}

/** What is rehearsed of a situation. @param of `outage`: since its beginning */
export function sceneOf(
  { requestsPerSecond = requestsPerSecondUsual, whatIf, ...situation }: Situation,
  of: {
    readonly seed: number;
    readonly size: FleetSize;
    readonly beganAt: EpochMs;
    readonly snapshot: FleetSnapshot;
    readonly targetBuild: string;
    readonly builds: readonly string[] | undefined;
    readonly outage: Situation['outage'];
  },
): Scene {
  const { beganAt, targetBuild, builds, outage } = of;
  const { collectors, upgradableIds } = of.snapshot;
  const other = otherOf(situation);
  const disturbances = outage && [
    { from: beganAt + outage.fromMs, to: beganAt + outage.toMs, requestsPerSecond: 0 },
  ];
  return {
    ...{ targetBuild, beganAt, requestsPerSecond, passPauseMs: 1_000 },
    ...(builds && { builds }),
    ...(other && {
      others: [
        {
          policy: { ...policyOf(other, { closesAt: beganAt, size: of.size }), name: other.name },
          ...{ targetBuild, startsAt: beganAt, upgradableIds: upgradableIds ?? new Set() },
        },
      ],
    }),
    snapshot: { ...fleetAsOf(collectors, beganAt), upgradableIds },
    whatIf: {
      ...{ breaks: [], failures: { once: 0, always: 0 }, gates: {}, approval: { kind: 'atOnce' } },
      ...whatIf,
      disturbances: disturbances ?? [],
      durations: learn(situation, of),
    },
  };
}

/** How long upgrades of these collectors take, as an earlier rollout would have shown. */
function learn(
  situation: Situation,
  of: Pick<Parameters<typeof sceneOf>[1], 'seed' | 'size' | 'snapshot' | 'targetBuild'>,
): UsualCourse['durations'] {
  const { snapshot, targetBuild } = of;
  const calm = scenarioFor({ ...situation, scenario: {} }, of);
  const world = new World({ scenario: parseScenario(calm), clock: { now: () => snapshot.readAt } });
  const durations = [...(snapshot.upgradableIds ?? [])].map((collectorId) => {
    const { script, requestedAt } = world.createTask({ collectorId, toVersion: targetBuild, by: 'api' });
    return script.endsAt - requestedAt;
  });
  return { medianMs: quantile(durations, 0.5), p95Ms: quantile(durations, 0.95) };
}
