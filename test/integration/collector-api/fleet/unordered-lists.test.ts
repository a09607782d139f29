import { describe, expect, it } from 'vitest';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { openReferenceService } from '../../../support/reference-client.ts';
import { aCollectorApi } from '../../../support/setup/collector-api-setup.ts';

const target = '19.536-4';

/** Reads the fleet of a service. @returns its collectors, those that can be upgraded, and how many requests that took */
async function readFleet(httpFaults: ScenarioInput['httpFaults'], pageSize: number) {
  const { service } = await openReferenceService({ fleet: { size: 300 }, httpFaults });
  const api = await aCollectorApi(() => {}, {
    ...{ baseUrl: service.url, accessId: 'anid', accessKey: 'akey', pageSize },
  });
  const answer = await api.fleet.readFleet(target);
  if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
  const ids = new Set(answer.value.collectors.map(({ id }) => id));
  return { ids, upgradable: answer.value.upgradableIds, requests: api.seen.length };
}

describe('lists without a stable order, over HTTP', () => {
  it.each([50, 200])('are read whole in pages of %i', async (pageSize) => {
    const lists = ['listCollectors', 'listUpgradableCollectors'] as const;
    const ordered = await readFleet([], pageSize);
    const shuffled = await readFleet([{ operations: [...lists], share: 1, fault: 'shuffledList' }], pageSize);
    expect(ordered.upgradable.size).toBeGreaterThan(pageSize);
    expect(shuffled.ids).toEqual(ordered.ids);
    expect(shuffled.upgradable).toEqual(ordered.upgradable);
    // One more page for each list, which shows it whole.
    expect(shuffled.requests).toBe(ordered.requests + 2);
  });
});
