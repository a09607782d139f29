import { describe, expect, it } from 'vitest';
import {
  askForCollector,
  findPlannedCollector,
} from '../../../../src/orchestrator/operations/find-planned-collector.ts';
import {
  anApiBudgetStatus,
  anOutage,
  anUpgrade,
  aPolicy,
  aRollout,
  startedAt,
} from '../../../support/builders.ts';
import { aHouse, freeze } from '../../../support/house.ts';

// Its record is broken: no reading has it.
const unreadable = 'web-7';

describe('a collector that a person names', () => {
  it('is found in any active rollout by its id or its exact name, wherever it is in the plan', async () => {
    const upgrades = Array.from({ length: 2_500 }, (_each, index) =>
      anUpgrade(
        { state: 'pending' },
        { collectorId: 100 + index, collectorName: `web-${index}`, order: index },
      ),
    );
    // What JavaScript makes of 9007199254740993.
    upgrades.push(anUpgrade({ state: 'pending' }, { collectorId: 2 ** 53, collectorName: 'another' }));
    const { parts, store } = await aHouse({ upgrades });
    await freeze(store, aRollout({ id: 'other-20260302-1', policy: aPolicy({ name: 'other' }) }));
    const findNamed: typeof store.findNamed = async (...of) =>
      (await store.findNamed(...of)).filter(({ identity }) => identity.collectorName !== unreadable);
    const find = async (text: string) => {
      const found = await findPlannedCollector({ ...parts, store: { ...store, findNamed } }, text);
      return found?.identity.collectorId;
    };
    const ids = { '100': 100, ' 2599 ': 2_599, 'web-0': 100, 'web-1000': 1_100, 'web-2499': 2_599 };
    for (const [text, id] of Object.entries(ids)) expect(await find(text), text).toBe(id);
    for (const text of ['99', '9007199254740993', 'web-', 'WEB-1', 'web-2500', unreadable])
      expect(await find(text), text).toBeUndefined();
  });

  it.each([
    [
      30_001,
      {
        kind: 'unavailable',
        reason: 'it has to be looked up at the service, and the service asked for a pause',
      },
      [],
    ],
    [30_000, { kind: 'none' }, ['web-1']],
  ])(
    'is looked up at the service only when a request can be sent in time: in %i ms',
    async (leavesInMs, answer, asks) => {
      const asked: string[] = [];
      const findCollector = async (text: string) => {
        asked.push(text);
        return { ok: true, value: undefined } as const;
      };
      const { parts } = await aHouse({ fleet: { findCollector } });
      const outage = anOutage({ until: startedAt + leavesInMs });
      const api = anApiBudgetStatus({ outage });
      expect(await askForCollector({ ...parts, readApiBudgetStatus: async () => api }, 'web-1')).toEqual(
        answer,
      );
      expect(asked).toEqual(asks);
    },
  );
});
