import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();

const create = (api: Api, body: unknown) => api.post('/collectors/upgrades', body);
const refusedWith = (code: string) => ({ status: 400, codes: [code] });

async function anUpgradableId(api: Api): Promise<number> {
  const { collectors } = read(CollectorList, await api.get('/collectors/upgrades/collectors?limit=1'));
  if (collectors[0] === undefined) throw new Error('no collector can be upgraded');
  return collectors[0].id;
}

it.each([
  ['missing', {}],
  ['null', { collectorId: null }],
  ['no number', { collectorId: 'first' }],
  ['no integer', { collectorId: 1.5 }],
])('§7.5 collector.invalid: the collector ID is %s', async (_how, body) => {
  expectRefusal(await create(target().api, body), refusedWith('collector.invalid'));
});

it('§7.5 collector.invalid: the collector does not exist', async () => {
  const { api, own } = target();
  expectRefusal(await create(api, { collectorId: await own.goneId() }), refusedWith('collector.invalid'));
});

itInProcess('§7.5 collector.invalid: a deleted collector does not exist', async () => {
  const { api } = await aService();
  const collectorId = await anUpgradableId(api);
  expect((await api.delete(`/collectors/${collectorId}`)).status).toBe(200);
  expectRefusal(await create(api, { collectorId }), refusedWith('collector.invalid'));
});

it('§7.5 collector.type.invalid: the collector is Hosted', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  expectRefusal(await create(api, { collectorId: id }), refusedWith('collector.type.invalid'));
});

itInProcess('§7.5 collector.not.alive: the collector is not running', async () => {
  const { api, clock, service } = await aService();
  const collectorId = await anUpgradableId(api);
  service.world.kill(collectorId);
  clock.advance(30 * 60_000);
  expectRefusal(await create(api, { collectorId }), refusedWith('collector.not.alive'));
});

itInProcess('§7.5 collector.in.upgrading: until its task has ended', async () => {
  const { api, clock } = await aService();
  const collectorId = await anUpgradableId(api);
  expect((await create(api, { collectorId })).status).toBe(202);
  expectRefusal(await create(api, { collectorId }), refusedWith('collector.in.upgrading'));
  clock.advance(35 * 60_000);
  expect((await create(api, { collectorId })).status).toBe(202);
});

itInProcess('§7.5 collector.in.upgrading: of creates at the same time one is accepted', async () => {
  const { api } = await aService();
  const collectorId = await anUpgradableId(api);
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(api, { collectorId })));
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused).toHaveLength(7);
  for (const answer of refused) expectRefusal(answer, refusedWith('collector.in.upgrading'));
});

itInProcess.each(['no-version', '99.999-1', '19', 'latest'])(
  '§7.5 collector.version.invalid: the version is not valid: %j',
  async (toVersion) => {
    const { api } = await aService();
    const collectorId = await anUpgradableId(api);
    expectRefusal(await create(api, { collectorId, toVersion }), refusedWith('collector.version.invalid'));
  },
);

itInProcess('§7.5 collector.version.invalid: a withdrawn build', async () => {
  const { api, service } = await aService();
  const collectorId = await anUpgradableId(api);
  service.world.offerBuild('19.900-1');
  service.world.withdrawBuild('19.900-1');
  const body = { collectorId, toVersion: '19.900-1' };
  expectRefusal(await create(api, body), refusedWith('collector.version.invalid'));
});

itInProcess('§7.5 a refused create leaves no task behind', async () => {
  const { api } = await aService();
  const collectorId = await anUpgradableId(api);
  await create(api, { collectorId, toVersion: '99.999-1' });
  expect((await create(api, { collectorId })).status).toBe(202);
});
