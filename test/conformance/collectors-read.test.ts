import { expect, it } from 'vitest';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList, type CollectorShape, OneCollector } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();
const dayMs = 86_400_000;

async function list(api: Api, query = ''): Promise<CollectorShape[]> {
  return read(CollectorList, await api.get(`/collectors${query}`)).collectors;
}
const idsOf = (collectors: readonly CollectorShape[]) => collectors.map(({ id }) => id);

it.each([
  ['installed', (collector: CollectorShape) => collector.collectorType === 'Installable'],
  ['hosted', (collector: CollectorShape) => collector.collectorType === 'Hosted'],
  ['dead', (collector: CollectorShape) => !collector.alive],
  ['alive', (collector: CollectorShape) => collector.alive],
] as const)('§4.1 GET /collectors: filter=%s leaves out all others', async (filter, holds) => {
  const collectors = await list(target().api, `?filter=${filter}&limit=200`);
  expect(collectors.filter((collector) => !holds(collector))).toEqual([]);
});

itInProcess(
  '§4.1 GET /collectors: each pair of filters gives the whole fleet, as no filter does',
  async () => {
    const { api } = await aService();
    const all = idsOf(await list(api));
    for (const [one, other] of [
      ['installed', 'hosted'],
      ['dead', 'alive'],
    ]) {
      const both = [...(await list(api, `?filter=${one}`)), ...(await list(api, `?filter=${other}`))];
      expect(both).toHaveLength(all.length);
      expect(new Set(idsOf(both))).toEqual(new Set(all));
    }
  },
);

it('§4.1 GET /collectors: limit and offset cut the list without gap or overlap', async () => {
  const { api } = target();
  const whole = idsOf(await list(api, '?limit=12'));
  const pages = [
    ...(await list(api, '?limit=5')),
    ...(await list(api, '?limit=5&offset=5')),
    ...(await list(api, '?limit=2&offset=10')),
  ];
  expect(idsOf(pages)).toEqual(whole);
});

it('§4.1 GET /collectors: limit and offset count after the filter', async () => {
  const { api } = target();
  const whole = idsOf(await list(api, '?filter=alive&limit=6'));
  expect(idsOf(await list(api, '?filter=alive&limit=3&offset=3'))).toEqual(whole.slice(3));
});

it('§4.1 GET /collectors: past the end the list is empty', async () => {
  expect(await list(target().api, '?offset=1000000')).toEqual([]);
});

itInProcess('§4.1 GET /collectors: limit is 1000 and offset 0 where none is given', async () => {
  const { api } = await aService({ fleet: { size: 1_100 } });
  const first = idsOf(await list(api));
  expect(first).toHaveLength(1_000);
  expect(idsOf(await list(api, '?offset=0&limit=1000'))).toEqual(first);
  expect(await list(api, '?offset=1000')).toHaveLength(100);
});

it.each(['filter=sleeping', 'limit=many', 'offset=far'])(
  '§4.1 GET /collectors: %s is refused',
  async (query) => {
    expectRefusal(await target().api.get(`/collectors?${query}`), { status: 400 });
  },
);

it('§4.1 GET /collectors/offline: lists Installed Collectors that are not alive', async () => {
  const offline = read(
    CollectorList,
    await target().api.get('/collectors/offline?aliveBeforeDays=1&limit=200'),
  ).collectors;
  for (const collector of offline) {
    expect(collector).toMatchObject({ collectorType: 'Installable', alive: false });
  }
});

itInProcess(
  '§4.1 GET /collectors/offline: counts whole days from the last heartbeat, 100 by default',
  async () => {
    const { api, clock, service } = await aService();
    const [living] = (await list(api, '?filter=alive')).filter(
      ({ collectorType, ephemeral }) => collectorType === 'Installable' && !ephemeral,
    );
    const id = living?.id ?? 0;
    service.world.kill(id);
    const { lastSeenAlive } = read(OneCollector, await api.get(`/collectors/${id}`)).collector;
    const isListed = async (query: string) =>
      idsOf(read(CollectorList, await api.get(`/collectors/offline${query}`)).collectors).includes(id);
    for (const [days, query] of [
      [1, '?aliveBeforeDays=1'],
      [7, '?aliveBeforeDays=7'],
      [100, ''],
    ] as const) {
      clock.advance((lastSeenAlive ?? 0) + days * dayMs - 1 - clock.now());
      expect([days, await isListed(query)]).toEqual([days, false]);
      clock.advance(1);
      expect([days, await isListed(query)]).toEqual([days, true]);
    }
  },
);

