import { beforeEach, describe, expect, it } from 'vitest';
import { explainCollector } from '../../../../src/orchestrator/operations/explain-collector.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { aFleetService } from '../../../support/builders/service-builders.ts';
import {
  aCollector,
  aFleet,
  anApiBudgetStatus,
  anOutage,
  anUpgrade,
  aPolicy,
  aRollout,
  because,
  type RolloutChanges,
  someGroups,
  startedAt as t,
} from '../../../support/builders.ts';
import { aHouse, answering, away, failing, freeze, offering, over, save } from '../../../support/house.ts';

const [old, build] = ['19.441-2', '19.455-2'];
const policy = aPolicy({ spreadBy: ['osName', 'osArch'] });
const collector = aCollector({ id: 7, name: 'svr-12', build: old });
const identity = { collectorId: 7, collectorName: 'svr-12', fromBuild: old, toBuild: build };
const groups = someGroups({ strata: [{ label: 'Linux / amd64', sizes: [1] }] });
const service = aFleetService({
  findCollector: async (text) => ({
    ok: true,
    value: text === 'svr-12' || text === '7' ? collector : undefined,
  }),
  listBuilds: offering(old, build),
  readInventory: answering(aFleet(3, (id) => ({ name: `svr-2${id}` }))),
});

let house: Awaited<ReturnType<typeof aHouse>>;
beforeEach(async () => {
  house = await aHouse({ rollout: null });
});
const explain = (text: string, api = anApiBudgetStatus(), fleet = service) =>
  explainCollector(
    { ...house.parts, fleet, rollouts: () => [policy], readApiBudgetStatus: async () => api },
    text,
  );
const rollbackOf = (original: string) => ({ plan: { targetBuild: old }, rollback: { original } });
const keep = async (changes: RolloutChanges, upgrade: Upgrade) => {
  const rollout = aRollout({ policy, ...changes, plan: { targetBuild: build, ...changes.plan } });
  await freeze(house.store, rollout, [upgrade], groups);
  if (rollout.endedAt !== null) await save(house.store, rollout, {});
};

describe('a collector after a rollback', () => {
  it('is explained by the target of its policy, with its history', async () => {
    const [first, second] = ['production-20260302-1', 'production-20260302-2'];
    const tasks = [{ taskId: '41', startedAt: t - 5 }];
    const rolledBack = anUpgrade(over('rolledBack', `by ${second}`), { ...identity, tasks });
    const back = anUpgrade(
      { ...over('succeeded', 'alive'), endedAt: t + 9 },
      { ...identity, rolloutId: second, fromBuild: build, toBuild: old },
    );
    await keep({ id: first, state: 'rolledBack', endedAt: t }, rolledBack);
    const rollback = { id: second, kind: 'rollback', ...rollbackOf(first) } as const;
    await keep({ ...rollback, state: 'succeeded', endedAt: t + 9, createdAt: t + 1 }, back);

    const attempt = {
      taskId: '41',
      startedAt: t - 5,
      endedAt: t,
      state: 'rolledBack',
      reason: `by ${second}`,
    };
    expect(await explain('svr-12')).toMatchObject({
      kind: 'explained',
      collectorId: 7,
      collectorName: 'svr-12',
      build: old,
      attributes: expect.arrayContaining([{ key: 'osName', value: 'Linux' }]),
      explanations: [
        {
          kind: 'rolledBack',
          rollout: null,
          state: null,
          target: build,
          stratum: 'Linux / amd64',
          reason: `${first} to ${build} was rolled back; start it with \`upwave start production\``,
        },
      ],
      history: [
        { rollout: second, kind: 'rollback', fromBuild: build, toBuild: old, at: t + 9 },
        { rollout: first, state: 'rolledBack', reason: `by ${second}`, attempts: [attempt] },
      ],
    });
  });
});

