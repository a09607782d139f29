import { seededChance } from '../../../src/base/chance.ts';
import { runAtOnce } from '../../../src/base/steps.ts';
import {
  type Attribute,
  type AttributeTable,
  formatAttributes,
  membersWith,
  tabulateAttributes,
} from '../../../src/rollout/model/attributes.ts';
import type { FleetCollector } from '../../../src/rollout/model/collector.ts';
import { drawFleet, type Fleet, fleetSize } from './draw-fleet.ts';

/** What the build breaks, as a share of the fleet: collectors with one value, or with a pair of values. */
export type Hidden =
  | { readonly kind: 'value' | 'pair'; readonly share: number }
  /** Nobody: the build is good. */
  | { readonly kind: 'nobody' };

export interface AttributedFleet extends Fleet {
  readonly table: AttributeTable;
}

const racks = 200;
const roles = ['web', 'db', 'cache', 'queue', 'mail', 'batch', 'auth', 'search', 'edge', 'log'] as const;
const zones = ['Etc/UTC', 'Europe/Berlin', 'America/New_York', 'America/Los_Angeles', 'Asia/Tokyo'] as const;
const sourceTypes = ['file', 'syslog', 'script', 'windowsEvents', 'docker', 'kafka', 'snmp', 'http'] as const;

/**
 * Draws a fleet whose collectors have 12 attributes, of which the policy spreads by three. Racks are in data centres, and a
 * data centre is in a time zone: attributes go together, as in a real fleet.
 */
export function hideAttribute(seed: number, hidden: Hidden): AttributedFleet {
  const fleet = drawFleet(seed, 0.01);
  const chance = seededChance(seed ^ 0xa77);
  const collectors = fleet.snapshot.collectors.map((collector) => withAttributes(collector, chance));
  const table = runAtOnce(tabulateAttributes(collectors));
  const broken = hidden.kind === 'nobody' ? [] : drawHidden(table, hidden, chance);
  return {
    snapshot: { ...fleet.snapshot, collectors },
    strata: fleet.strata,
    table,
    broken: new Set(broken.length === 0 ? [] : membersWith(table, broken)),
    brokenLabel: formatAttributes(broken),
  };
}

function withAttributes(collector: FleetCollector, chance: () => number): FleetCollector {
  const below = (count: number) => Math.floor(count * chance());
  // The first ones of each list are the most frequent.
  const skewed = (count: number) => Math.floor(count * chance() ** 2);
  const rack = below(racks);
  const centre = rack % 10;
  const role = roles[skewed(roles.length)] ?? 'web';
  return {
    ...collector,
    category: `prod/${role}/${skewed(4)}`,
    hostName: `${role}-dc${centre}-${collector.id}`,
    timeZone: zones[centre % zones.length] ?? 'Etc/UTC',
    sourceSyncMode: chance() < 0.3 ? 'JSON' : 'UI',
    fields: {
      rack: `r${rack}`,
      datacentre: `dc${centre}`,
      team: `team-${skewed(25)}`,
      tier: ['gold', 'silver', 'bronze'][skewed(3)] ?? 'bronze',
      sourceType: sourceTypes[skewed(sourceTypes.length)] ?? 'file',
    },
  };
}

// Nobody spreads by these here; the build and the system are what `spreadBy` has.
const spread: ReadonlySet<string> = new Set(['osName', 'osArch', 'collectorVersion', 'ephemeral']);

// A pair is one only where each value alone also has many who are well.
const pairSpare = 3;

/** One of the values, or pairs, whose share of the fleet is nearest to the one wanted. */
function drawHidden(
  table: AttributeTable,
  { kind, share }: Exclude<Hidden, { kind: 'nobody' }>,
  chance: () => number,
): readonly Attribute[] {
  const singles = table.columns.flatMap(({ key, values }) =>
    values.map((value) => {
      const attributes = [{ key, value }];
      return { attributes, members: new Set(membersWith(table, attributes)) };
    }),
  );
  const values = singles.filter(({ attributes: [first] }) => first !== undefined && !spread.has(first.key));
  const sized = singles.filter(({ members }) => members.size >= pairSpare * share * fleetSize);
  const descriptions =
    kind === 'value'
      ? values.map(({ attributes, members }) => ({ attributes, size: members.size }))
      : sized.flatMap((one, index) =>
          sized.slice(index + 1).flatMap((other) => {
            const keys = [one, other].map(({ attributes: [first] }) => first?.key ?? '');
            // A pair that is a stratum of the policy is held as that.
            if (keys[0] === keys[1] || keys.every((key) => spread.has(key))) return [];
            let size = 0;
            for (const id of one.members) if (other.members.has(id)) size += 1;
            const isNested = size * pairSpare > Math.min(one.members.size, other.members.size);
            return isNested ? [] : [{ attributes: [...one.attributes, ...other.attributes], size }];
          }),
        );
  const distance = ({ size }: { readonly size: number }) => Math.abs(Math.log(size / (share * fleetSize)));
  const near = descriptions.filter(({ size }) => size > 0).sort((a, b) => distance(a) - distance(b));
  const drawn = near[Math.floor(Math.min(near.length, 8) * chance())];
  if (drawn === undefined) throw new Error(`nothing of ${share * 100} % to break`);
  return drawn.attributes;
}
