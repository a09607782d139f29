import { expect, it } from 'vitest';
import { expectRefusal } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { upgradableId } from './support/resources.ts';
import { aService, type ControlledService, useTarget } from './support/target.ts';

const target = useTarget();

const create = (api: Api, body: unknown) => api.post('/collectors/upgrades', body);
const refusedWith = (code: string) => ({ status: 400, codes: [code] });

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

it('§7.5 collector.type.invalid: the collector is Hosted', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  expectRefusal(await create(api, { collectorId: id }), refusedWith('collector.type.invalid'));
});

type Cause = (setup: ControlledService, collectorId: number) => Promise<object>;

const causes: ReadonlyArray<readonly [code: string, how: string, cause: Cause]> = [
  [
    'collector.invalid',
    'an Installed Collector was deleted',
    async ({ api }, id) => {
      expect((await api.delete(`/collectors/${id}`)).status).toBe(200);
      return {};
    },
  ],
  [
    'collector.not.alive',
    'the collector is not running',
    async ({ clock, service }, id) => {
      service.world.kill(id);
      clock.advance(30 * 60_000);
      return {};
    },
  ],
  ['collector.version.invalid', 'no version at all', async () => ({ toVersion: 'no-version' })],
  ['collector.version.invalid', 'no build on offer', async () => ({ toVersion: '99.999-1' })],
  ['collector.version.invalid', 'half of a version', async () => ({ toVersion: '19' })],
  ['collector.version.invalid', 'a word for a version', async () => ({ toVersion: 'latest' })],
  [
    'collector.version.invalid',
    'a withdrawn build',
    async ({ service }) => {
      service.world.offerBuild('19.900-1');
      service.world.withdrawBuild('19.900-1');
      return { toVersion: '19.900-1' };
    },
  ],
];

itInProcess.each(causes)('§7.5 %s: %s', async (code, _how, cause) => {
  const setup = await aService();
  const collectorId = await upgradableId(setup.api);
  const stated = await cause(setup, collectorId);
  expectRefusal(await create(setup.api, { collectorId, ...stated }), refusedWith(code));
});

itInProcess('§7.5 collector.in.upgrading: until its task has ended', async () => {
  const { api, clock } = await aService();
  const collectorId = await upgradableId(api);
  expect((await create(api, { collectorId })).status).toBe(202);
  expectRefusal(await create(api, { collectorId }), refusedWith('collector.in.upgrading'));
  clock.advance(35 * 60_000);
  expect((await create(api, { collectorId })).status).toBe(202);
});

itInProcess('§7.5 collector.in.upgrading: of creates at the same time one is accepted', async () => {
  const { api } = await aService();
  const collectorId = await upgradableId(api);
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(api, { collectorId })));
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused).toHaveLength(7);
  for (const answer of refused) expectRefusal(answer, refusedWith('collector.in.upgrading'));
});

itInProcess('§7.5 a refused create leaves no task behind', async () => {
  const { api } = await aService();
  const collectorId = await upgradableId(api);
  await create(api, { collectorId, toVersion: '99.999-1' });
  expect((await create(api, { collectorId })).status).toBe(202);
});