describe('a collector of a rollout that is rolling back', () => {
  const [first, second] = ['production-20260302-1', 'production-20260302-2'];
  const upgraded = anUpgrade(
    { ...over('succeeded', 'alive'), endedAt: t },
    { ...identity, rolloutId: first },
  );
  const back = { ...identity, rolloutId: second, fromBuild: build, toBuild: old };
  const leftBehind = [
    { why: { kind: 'buildNotOffered' }, count: 1, some: [{ name: 'svr-12', had: old }] },
  ] as const;
  const rollBack = async (upgrade: Upgrade) => {
    await keep({ id: first, state: 'rollingBack', rollback: { startedAs: second, leftBehind } }, upgraded);
    const rollback = { id: second, kind: 'rollback', ...rollbackOf(first) } as const;
    await keep({ ...rollback, createdAt: t + 1 }, upgrade);
  };
  const history = [{ rollout: first, kind: 'upgrade', state: 'succeeded', fromBuild: old, toBuild: build }];

  it.each([
    ['waits for its turn back', anUpgrade({ state: 'pending' }, back), build],
    ['is back already', anUpgrade({ ...over('succeeded', 'alive'), endedAt: t + 9 }, back), old],
  ])(
    'is explained by the rollback when it %s, and the upgrade before is history',
    async (_what, upgrade, runs) => {
      await rollBack(upgrade);
      // Without an answer of the service, the build is known from the rollout.
      for (const asked of ['svr-12', '7'])
        expect(await explain(asked, anApiBudgetStatus(), aFleetService())).toMatchObject({
          build: runs,
          seen: null,
          explanations: [
            {
              ...{ kind: 'planned', rollout: second, state: upgrade.progress.state, target: old },
              reason: expect.stringMatching(
                `^the rollback of ${first} ${runs === build ? 'takes' : 'took'} it back to ${old}: .`,
              ),
            },
          ],
          history,
        });
    },
  );

  it('goes back, as soon as the rollback is asked for and has no plan yet', async () => {
    await keep({ id: first, state: 'rollingBack' }, upgraded);
    const reason = `succeeded: alive; goes back to ${old} once running upgrades have ended`;
    expect(await explain('7')).toMatchObject({ explanations: [{ rollout: first, reason }] });
  });

  it('stays, as the preview of a rollback without a plan foresaw', async () => {
    await keep({ id: first, state: 'rollingBack', rollback: { leftBehind } }, upgraded);
    const reason = expect.stringContaining(`stays on ${build}: `);
    expect(await explain('7')).toMatchObject({ explanations: [{ rollout: first, reason }] });
  });

  it('is explained by the rollout where the rollback does not take it back, with the reason', async () => {
    await rollBack(anUpgrade({ state: 'pending' }, { ...back, collectorId: 8, collectorName: 'svr-13' }));
    expect(await explain('7')).toMatchObject({
      build: old,
      explanations: [
        {
          ...{ rollout: first, state: 'succeeded' },
          reason: `stays on ${build}: the rollback left it out, because the service no longer offered ${old}, its previous build`,
        },
      ],
      history: [],
    });
  });
});

