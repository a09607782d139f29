import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { findCollector, getCollector, idsOf, listCollectors } from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';
import { type CollectorShape, OneCollector } from './support/wire-shapes.ts';

const target = useTarget();
const dayMs = 86_400_000;

it.each([
  ['installed', (collector: CollectorShape) => collector.collectorType === 'Installable'],
  ['hosted', (collector: CollectorShape) => collector.collectorType === 'Hosted'],
  ['dead', (collector: CollectorShape) => !collector.alive],
  ['alive', (collector: CollectorShape) => collector.alive],
] as const)('§4.1 GET /collectors: filter=%s leaves out all others', async (filter, holds) => {
  const collectors = await listCollectors(target().api, `/collectors?filter=${filter}&limit=200`);
  expect(collectors.filter((collector) => !holds(collector))).toEqual([]);
});

itInProcess.each([
  ['installed', 'hosted'],
  ['dead', 'alive'],
])(
  '§4.1 GET /collectors: filter=%s and filter=%s give the whole fleet, as no filter does',
  async (...pair) => {
    const { api } = await aService();
    const all = idsOf(await listCollectors(api));
    const parts = await Promise.all(
      pair.map((filter) => listCollectors(api, `/collectors?filter=${filter}`)),
    );
    const ascending = (a: number, b: number) => a - b;
    expect(idsOf(parts.flat()).toSorted(ascending)).toEqual(all.toSorted(ascending));
  },
);

it.each([
  '/collectors?',
  // After the filter.
  '/collectors?filter=alive&',
  '/collectors/offline?aliveBeforeDays=1&',
  '/collectors/upgrades/collectors?',
])('§4.1 GET %s: limit and offset cut the list without gap or overlap', async (path) => {
  const { api } = target();
  const page = async (query: string) => idsOf(await listCollectors(api, `${path}${query}`));
  const pages = [
    ...(await page('limit=5')),
    ...(await page('limit=5&offset=5')),
    ...(await page('limit=2&offset=10')),
  ];
  expect(pages).toEqual(await page('limit=12'));
  expect(await page('offset=1000000')).toEqual([]);
});

it.each([
  '/collectors?filter=sleeping',
  '/collectors?limit=many',
  '/collectors?offset=far',
  // 1 is the minimum.
  '/collectors/offline?aliveBeforeDays=0',
  '/collectors/offline?aliveBeforeDays=-3',
  '/collectors/offline?aliveBeforeDays=x',
])('§4.1 GET %s is refused', async (path) => {
  expectRefusal(await target().api.get(path), { status: 400 });
});

it('§4.1 GET /collectors/offline: lists Installed Collectors that are not alive', async () => {
  const path = '/collectors/offline?aliveBeforeDays=1&limit=200';
  for (const collector of await listCollectors(target().api, path)) {
    expect(collector).toMatchObject({ collectorType: 'Installable', alive: false });
  }
});

itInProcess(
  '§4.1 GET /collectors/offline: counts whole days from the last heartbeat, 100 by default',
  async () => {
    const { api, clock, service } = await aService();
    const { id } = await findCollector(api, ({ alive, ephemeral }) => alive && !ephemeral);
    service.world.kill(id);
    const { lastSeenAlive } = await getCollector(api, id);
    for (const [days, query] of [
      [1, '?aliveBeforeDays=1'],
      [7, '?aliveBeforeDays=7'],
      [100, ''],
    ] as const) {
      const isListed = async () =>
        idsOf(await listCollectors(api, `/collectors/offline${query}`)).includes(id);
      clock.advance((lastSeenAlive ?? 0) + days * dayMs - 1 - clock.now());
      expect([days, await isListed()]).toEqual([days, false]);
      clock.advance(1);
      expect([days, await isListed()]).toEqual([days, true]);
    }
  },
);

it.each([
  ['GET /collectors/name/[name]: shows the collector that GET by id shows', 'plain', (name: string) => name],
  ['rule 2 for names: a space is sent as %20', 'Staging Area', (name: string) => name.replaceAll(' ', '%20')],
  [
    'rule 3 for names: one with a period needs a slash at the end',
    'svr1.example.com',
    (name: string) => `${name}/`,
  ],
  [
    'GET /collectors/name/[name]: letters beyond ASCII are sent URL-encoded',
    'Zürich – 東京',
    encodeURIComponent,
  ],
])('§4.1 %s', async (_rule, about, sent) => {
  const { api, own } = target();
  const name = own.name(about);
  const { id } = await own.create({ name });
  const byName = await api.get(`/collectors/name/${sent(name)}`);
  expect(read(OneCollector, byName).collector).toMatchObject({ id, name });
});

it('§4.1 GET /collectors/name/[name]: an unknown name is refused, also one in another case', async () => {
  const { api, own } = target();
  expectRefusal(await api.get(`/collectors/name/${own.name('nobody')}`), { status: 404 });
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
    expect((await getCollector(api, id)).name).toBe(name);
  },
);

itInProcess('§4.1 rule 3 for names: without the slash a name with a period is not found', async () => {
  const { api, own } = target();
  const { name } = await own.create({ name: own.name('svr002.example.com') });
  expectRefusal(await api.get(`/collectors/name/${name}`), { status: 404 });
});
