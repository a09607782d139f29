import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { findInstalled, getCollector, idsOf, listCollectors, openResource } from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';
import { OneCollector } from './support/wire-shapes.ts';

const target = useTarget();
const hourMs = 3_600_000;

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
  expect(await getCollector(api, created.id)).toMatchObject(stated);
});

it.each([
  ['no body', ''],
  ['no wrapper', '{"collectorType":"Hosted","name":"upwave-conformance-unwrapped"}'],
  ['a list', '{"collector":[]}'],
  ['null', '{"collector":null}'],
  ['no JSON', '{"collector": {"collectorType": "Hosted", "name": '],
])('§4.1 POST /collectors: %s in place of {collector} is refused', async (_what, text) => {
  expectRefusal(await target().api.send('POST', '/collectors', { text }), { status: 400 });
});

it('§4.1 PUT /collectors/[id]: answers the updated collector, which has its new name only', async () => {
  const { api, own } = target();
  const { id, name } = await own.create();
  const { put } = await openResource(api, `/collectors/${id}`);
  const changes = { name: own.name('renamed'), description: 'updated' };
  expect(read(OneCollector, await put(changes)).collector).toMatchObject({ id, ...changes });
  const byName = await api.get(`/collectors/name/${changes.name}`);
  expect(read(OneCollector, byName).collector).toMatchObject({ id, ...changes });
  expectRefusal(await api.get(`/collectors/name/${name}`), { status: 404 });
});

it('§4.1 PUT /collectors/[id]: an unknown id is refused', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const { stated, etag } = await openResource(api, `/collectors/${id}`);
  const gone = await own.goneId();
  const body = { collector: { ...stated, id: gone } };
  expectRefusal(await api.put(`/collectors/${gone}`, body, etag), { status: 404 });
});

it('§4.1 DELETE /collectors/[id]: 200 with an empty body; the collector and its sources are gone', async () => {
  const { api, own } = target();
  const { id, name } = await own.create();
  const { id: sourceId } = await own.createSource(id);
  const answer = await api.delete(`/collectors/${id}`);
  expect([answer.status, answer.text]).toEqual([200, '']);
  expectRefusal(await api.get(`/collectors/${id}`), { status: 404, codes: ['InvalidCollector'] });
  expectRefusal(await api.delete(`/collectors/${id}`), { status: 404, codes: ['InvalidCollector'] });
  for (const path of [`name/${name}`, `${id}/sources`, `${id}/sources/${sourceId}`])
    expectRefusal(await api.get(`/collectors/${path}`), { status: 404 });
});

it('§4.1 DELETE /collectors/[id]: the name is free again, the id is not', async () => {
  const { api, own } = target();
  const { id, name } = await own.create();
  await api.delete(`/collectors/${id}`);
  expect((await own.create({ name })).id).not.toBe(id);
});

itInProcess('§4.1 DELETE /collectors/[id]: an Installed Collector can be deleted as well', async () => {
  const { api } = await aService();
  const { id } = await findInstalled(api);
  expect((await api.delete(`/collectors/${id}`)).status).toBe(200);
  expect(idsOf(await listCollectors(api, '/collectors?filter=installed'))).not.toContain(id);
});

/** A service of which many have been offline for long. */
async function aServiceWithOffline() {
  const setup = await aService({ fleet: { shares: { dead: 0.4 } } });
  const offline = (query: string) => listCollectors(setup.api, `/collectors/offline${query}`);
  return { ...setup, offline };
}

itInProcess.each([
  ['?aliveBeforeDays=50', 'those GET shows are gone soon after'],
  ['', '100 days where none are given'],
])('§4.1 DELETE /collectors/offline%s: 200 with a message; %s', async (query) => {
  const { api, clock, offline } = await aServiceWithOffline();
  const doomed = idsOf(await offline(query));
  const spared = idsOf(await offline('?aliveBeforeDays=2')).filter((id) => !doomed.includes(id));
  expect(doomed.length).toBeGreaterThan(0);
  expect(spared.length).toBeGreaterThan(0);
  const answer = await api.delete(`/collectors/offline${query}`);
  expect(answer.status).toBe(200);
  expect(answer.text).toMatch(/\w/);
  clock.advance(hourMs);
  expect(await offline(query)).toEqual([]);
  expect(idsOf(await offline('?aliveBeforeDays=2'))).toEqual(expect.arrayContaining([...spared]));
});

itInProcess.each(['?aliveBeforeDays=0', '?aliveBeforeDays=x'])(
  '§4.1 DELETE /collectors/offline%s: is refused, and nothing is deleted',
  async (query) => {
    const { api, clock, offline } = await aServiceWithOffline();
    const before = await offline('');
    expectRefusal(await api.delete(`/collectors/offline${query}`), { status: 400 });
    clock.advance(hourMs);
    expect(idsOf(await offline(''))).toEqual(expect.arrayContaining([...idsOf(before)]));
  },
);
