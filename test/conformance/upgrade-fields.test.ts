import { expect, it } from 'vitest';
import { read } from './support/answers.ts';
import { itInProcess, itUpgrading } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList, CreatedUpgradeShape, OneUpgrade, TargetList } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();

itUpgrading(
  '§2.3 a task has the documented fields; its id is one in the create and in the status',
  async () => {
    const { api } = target();
    const [collector] = read(
      CollectorList,
      await api.get('/collectors/upgrades/collectors?limit=1'),
    ).collectors;
    if (collector === undefined) throw new Error('no collector can be upgraded');
    const created = read(
      CreatedUpgradeShape,
      await api.post('/collectors/upgrades', { collectorId: collector.id }),
    );
    const { upgrade } = read(OneUpgrade, await api.get(`/collectors/upgrades/${created.id}`));
    expect(created.id).toMatch(/^\d{1,19}$/);
    expect(String(upgrade.id)).toBe(created.id);
    expect(upgrade.collectorId).toBe(collector.id);
  },
);

itInProcess(
  '§2.3 requestTime is the instant of the request and stays; the message is empty until a failure',
  async () => {
    const { api, clock } = await aService({
      failures: [{ outcome: 'failed', message: 'not enough disk space' }],
    });
    const [collector] = read(
      CollectorList,
      await api.get('/collectors/upgrades/collectors?limit=1'),
    ).collectors;
    const requestedAt = clock.now();
    const { id } = read(
      CreatedUpgradeShape,
      await api.post('/collectors/upgrades', { collectorId: collector?.id }),
    );
    const look = async () => read(OneUpgrade, await api.get(`/collectors/upgrades/${id}`)).upgrade;
    expect(await look()).toMatchObject({ requestTime: requestedAt, message: '' });
    clock.advance(31 * 60_000);
    expect(await look()).toMatchObject({
      requestTime: requestedAt,
      status: 3,
      message: 'not enough disk space',
    });
  },
);

itInProcess('§2.3 toVersion is the target build, the latest where none was asked for', async () => {
  const { api } = await aService();
  const { targets } = read(TargetList, await api.get('/collectors/upgrades/targets'));
  const latest = targets.find((build) => build.latest)?.version;
  const { collectors } = read(CollectorList, await api.get('/collectors/upgrades/collectors?limit=2'));
  const older = targets[0]?.version;
  for (const [index, asked, expected] of [
    [0, undefined, latest],
    [1, older, older],
  ] as const) {
    const body = { collectorId: collectors[index]?.id, ...(asked === undefined ? {} : { toVersion: asked }) };
    const { id } = read(CreatedUpgradeShape, await api.post('/collectors/upgrades', body));
    const { upgrade } = read(OneUpgrade, await api.get(`/collectors/upgrades/${id}`));
    expect(upgrade.toVersion).toBe(expected);
  }
});

it('§2.4 a build on offer is a version and whether it is the latest, each offered once', async () => {
  const { targets } = read(TargetList, await target().api.get('/collectors/upgrades/targets'));
  expect(targets.length).toBeGreaterThan(0);
  expect(new Set(targets.map(({ version }) => version)).size).toBe(targets.length);
});

itInProcess('§2.4 latest goes with the newest build, when one is offered or withdrawn', async () => {
  const { api, service } = await aService();
  const latest = async () =>
    read(TargetList, await api.get('/collectors/upgrades/targets'))
      .targets.filter((build) => build.latest)
      .map(({ version }) => version);
  const [before] = await latest();
  service.world.offerBuild('20.1-1');
  expect(await latest()).toEqual(['20.1-1']);
  service.world.withdrawBuild('20.1-1');
  expect(await latest()).toEqual([before]);
});
