import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { Random } from '../scenario/random.ts';

export type NameKind = 'linux' | 'windows' | 'mac' | 'container' | 'hosted';

/** Names that careless clients mishandle, each for one collector of a large enough fleet. */
const oddNames: Readonly<Record<number, string>> = {
  11: 'Zürich – Rechenzentrum 7',
  23: 'prod-'.padEnd(serviceLimits.collectorNameLengthMax, 'x'),
  31: 'Billing-Worker',
  32: 'billing-worker',
  41: 'Staging Area',
  53: 'Cloud/Dev/Containers',
  67: '東京-web-01',
};

/** Draws the name of the collector with this index, in the styles of field-facts.md, A realistic fleet. */
export function drawCollectorName(random: Random, index: number, kind: NameKind): string {
  switch (kind) {
    case 'container':
      return `collector_container-${characters(random, '0123456789abcdef', 12)}`;
    case 'mac':
      return `${random.pick(['anna', 'ben', 'chika', 'dmitri'])}s-MacBook-Pro-${index}`;
    case 'hosted':
      return `${random.pick(['aws-s3', 'azure-events', 'gcp-logs'])}-hosted-${index}`;
    case 'windows':
      return (
        oddNames[index] ??
        (random.chance(0.6)
          ? `EC2AMAZ-${characters(random, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', 7)}`
          : `svr${String(index).padStart(3, '0')}.example.com`)
      );
    case 'linux':
      return oddNames[index] ?? linuxName(random, index);
  }
}

function linuxName(random: Random, index: number): string {
  const style = random.next();
  if (style < 0.4) {
    return `ip-10-${random.integer(0, 31)}-${random.integer(0, 255)}-${random.integer(1, 254)}.ec2.internal`;
  }
  if (style < 0.85) {
    const role = random.pick(['web', 'api', 'db', 'cache', 'queue', 'batch']);
    return `${random.pick(['prod', 'prod', 'staging', 'dev'])}-${role}-${String(index).padStart(3, '0')}`;
  }
  return `svr${String(index).padStart(3, '0')}.example.com`;
}

function characters(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[random.integer(0, alphabet.length - 1)]).join('');
}
