import { z } from 'zod';
import { compareBuildVersions } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { DrawCollector } from './fleet-generator.ts';
import { CollectorFacts, type SimulatedCollector } from './simulated-collector.ts';

/** What has to be readable of a row of `GET /collectors`. */
const Row = z.looseObject({
  id: z.number().int().positive(),
  name: z.string().min(1),
  collectorType: z.enum(['Installable', 'Hosted']),
  ephemeral: z.boolean().default(false),
  collectorVersion: z.string().default(''),
  alive: z.boolean().default(true),
  lastSeenAlive: z.number().optional(),
});
type Row = z.infer<typeof Row>;

/** The collectors of a real account, as its list shows them. */
export type ListedFleet = readonly Row[];

const List = z.object({ collectors: z.array(z.unknown()) });

/** Reads the answer of `GET /collectors`. @returns its readable rows; undefined where there is none */
export function readListedFleet(data: unknown): ListedFleet | undefined {
  const list = List.safeParse(data);
  const rows = list.data?.collectors.flatMap((row) => Row.safeParse(row).data ?? []) ?? [];
  return rows.length === 0 ? undefined : rows;
}

/** The scenario with this fleet. Builds that only its collectors run are not on offer. */
export function withListedFleet(scenario: Scenario, fleet: ListedFleet): Scenario {
  const known = new Set(scenario.builds.map(({ version }) => version));
  const run = new Set(fleet.map(({ collectorVersion }) => collectorVersion));
  const older = [...run]
    .filter((version) => version !== '' && !known.has(version))
    .sort((a, b) => compareBuildVersions(a, b) ?? 0)
    .map((version) => ({ version, offered: false, latest: false, offeredAfter: 0 }));
  return {
    ...scenario,
    fleet: { ...scenario.fleet, size: fleet.length },
    builds: [...older, ...scenario.builds],
  };
}

/** Draws the collectors of the list in its order. */
export function drawListed(fleet: ListedFleet): DrawCollector {
  return (index, now) => {
    const row = fleet[index];
    return row === undefined ? undefined : simulated(row, now);
  };
}

/** New collectors get ids above this. */
export function highestId(fleet: ListedFleet): number {
  return fleet.reduce((highest, { id }) => Math.max(highest, id), 0);
}

/** Shown by the service, but no part of what a client can set. */
const transient: ReadonlySet<string> = new Set([
  'alive',
  'collectorVersion',
  'lastSeenAlive',
  'osTime',
  'links',
]);

function simulated(row: Row, now: EpochMs): SimulatedCollector {
  const { alive, collectorVersion: version, lastSeenAlive = now } = row;
  const known = Object.entries(CollectorFacts.shape).flatMap(([key, schema]) => {
    const value = schema.safeParse(row[key]);
    return value.success && row[key] !== undefined ? [[key, value.data]] : [];
  });
  const others = Object.entries(row).filter(([key]) => !transient.has(key) && !(key in CollectorFacts.shape));
  const lastHeartbeatAt = Math.min(lastSeenAlive, now - serviceLimits.deadAfterMs);
  return {
    facts: CollectorFacts.parse({ ...Object.fromEntries(known), unknown: Object.fromEntries(others) }),
    showsOsTime: row['osTime'] !== undefined,
    life: alive ? { kind: 'up', upSince: now, version } : { kind: 'down', lastHeartbeatAt, version },
    pending: [],
  };
}