it('§4.1 GET /collectors/offline: limit and offset cut the list', async () => {
  const { api } = target();
  const page = async (query: string) =>
    idsOf(read(CollectorList, await api.get(`/collectors/offline?aliveBeforeDays=1&${query}`)).collectors);
  expect([...(await page('limit=2')), ...(await page('limit=2&offset=2'))]).toEqual(await page('limit=4'));
});

it.each(['aliveBeforeDays=0', 'aliveBeforeDays=-3', 'aliveBeforeDays=x'])(
  '§4.1 GET /collectors/offline: %s is refused, 1 is the minimum',
  async (query) => {
    expectRefusal(await target().api.get(`/collectors/offline?${query}`), { status: 400 });
  },
);

it('§4.1 GET /collectors/[id]: shows the collector of the list, with an ETag', async () => {
  const { api, own } = target();
  const created = await own.create({ description: 'to be read' });
  const answer = await api.get(`/collectors/${created.id}`);
  expect(read(OneCollector, answer).collector).toMatchObject({
    id: created.id,
    name: created.name,
    description: 'to be read',
  });
  expect(etagOf(answer)).not.toBe('');
});

it('§4.1 GET /collectors/name/[name]: shows the collector that GET by id shows', async () => {
  const { api, own } = target();
  const { id, name } = await own.create();
  const byName = read(OneCollector, await api.get(`/collectors/name/${name}`)).collector;
  expect(byName).toMatchObject({ id, name });
});

it('§4.1 GET /collectors/name/[name]: an unknown name is refused', async () => {
  const { api, own } = target();
  expectRefusal(await api.get(`/collectors/name/${own.name('nobody')}`), { status: 404 });
});

it('§4.1 GET /collectors/name/[name]: upper and lower case are different letters', async () => {
  const { api, own } = target();
  const { name } = await own.create({ name: own.name('CaseMatters') });
  expectRefusal(await api.get(`/collectors/name/${name.toLowerCase()}`), { status: 404 });
});

it.each([';', '/', '%', '\\'])(
  '§4.1 rule 1 for names: a name with %s is not supported, even URL-encoded',
  async (character) => {
    const { api, own } = target();
    const name = own.name(`odd${character}name`);
    const { id } = await own.create({ name });
    const byName = await api.get(`/collectors/name/${encodeURIComponent(name)}`);
    expect([400, 404]).toContain(byName.status);
    expect(read(OneCollector, await api.get(`/collectors/${id}`)).collector.name).toBe(name);
  },
);

it('§4.1 rule 2 for names: a space is sent as %20', async () => {
  const { api, own } = target();
  const name = own.name('Staging Area');
  const { id } = await own.create({ name });
  const byName = await api.get(`/collectors/name/${name.replaceAll(' ', '%20')}`);
  expect(read(OneCollector, byName).collector).toMatchObject({ id, name });
});

it('§4.1 rule 3 for names: a name with a period needs a slash at the end of the URL', async () => {
  const { api, own } = target();
  const name = own.name('svr001.example.com');
  const { id } = await own.create({ name });
  const byName = await api.get(`/collectors/name/${name}/`);
  expect(read(OneCollector, byName).collector).toMatchObject({ id, name });
});

itInProcess('§4.1 rule 3 for names: without the slash a name with a period is not found', async () => {
  const { api, own } = target();
  const { name } = await own.create({ name: own.name('svr002.example.com') });
  expectRefusal(await api.get(`/collectors/name/${name}`), { status: 404 });
});

it('§4.1 GET /collectors/name/[name]: letters beyond ASCII are sent URL-encoded', async () => {
  const { api, own } = target();
  const name = own.name('Zürich – 東京');
  const { id } = await own.create({ name });
  const byName = await api.get(`/collectors/name/${encodeURIComponent(name)}`);
  expect(read(OneCollector, byName).collector).toMatchObject({ id, name });
});
