import { beforeEach, describe, expect, it } from 'vitest';
import { explainCollector } from '../../../../src/orchestrator/operations/explain-collector.ts';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import {
  aCollector,
  aFleet,
  aFleetService,
  anApiBudgetStatus,
  anUpgrade,
  aPolicy,
  aRollout,
  aStandstill,
  because,
  someGroups,
  startedAt as t,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';

const [old, build] = ['19.441-2', '19.455-2'];
const collector = aCollector({ id: 7, name: 'svr-12', build: old });
const policy = aPolicy({ name: 'production', spreadBy: ['osName', 'osArch'] });
const fleet: Partial<FleetService> = {
  findCollector: async (text) => ({
    ok: true,
    value: text === 'svr-12' || text === '7' ? collector : undefined,
  }),
  listBuilds: async () => ({
    ok: true,
    value: [
      { version: build, latest: true },
      { version: old, latest: false },
    ],
  }),
  readInventory: async () => ({ ok: true, value: aFleet(3, (id) => ({ name: `svr-2${id}` })) }),
};

let store: ReturnType<typeof makeMemoryRolloutStore>;
const explain = (text: string, api = anApiBudgetStatus(), answers = fleet) =>
  explainCollector(
    {
      ...quietParts,
      store,
      register: makeMemoryFleetRegister(),
      fleet: aFleetService(answers),
      rollouts: [policy],
      scans: makeMemoryScanBook(),
      forecast: () => [],
      readApiBudgetStatus: async () => api,
    },
    text,
  );
const freeze = async (changes: Partial<Rollout>, upgrade?: Upgrade) => {
  const rollout = aRollout({ policy, targetBuild: build, ...changes });
  const groups = someGroups({ strata: [{ label: 'Linux / amd64', sizes: [1] }] });
  await store.freeze({ rollout, upgrades: upgrade === undefined ? [] : [upgrade], groups, events: [] });
  if (changes.endedAt === undefined || changes.endedAt === null) return;
  await store.saveRollout(
    { rollout: { ...rollout, rev: rollout.rev + 1 }, expectedRev: rollout.rev, events: [], brake: 'set' },
    null,
  );
};
const ended = { endedAt: t, weight: 0, lost: false } as const;
const tasks = [{ taskId: '41', startedAt: t - 5 }];

beforeEach(() => {
  store = makeMemoryRolloutStore();
});

describe('a collector after a rollback', () => {
  it('is explained by the target of its policy, with what it went through', async () => {
    const identity = { collectorId: 7, collectorName: 'svr-12', fromBuild: old, toBuild: build };
    const [first, second] = ['production-20260302-1', 'production-20260302-2'];
    const takenBack = anUpgrade(
      { state: 'rolledBack', reason: because(`by ${second}`), ...ended },
      { ...identity, tasks },
    );
    const back = anUpgrade(
      { state: 'succeeded', reason: because('alive'), ...ended, endedAt: t + 9 },
      { ...identity, rolloutId: second, fromBuild: build, toBuild: old },
    );
    await freeze({ id: first, state: 'rolledBack', endedAt: t }, takenBack);
    const rollback = { id: second, kind: 'rollback', rollbackOf: first, targetBuild: old } as const;
    await freeze({ ...rollback, state: 'succeeded', endedAt: t + 9, createdAt: t + 1 }, back);

    expect(await explain('svr-12')).toEqual({
      kind: 'explained',
      collectorId: 7,
      collectorName: 'svr-12',
      build: old,
      explanations: [
        {
          kind: 'rolledBack',
          policy: 'production',
          rollout: null,
          wave: null,
          state: null,
          target: build,
          stratum: 'Linux / amd64',
          attempts: [],
          rule: null,
          reason: `${first} to ${build} was rolled back; start it with \`upwave start production\``,
          until: null,
        },
      ],
      history: [
        expect.objectContaining({
          rollout: second,
          kind: 'rollback',
          fromBuild: build,
          toBuild: old,
          at: t + 9,
        }),
        expect.objectContaining({
          rollout: first,
          state: 'rolledBack',
          reason: `by ${second}`,
          attempts: [
            { taskId: '41', startedAt: t - 5, endedAt: t, state: 'rolledBack', reason: `by ${second}` },
          ],
        }),
      ],
    });
  });
});

describe('a collector of a rollout on its way', () => {
  it('shows its stratum, its target and its attempts', async () => {
    const ending = { at: t, state: 'retrying', reason: because('no space') } as const;
    const upgrade = anUpgrade(
      { state: 'retrying', dueAt: t + 60_000, reason: because('no space') },
      {
        collectorId: 7,
        collectorName: 'svr-12',
        toBuild: build,
        tasks: [{ taskId: '41', startedAt: t - 5, ended: ending }],
      },
    );
    await freeze({}, upgrade);
    // Nobody asks the service about it.
    expect(await explain('svr-12', anApiBudgetStatus(), {})).toMatchObject({
      explanations: [
        {
          kind: 'planned',
          state: 'retrying',
          target: build,
          stratum: 'Linux / amd64',
          attempts: [{ taskId: '41', startedAt: t - 5, endedAt: t, state: 'retrying', reason: 'no space' }],
        },
      ],
      history: [],
    });
  });
});

describe('a name that no collector has', () => {
  it('is answered with the nearest ones, of the plans or of the inventory', async () => {
    expect(await explain('svr-2')).toEqual({
      kind: 'unknownCollector',
      nearest: ['svr-21', 'svr-22', 'svr-23'],
    });
    await freeze({}, anUpgrade({ state: 'pending' }, { collectorId: 7, collectorName: 'svr-12' }));
    expect(await explain('svr-1')).toEqual({ kind: 'unknownCollector', nearest: ['svr-12'] });
  });

  it('is not looked up in the inventory while nothing can be asked', async () => {
    const standstill = aStandstill({ until: t + 30_001 });
    expect(await explain('svr-2', anApiBudgetStatus({ standstill }))).toMatchObject({ kind: 'unavailable' });
  });
});
