import { describe, expect, it } from 'vitest';
import {
  askForCollector,
  findPlannedCollector,
} from '../../../../src/orchestrator/operations/find-collector.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import type { ApiBudgetStatus } from '../../../../src/rollout/status/api-budget-status.ts';
import { anApiBudgetStatus, anUpgrade, aStandstill, startedAt } from '../../../support/builders.ts';

// Its record is broken: no page has it.
const unreadable = 'web-7';

function someParts({
  upgrades = [],
  api = anApiBudgetStatus(),
}: {
  upgrades?: readonly Upgrade[];
  api?: ApiBudgetStatus;
}) {
  const asked: string[] = [];
  const parts = {
    store: {
      activeRolloutIds: async () => ['other-20260302-1', 'production-20260302-1'],
      loadUpgrades: async (rolloutId: string, ids: readonly number[]) => ({
        upgrades: upgrades.filter(
          (each) => each.identity.rolloutId === rolloutId && ids.includes(each.identity.collectorId),
        ),
        unreadable: [],
      }),
      listUpgrades: async (rolloutId: string, { offset, limit }: { offset: number; limit: number }) =>
        upgrades
          .filter((each) => each.identity.rolloutId === rolloutId)
          .slice(offset, offset + limit)
          .filter(({ identity: { collectorName } }) => collectorName !== unreadable),
    },
    policies: ['other', 'production'],
    clock: { now: () => startedAt },
    readApiBudgetStatus: async () => api,
    fleet: {
      findCollector: async (text: string) => {
        asked.push(text);
        return { ok: true, value: undefined } as const;
      },
    },
  };
  return { parts, asked };
}

describe('a collector that a person names', () => {
  const upgrades = Array.from({ length: 2_500 }, (_each, index) =>
    anUpgrade({ state: 'pending' }, { collectorId: 100 + index, collectorName: `web-${index}` }),
  );
  // What JavaScript makes of 9007199254740993.
  upgrades.push(anUpgrade({ state: 'pending' }, { collectorId: 2 ** 53, collectorName: 'another' }));

  it('is found in any rollout on its way, by its id and by its exact name, wherever it stands', async () => {
    const { parts } = someParts({ upgrades });
    for (const [text, id] of [
      ['100', 100],
      [' 2599 ', 2_599],
      ['web-0', 100],
      ['web-1000', 1_100],
      ['web-2499', 2_599],
    ] as const) {
      expect((await findPlannedCollector(parts, text))?.identity.collectorId, text).toBe(id);
    }
    for (const text of ['99', '9007199254740993', 'web-', 'WEB-1', 'web-2500', unreadable]) {
      expect(await findPlannedCollector(parts, text), text).toBeUndefined();
    }
  });

  it('is not asked for while no request leaves before he has given up', async () => {
    const until = (at: number) => ({ api: anApiBudgetStatus({ standstill: aStandstill({ until: at }) }) });
    const long = someParts(until(startedAt + 30_001));
    expect(await askForCollector(long.parts, 'web-1')).toEqual({
      kind: 'unavailable',
      reason: 'it has to be asked for, and the service asked for a pause',
    });
    expect(long.asked).toEqual([]);
    const short = someParts(until(startedAt + 30_000));
    expect(await askForCollector(short.parts, 'web-1')).toEqual({ kind: 'none' });
    expect(short.asked).toEqual(['web-1']);
  });
});
