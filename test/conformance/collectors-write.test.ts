import { expect, it } from 'vitest';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList, OneCollector } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();
const dayMs = 86_400_000;

it('§4.1 POST /collectors: creates a Hosted Collector with a generated id and the stated fields', async () => {
  const { api, own } = target();
  const stated = {
    collectorType: 'Hosted',
    name: own.name('create'),
    description: 'made by the conformance suite',
    category: 'test/conformance',
    timeZone: 'Europe/Berlin',
    fields: { team: 'search' },
  };
  const answer = await api.post('/collectors', { collector: stated });
  const created = own.created(read(OneCollector, answer).collector);
  expect(created).toMatchObject({ ...stated, collectorVersion: '' });
  expect(created.id).toBeGreaterThan(0);
  expect(read(OneCollector, await api.get(`/collectors/${created.id}`)).collector).toMatchObject(stated);
});

itInProcess('§4.1 POST /collectors: the new collector is in the list of hosted ones', async () => {
  const { api, own } = await aService();
  const { id } = await own.create();
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=hosted'));
  expect(collectors.map((collector) => collector.id)).toContain(id);
});

it.each([
  ['no body', undefined],
  ['no wrapper', { collectorType: 'Hosted', name: 'upwave-conformance-unwrapped' }],
  ['a list', { collector: [] }],
  ['null', { collector: null }],
])('§4.1 POST /collectors: %s in place of {collector} is refused', async (_what, body) => {
  expectRefusal(await target().api.post('/collectors', body), { status: 400 });
});

it('§4.1 POST /collectors: a body that is no JSON is refused', async () => {
  const text = '{"collector": {"collectorType": "Hosted", "name": ';
  expectRefusal(await target().api.send('POST', '/collectors', { text }), { status: 400 });
});

it('§4.1 PUT /collectors/[id]: answers the updated collector, as GET then shows it', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const before = await api.get(`/collectors/${id}`);
  const collector = { ...read(OneCollector, before).collector, description: 'updated' };
  const answer = read(OneCollector, await api.put(`/collectors/${id}`, { collector }, etagOf(before)));
  expect(answer.collector).toMatchObject({ id, description: 'updated' });
  expect(read(OneCollector, await api.get(`/collectors/${id}`)).collector.description).toBe('updated');
});

it('§4.1 PUT /collectors/[id]: a renamed collector is found by its new name only', async () => {
  const { api, own } = target();
  const { id, name } = await own.create();
  const before = await api.get(`/collectors/${id}`);
  const renamed = own.name('renamed');
  const collector = { ...read(OneCollector, before).collector, name: renamed };
  read(OneCollector, await api.put(`/collectors/${id}`, { collector }, etagOf(before)));
  expect(read(OneCollector, await api.get(`/collectors/name/${renamed}`)).collector.id).toBe(id);
  expectRefusal(await api.get(`/collectors/name/${name}`), { status: 404 });
});

it('§4.1 PUT /collectors/[id]: an unknown id is refused', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const before = await api.get(`/collectors/${id}`);
  const gone = await own.goneId();
  const body = { collector: { ...read(OneCollector, before).collector, id: gone } };
  expectRefusal(await api.put(`/collectors/${gone}`, body, etagOf(before)), { status: 404 });
});

it('§4.1 DELETE /collectors/[id]: 200 with an empty body; the collector is gone', async () => {
  const { api, own } = target();
  const { id, name } = await own.create();
  const answer = await api.delete(`/collectors/${id}`);
  expect([answer.status, answer.text]).toEqual([200, '']);
  expectRefusal(await api.get(`/collectors/${id}`), { status: 404, codes: ['InvalidCollector'] });
  expectRefusal(await api.get(`/collectors/name/${name}`), { status: 404 });
  expectRefusal(await api.delete(`/collectors/${id}`), { status: 404, codes: ['InvalidCollector'] });
});

it('§4.1 DELETE /collectors/[id]: the name is free again, the id is not', async () => {
  const { api, own } = target();
  const { id, name } = await own.create();
  await api.delete(`/collectors/${id}`);
  expect((await own.create({ name })).id).not.toBe(id);
});

it('§4.1 DELETE /collectors/[id]: its sources go with it', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const { id: sourceId } = await own.createSource(id);
  await api.delete(`/collectors/${id}`);
  expectRefusal(await api.get(`/collectors/${id}/sources`), { status: 404 });
  expectRefusal(await api.get(`/collectors/${id}/sources/${sourceId}`), { status: 404 });
});

itInProcess('§4.1 DELETE /collectors/[id]: an Installed Collector can be deleted as well', async () => {
  const { api } = await aService();
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=installed'));
  const { length } = collectors;
  const [first] = collectors;
  expect((await api.delete(`/collectors/${first?.id}`)).status).toBe(200);
  const after = read(CollectorList, await api.get('/collectors?filter=installed')).collectors;
  expect(after).toHaveLength(length - 1);
});

itInProcess(
  '§4.1 DELETE /collectors/offline: 200 with a message; those GET shows are gone soon after',
  async () => {
    const { api, clock } = await aService({ fleet: { shares: { dead: 0.4 } } });
    const offline = async (days: number) =>
      read(CollectorList, await api.get(`/collectors/offline?aliveBeforeDays=${days}`)).collectors;
    const all = read(CollectorList, await api.get('/collectors')).collectors.length;
    const doomed = (await offline(50)).length;
    expect(doomed).toBeGreaterThan(0);
    const answer = await api.delete('/collectors/offline?aliveBeforeDays=50');
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/\w/);
    clock.advance(60 * 60_000);
    expect(await offline(50)).toEqual([]);
    expect((await offline(1)).length).toBeGreaterThan(0);
    // An hour more may end the life of an ephemeral one, too.
    const left = read(CollectorList, await api.get('/collectors')).collectors.length;
    expect(left).toBeLessThanOrEqual(all - doomed);
  },
);

itInProcess('§4.1 DELETE /collectors/offline: 100 days where none are given', async () => {
  const { api, clock } = await aService({ fleet: { shares: { dead: 0.4 } } });
  const offline = async (query: string) =>
    read(CollectorList, await api.get(`/collectors/offline${query}`)).collectors;
  const younger = (await offline('?aliveBeforeDays=2')).length - (await offline('')).length;
  expect(younger).toBeGreaterThan(0);
  expect((await api.delete('/collectors/offline')).status).toBe(200);
  clock.advance(dayMs / 24);
  expect(await offline('')).toEqual([]);
  expect((await offline('?aliveBeforeDays=2')).length).toBeGreaterThanOrEqual(younger);
});

itInProcess.each(['aliveBeforeDays=0', 'aliveBeforeDays=x'])(
  '§4.1 DELETE /collectors/offline: %s is refused, and nothing is deleted',
  async (query) => {
    const { api, clock } = await aService({ fleet: { shares: { dead: 0.4 } } });
    const before = read(CollectorList, await api.get('/collectors/offline')).collectors.length;
    expectRefusal(await api.delete(`/collectors/offline?${query}`), { status: 400 });
    clock.advance(60 * 60_000);
    const after = read(CollectorList, await api.get('/collectors/offline')).collectors.length;
    expect(after).toBeGreaterThanOrEqual(before);
  },
);