describe('a collector of an active rollout', () => {
  it('shows its stratum, its target and its attempts', async () => {
    const ended = { at: t, state: 'retrying', reason: because('no space') } as const;
    const tasks = [{ taskId: '41', startedAt: t - 5, ended }];
    const progress = { state: 'retrying', dueAt: t + 60_000, reason: ended.reason } as const;
    await keep({}, anUpgrade(progress, { ...identity, tasks }));
    const ofCollector = async () => [{ key: 'fields.rack', value: 'r7' }];
    Object.assign(house.parts.sharedAttributes, { ofCollector });
    // The service gives no answer.
    expect(await explain('svr-12', anApiBudgetStatus(), aFleetService())).toMatchObject({
      attributes: [{ key: 'fields.rack', value: 'r7' }],
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

it('names policies that select a collector before those that do not, in the order of the config', async () => {
  const named = (name: string, pattern: string) =>
    aPolicy({ name, select: { ...policy.select, include: { name: [pattern] } } });
  const rollouts = () => [named('edge', 'edge*'), named('web', '*'), named('db', 'db*'), named('all', '*')];
  const result = await explainCollector({ ...house.parts, fleet: service, rollouts }, 'svr-12');
  if (result.kind !== 'explained') throw new Error(result.kind);
  expect(result.explanations.map(({ policy: name }) => name)).toEqual(['web', 'all', 'edge', 'db']);
});

describe('what the service shows of a collector now', () => {
  it('is shown beside what the rollout knows of it', async () => {
    await keep({}, anUpgrade({ state: 'pending' }, identity));
    const shown = { ...collector, build, hostName: 'h12', alive: false, lastSeenAlive: t - 60_000 };
    const fleet = aFleetService({ findCollector: answering(shown) });
    expect(await explain('svr-12', anApiBudgetStatus(), fleet)).toMatchObject({
      build,
      seen: { hostName: 'h12', alive: false, lastSeenAt: t - 60_000 },
    });
  });
});

describe('what holds an explanation up', () => {
  it('is no slow service: it is waited for as long as a person waits', async () => {
    const slow = aFleetService({ findCollector: failing({ kind: 'cancelled', sent: true }) });
    const reason = 'the service gave no answer within 5s';
    expect(await explain('svr-12', anApiBudgetStatus(), slow)).toEqual({ kind: 'unavailable', reason });
    await keep({}, anUpgrade({ state: 'pending' }, identity));
    expect(await explain('svr-12', anApiBudgetStatus(), slow)).toMatchObject({
      kind: 'explained',
      seen: null,
    });
  });

  it.each(['svr-12', '7'])(
    'is no service that does not answer: %s is known from ended rollouts',
    async (text) => {
      await keep({ state: 'succeeded', endedAt: t }, anUpgrade(over('succeeded', 'alive'), identity));
      const cut = aFleetService({ findCollector: failing(away), listBuilds: failing(away) });
      expect(await explain(text, anApiBudgetStatus(), cut)).toMatchObject({
        ...{ kind: 'explained', collectorId: 7, collectorName: 'svr-12', build: '', seen: null },
        explanations: [
          {
            kind: 'unknown',
            reason: 'not planned, and why is unknown: HTTP 503',
          },
        ],
        history: [{ state: 'succeeded', toBuild: build }],
      });
    },
  );

  it.each(['svr-12', '7'])('is no service that does not answer: %s is known as held', async (text) => {
    await house.register.holdCollector({ collectorId: 7, name: 'svr-12', by: 'ann', reason: 'disk', at: t });
    const cut = aFleetService({ findCollector: failing(away), listBuilds: failing(away) });
    const reason =
      'held by ann: disk; `upwave release 7` makes it eligible again; not planned, and why is unknown: HTTP 503';
    expect(await explain(text, anApiBudgetStatus(), cut)).toMatchObject({
      ...{ kind: 'explained', collectorName: 'svr-12', build: '', seen: null, history: [] },
      explanations: [{ kind: 'unknown', reason }],
    });
  });

  it('fails once while Redis is away, with nothing left that fails later', async () => {
    await keep({}, anUpgrade({ state: 'pending' }, identity));
    const away = () => Promise.reject(new Error('Redis is away'));
    const parts = { ...house.parts, fleet: service, rollouts: () => [policy], readApiBudgetStatus: away };
    const store = { ...house.store, pageRollouts: away };
    await expect(explainCollector({ ...parts, store }, 'svr-12')).rejects.toThrow('Redis is away');
  });
});

describe('a collector that was withdrawn because a person held it', () => {
  const words = 'withdrawn: held by ann: broken disk; ';
  const why = { kind: 'collectorHeld', by: 'ann', words: 'broken disk' } as const;
  const withdrawn = anUpgrade({ ...over('withdrawn'), reason: why }, identity);
  const hold = () =>
    house.register.holdCollector({ collectorId: 7, name: 'svr-12', by: 'ann', reason: 'broken disk', at: t });
  const explained = async () => {
    const result = await explain('svr-12');
    return result.kind === 'explained' ? result.explanations[0] : undefined;
  };

  it('needs a release while it is held', async () => {
    await keep({}, withdrawn);
    await hold();
    const reason = `${words}\`upwave release 7\` makes it eligible again`;
    expect(await explained()).toMatchObject({ reason, until: null });
  });

  it('returns with the next scan once it is released, or with the next rollout during a rollback', async () => {
    await keep({}, withdrawn);
    house.parts.forecast = () => [t + 60_000];
    const reason = `${words}it is released, and waits for the next scan`;
    expect(await explained()).toMatchObject({ reason, until: t + 60_000 });
    house = await aHouse({ rollout: null });
    await keep({ state: 'rollingBack' }, withdrawn);
    expect(await explained()).toMatchObject({
      reason: `${words}it is released, and waits for the next rollout`,
    });
  });
});

const columnOf = (index: number, value: string) => ({
  key: policy.spreadBy[index] ?? 'id',
  values: [value],
  cells: [0],
});

describe('a collector of a group that was held just now', () => {
  const group = {
    ...{ label: 'osName=Linux', attributes: [{ key: 'osName', value: 'Linux' }] },
    ...{ by: 'ann', reason: 'broken disk', at: t },
  };
  const explained = async (...[upgrade]: readonly Upgrade[]) => {
    house = await aHouse({ rollout: null });
    if (upgrade !== undefined) await keep({}, upgrade);
    const ofCollector = () => Promise.resolve(group.attributes);
    Object.assign(house.parts.sharedAttributes, { ofCollector });
    await house.register.holdGroup(group);
    const result = await explain('svr-12');
    return result.kind === 'explained' ? result.explanations[0] : undefined;
  };
  const reasonOf = async (upgrade: Upgrade) => (await explained(upgrade))?.reason;

  it('is explained by the hold, before the rollout has moved it', async () => {
    expect(await reasonOf(anUpgrade({ state: 'pending' }, identity))).toBe(
      'group osName=Linux is held by ann: broken disk',
    );
    expect(await reasonOf(anUpgrade({ ...over('failed'), reason: because('disk full') }, identity))).toBe(
      'failed: disk full; group osName=Linux is held by ann: broken disk; `upwave release "osName=Linux"` and `upwave retry production` try it again',
    );
    expect(await reasonOf(anUpgrade({ ...over('succeeded') }, identity))).not.toContain('ann');
  });

  it('shows the stratum by `spreadBy` and names the group, before and after the rollout has moved it', async () => {
    const shown = { stratum: 'Linux / amd64', heldGroup: 'osName=Linux' };
    expect(await explained(anUpgrade({ state: 'pending' }, identity))).toMatchObject(shown);

    const { label, attributes, by, at } = group;
    const reason = { kind: 'asked', by, words: 'broken disk' } as const;
    const moved = aRollout({
      ...{ policy, plan: { targetBuild: build } },
      strata: { held: [{ stratum: 1, label, attributes, by, at, reason }] },
    });
    const strata = [
      { label: 'Linux / amd64', sizes: [0] },
      { label, attributes, sizes: [1] },
    ];
    const upgrade = anUpgrade({ state: 'pending' }, { ...identity, stratum: 1 });
    const table = { ids: [7], columns: ['Linux', 'amd64'].map((value, index) => columnOf(index, value)) };
    house = await aHouse({ rollout: null });
    await freeze(house.store, moved, [upgrade], someGroups({ strata }));
    Object.assign(house.parts.sharedAttributes, {
      tableOf: async () => table,
      ofCollector: async () => attributes,
    });
    expect(await explain('svr-12')).toMatchObject({ explanations: [shown] });
    Object.assign(house.parts.sharedAttributes, { tableOf: async () => undefined });
    expect(await explain('svr-12')).toMatchObject({ explanations: [{ ...shown, stratum: null }] });
  });
});

it('shows what the failures share only where a planned collector has it, too', async () => {
  const shared = {
    ...{ attributes: [{ key: 'osName', value: 'Linux' }], failed: 5, tried: 5 },
    ...{ elsewhere: { failed: 0, tried: 21 }, share: 0.1 },
  };
  const sharedOf = async (upgrade: Upgrade, value: string) => {
    house = await aHouse({ rollout: null });
    await keep({}, upgrade);
    const ofCollector = async () => [{ key: 'osName', value }];
    Object.assign(house.parts.sharedAttributes, { of: async () => shared, ofCollector });
    const result = await explain('svr-12');
    return result.kind === 'explained' ? result.explanations[0]?.shared : undefined;
  };
  const failed = anUpgrade({ ...over('failed'), reason: because('disk full') }, identity);
  expect(await sharedOf(failed, 'Linux')).toEqual(shared);
  expect(await sharedOf(anUpgrade({ state: 'pending' }, identity), 'Linux')).toEqual(shared);
  expect(await sharedOf(failed, 'AIX')).toBeNull();
  expect(await sharedOf(anUpgrade(over('succeeded'), identity), 'Linux')).toBeNull();
});

it('names the command that releases the held group of a collector without a rollout', async () => {
  const attributes = [{ key: 'osName', value: 'Linux' }];
  await house.register.holdGroup({ label: 'osName=Linux', attributes, by: 'ann', reason: 'disk', at: t });
  const reason = 'group osName=Linux is held by ann: disk; `upwave release "osName=Linux"` makes it eligible';
  expect(await explain('svr-12')).toMatchObject({
    explanations: [{ kind: 'held', heldGroup: 'osName=Linux', reason: expect.stringContaining(reason) }],
  });
});

describe('a name that no collector has', () => {
  it('is answered with similar names, from the plans or from the inventory', async () => {
    const nearest = ['svr-21', 'svr-22', 'svr-23'];
    expect(await explain('svr-2')).toEqual({ kind: 'unknownCollector', nearest });
    await keep({}, anUpgrade({ state: 'pending' }, identity));
    expect(await explain('svr-1')).toEqual({ kind: 'unknownCollector', nearest: ['svr-12'] });
  });

  it('is answered with those that begin with it, also where a plan has similar ones', async () => {
    await keep({}, anUpgrade({ state: 'pending' }, identity));
    expect(await explain('svr-2')).toMatchObject({ nearest: ['svr-21', 'svr-22', 'svr-23'] });
    const cut = aFleetService({ ...service, readInventory: failing(away) });
    expect(await explain('svr-2', anApiBudgetStatus(), cut)).toMatchObject({ nearest: ['svr-12'] });
  });

  it('is not looked up in the inventory while the service cannot be reached', async () => {
    const outage = anOutage({ until: t + 30_001 });
    expect(await explain('svr-2', anApiBudgetStatus({ outage }))).toMatchObject({ kind: 'unavailable' });
  });
});
