import type { DrawCollector } from '../../../src/reference-service/fleet/fleet-generator.ts';
import type { TaskScript } from '../../../src/reference-service/fleet/task-script.ts';
import { drawTaskScript } from '../../../src/reference-service/fleet/task-script.ts';
import type { UpgradeOutcome } from '../../../src/reference-service/fleet/upgrade-outcome.ts';
import type { AcceptedUpgrade } from '../../../src/reference-service/fleet/upgrade-tasks.ts';
import { parseScenario, type Scenario } from '../../../src/reference-service/scenario/scenario.ts';
import { type Chances, makeChances } from '../chances.ts';
import { zones } from '../random-policy.ts';
import type { FaultKind, Setup } from '../setup.ts';

export const firstTarget = '19.536-4';
export const newerBuild = '19.540-1';
export const oldBuilds = ['19.403-1', '19.426-3', '19.441-2'] as const;
/** It was never on offer, and lies between the old ones and the target. */
const otherBuild = '19.506-1';

/** One of the clusters that the first target may break, which no policy knows. */
const badCluster = 'c1';

/** What a night's service is made from. */
export interface FleetDraw {
  readonly setup: Setup;
  readonly chances: Chances;
  readonly isOurs: boolean;
  /** How long an upgrade usually takes. */
  readonly expectMs: number;
  readonly struck: (kind: FaultKind) => void;
  /** Whether the night is steered to have this happen now. */
  readonly wants: (kind: FaultKind) => boolean;
}

/** The scenario of a night's service: its builds, and how long upgrades take. */
export function drawScenario({ setup, chances, expectMs }: Omit<FleetDraw, 'struck' | 'wants'>): Scenario {
  const median = Math.round(expectMs * chances.between(0.6, 1));
  const ms = (duration: number) => `${Math.round(duration)}ms`;
  return parseScenario({
    fleet: { size: setup.collectors, seed: setup.seed },
    builds: [...oldBuilds, { version: otherBuild, offered: false }, firstTarget],
    // 95 of 100 end below four medians.
    durations: { median: ms(median), p95: ms(4 * median), incrementFromBuildsBehind: null },
  });
}

/** Draws the collectors of a night. @param firstId ids of two accounts may meet or not */
export function makeDrawCollector({ setup, chances, isOurs }: FleetDraw, firstId: number): DrawCollector {
  const clusters = Math.max(1, Math.round(setup.collectors / chances.pick([2, 4, 10])));
  const oneBuild = chances.hit(0.5);
  /** Where a cluster is broken, it is large enough to be noticed. */
  const clusterOf = (id: number): string | undefined => {
    const drawn = chances.hit(0.8) ? `c${chances.int(1, clusters)}` : undefined;
    const isLarge = setup.faults.badCluster > 0 && makeChances(setup.seed, `cluster of ${id}`).hit(0.35);
    return isLarge ? badCluster : drawn;
  };
  return (index, now) => {
    const id = firstId + index;
    const version = oneBuild ? oldBuilds[2] : chances.pick(oldBuilds);
    const cluster = clusterOf(id);
    return {
      facts: {
        id,
        collectorType: 'Installable',
        name: `${isOurs ? 'collector' : 'other'}-${id}`,
        category: chances.hit(0.5) ? '' : chances.pick(['web', 'db']),
        hostName: `host-${id}`,
        osName: chances.hit(0.05) ? 'Mac OS X' : chances.pick(['Linux', 'Linux', 'Windows']),
        osArch: chances.pick(['amd64', 'amd64', 'amd64', 'arm64']),
        ephemeral: chances.hit(0.03),
        sourceSyncMode: 'UI',
        timeZone: chances.hit(0.1) ? chances.pick(['', 'Foo/Bar']) : chances.pick(zones),
        fields: cluster === undefined ? {} : { cluster },
      },
      showsOsTime: false,
      deadAfterMs: chances.int(1, 30) * 60_000,
      life: { kind: 'up', upSince: now - chances.int(60, 3_600) * 1_000, version },
      pending: [],
    };
  };
}

const messages = [
  'download failed',
  'permission denied',
  'not enough space',
  'timed out',
  '',
  'gremlins',
] as const;

/** Draws the courses of a night's tasks, as the scenario's own are, with the night's faults as their outcomes. */
export function makeDrawScript(of: FleetDraw): (accepted: AcceptedUpgrade) => TaskScript {
  const { setup, struck, wants } = of;
  const drawn = of.chances.pick(['Linux/amd64', 'Linux/arm64', 'Windows/amd64'] as const);
  // A stratum that most collectors have is no outlier.
  const badStratum = setup.leansTo.includes('strata') ? 'Windows/amd64' : drawn;
  const creates = new Map<number, number>();
  return (accepted) => {
    const { id } = accepted.facts;
    const count = (creates.get(id) ?? 0) + 1;
    creates.set(id, count);
    const chances = makeChances(setup.seed, `fate/${id}/${count}`);
    const isIncremental = chances.hit(setup.faults.taskIntermediate) || wants('taskIntermediate');
    if (isIncremental) struck('taskIntermediate');
    const { durations } = accepted.scenario;
    return drawTaskScript({
      ...accepted,
      scenario: {
        ...accepted.scenario,
        durations: { ...durations, incrementFromBuildsBehind: isIncremental ? 2 : null },
      },
      outcome: drawOutcome(of, accepted, { chances, count, badStratum }),
    });
  };
}

function drawOutcome(
  { setup: { seed, faults }, struck, wants }: FleetDraw,
  { facts, toVersion }: AcceptedUpgrade,
  {
    chances,
    count,
    badStratum,
  }: { readonly chances: Chances; readonly count: number; readonly badStratum: string },
): Exclude<UpgradeOutcome, { kind: 'createCode' }> {
  const strikes = (kind: FaultKind, by = chances): boolean => {
    const hits = by.hit(faults[kind]) || wants(kind);
    if (hits) struck(kind);
    return hits;
  };
  const isTarget = toVersion === firstTarget;
  const failed = { kind: 'failed', message: chances.pick(messages) } as const;
  const lost = { kind: chances.pick(['lost', 'lostOnBuild', 'lostInUpgrade'] as const) } as const;
  const isBad = `${facts.osName}/${facts.osArch}` === badStratum && isTarget;
  if (isBad && strikes('badStratum')) return chances.hit(0.2) ? { kind: 'lostOnBuild' } : failed;
  const breaksCluster = facts.fields?.['cluster'] === badCluster && isTarget;
  if (breaksCluster && strikes('badCluster', makeChances(seed, `cluster/${facts.id}/${count}`)))
    return failed;
  if (strikes('taskFails')) return failed;
  if (strikes('taskStuck')) return { kind: 'timeout' };
  if (strikes('taskLost')) return lost;
  if (strikes('taskOtherBuild')) return { kind: 'otherBuild', build: otherBuild };
  if (strikes('taskLateSuccess')) return { kind: 'lateSuccess' };
  // One that a build silences is silent after each of its upgrades to that.
  if (isTarget && strikes('silenced', makeChances(seed, `silenced/${facts.id}`))) return { kind: 'silent' };
  return { kind: 'succeeded' };
}
