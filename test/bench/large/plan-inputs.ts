import type { FleetCollector, FleetSnapshot } from '../../../src/rollout/model/collector.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import { readConfig } from '../../support/config-fixtures.ts';
import { benchConfig } from '../bench-config.ts';

/** The policy of the benchmarks, as the config file has it. */
export function benchPolicy(): Policy {
  const to = {
    baseUrl: 'http://127.0.0.1:9',
    credentials: { accessId: 'id', accessKey: 'key' },
    redisUrl: '/none',
  };
  const config = benchConfig({ slots: 50, speed: 1, expectMs: 300_000 }, to, { schedule: '*/15 * * * *' });
  const [policy] = readConfig(JSON.stringify(config)).rollouts;
  if (policy === undefined) throw new Error('the config of the benchmarks has a policy');
  return policy;
}

/** A fleet of so many collectors that can all be upgraded. */
export function makeFleet(collectors: number): FleetSnapshot {
  const readAt = Date.parse('2026-03-02T21:00:00Z');
  const all = Array.from({ length: collectors }, (_, index): FleetCollector => {
    const name = `prod-web-${String(index).padStart(6, '0')}`;
    return {
      id: 100_000_000 + index,
      name,
      category: `prod/web/${index % 40}`,
      hostName: `${name}.example.com`,
      osName: index % 3 === 0 ? 'Windows Server 2019' : 'Linux',
      osArch: 'amd64',
      build: index % 2 === 0 ? '19.441-2' : '19.506-1',
      alive: true,
      lastSeenAlive: readAt,
      ephemeral: false,
      sourceSyncMode: 'UI',
      timeZone: 'Etc/UTC',
      fields: { environment: 'prod', cluster: `prod-${index % 12}` },
    };
  });
  return {
    readAt,
    serviceAt: readAt,
    collectors: all,
    upgradableIds: new Set(all.map(({ id }) => id)),
    offeredAt: readAt,
  };
}
