import { seededChance } from '../../../src/base/chance.ts';
import type { EpochMs } from '../../../src/base/time.ts';
import type { FleetCollector, FleetSnapshot } from '../../../src/rollout/model/collector.ts';

/** A fleet in which the target build breaks one stratum. */
export interface Fleet {
  readonly snapshot: FleetSnapshot;
  /** Collectors that the build breaks: none of their upgrades goes well. */
  readonly broken: ReadonlySet<number>;
  readonly brokenLabel: string;
  readonly strata: number;
}

export const fleetSize = 10_000;
export const targetBuild = '19.540-2';
export const beganAt: EpochMs = Date.parse('2026-03-02T08:00:00Z');

/** With their shares in percent (field-facts.md, A realistic fleet); Macs are left out, as policies do by default. */
const systems = [
  { osName: 'Linux', osArch: 'amd64', share: 57 },
  { osName: 'Linux', osArch: 'aarch64', share: 6.3 },
  { osName: 'Windows Server 2019', osArch: 'amd64', share: 14 },
  { osName: 'Windows Server 2016', osArch: 'amd64', share: 9.5 },
  { osName: 'Windows Server 2022', osArch: 'amd64', share: 6 },
  { osName: 'Windows Server 2012 R2', osArch: 'amd64', share: 3.5 },
  { osName: 'Windows Server 2016', osArch: 'x86', share: 0.5 },
  { osName: 'Windows Server 2012 R2', osArch: 'x86', share: 0.2 },
  { osName: 'Windows Server 2008 R2', osArch: 'amd64', share: 1.5 },
  { osName: 'SunOS', osArch: 'sparc', share: 1.5 },
] as const;

const builds = [
  { build: '19.536-4', share: 25 },
  { build: '19.533-5', share: 20 },
  { build: '19.525-63', share: 14 },
  { build: '19.506-1', share: 12 },
  { build: '19.484-2', share: 9 },
  { build: '19.456-3', share: 6 },
  { build: '19.441-2', share: 5 },
  { build: '19.418-8', share: 3 },
  { build: '19.403-1', share: 2 },
  { build: '19.361-18', share: 1.5 },
  { build: '19.319-4', share: 1 },
  { build: '19.288-10', share: 0.8 },
  { build: '19.227-15', share: 0.5 },
  { build: '19.182-43', share: 0.2 },
] as const;

// No two fleets alike: each share is up to so many times as large or as small.
const shareSpread = 1.3;

/**
 * Draws a fleet of which every collector can be upgraded, so that all of it is planned.
 * @param share of the fleet that the broken stratum has about; the one whose size is nearest is taken
 */
export function drawFleet(seed: number, share: number): Fleet {
  const chance = seededChance(seed);
  const drawSystem = weighted(systems, chance);
  const drawBuild = weighted(builds, chance);
  const collectors = Array.from({ length: fleetSize }, (_, index) =>
    aCollector(100_000_000 + index, { ...drawSystem(), ...drawBuild() }),
  );
  const strata = new Map<string, number[]>();
  for (const { id, osName, osArch, build } of collectors) {
    const label = `${osName} / ${osArch} / ${build}`;
    const members = strata.get(label) ?? [];
    strata.set(label, members);
    members.push(id);
  }
  const distance = ([, members]: readonly [string, readonly number[]]) =>
    Math.abs(Math.log(members.length / (share * fleetSize)));
  const [nearest] = [...strata].sort((a, b) => distance(a) - distance(b) || (a[0] < b[0] ? -1 : 1));
  return {
    snapshot: {
      readAt: beganAt,
      serviceAt: beganAt,
      collectors,
      upgradableIds: new Set(collectors.map(({ id }) => id)),
      offeredAt: null,
    },
    broken: new Set(nearest?.[1]),
    brokenLabel: nearest?.[0] ?? '',
    strata: strata.size,
  };
}

function aCollector(id: number, kind: Pick<FleetCollector, 'osName' | 'osArch' | 'build'>): FleetCollector {
  const { osName, osArch, build } = kind;
  return {
    id,
    name: `collector-${id}`,
    category: 'prod/web',
    hostName: `collector-${id}`,
    osName,
    osArch,
    build,
    alive: true,
    lastSeenAlive: beganAt,
    ephemeral: false,
    sourceSyncMode: 'UI',
    timeZone: 'Etc/UTC',
    fields: {},
  };
}

function weighted<T extends { readonly share: number }>(rows: readonly T[], chance: () => number): () => T {
  let sum = 0;
  const edges = rows.map((row) => {
    sum += row.share * shareSpread ** (2 * chance() - 1);
    return { row, edge: sum };
  });
  return () => {
    const drawn = chance() * sum;
    const found = edges.find(({ edge }) => drawn < edge) ?? edges.at(-1);
    if (found === undefined) throw new Error('nothing to draw from');
    return found.row;
  };
}
