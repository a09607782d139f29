import { expect } from 'vitest';
import { etagOf, read } from './support/answers.ts';
import type { ApiRequest } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { getCollector, idsOf, listCollectors, openResource } from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';
import { type CollectorShape, OneCollector, OneDownload, OneSource } from './support/wire-shapes.ts';

// Requests in the forms in which clients in the field send them (field-facts.md, The wire): which headers, which
// parameters, which part of a resource. Some go beyond the letter, so only the service in our hands is asked.
const target = useTarget();

type Stated = Readonly<Record<string, unknown>>;

const headerForms: ReadonlyArray<readonly [string, ApiRequest]> = [
  ['states a type on every request, and accepts nothing', { headers: { accept: null } }],
  ['states a type only with a body', { headers: { 'content-type': null } }],
  [
    'accepts anything, and sends its JSON as a form',
    { headers: { accept: '*/*', 'content-type': 'application/x-www-form-urlencoded' } },
  ],
  ['keeps the session cookie', { withoutSession: false }],
];

itInProcess.each(headerForms)(
  '§4.1 a client that %s creates, reads, updates and deletes a collector',
  async (_what, given) => {
    const { api, own } = target();
    const request = { withoutSession: true, ...given };
    const name = own.name('form');
    const body = { collector: { collectorType: 'Hosted', name } };
    const { collector } = read(OneCollector, await api.send('POST', '/collectors', { ...request, body }));
    const path = `/collectors/${collector.id}`;
    const before = await api.get(path, request);
    const headers = { ...request.headers, 'if-match': etagOf(before) };
    const changed = { collector: { id: collector.id, name, category: 'changed' } };
    const after = await api.send('PUT', path, { ...request, headers, body: changed });
    expect(read(OneCollector, after).collector).toMatchObject(changed.collector);
    expect((await api.send('DELETE', path, request)).status).toBe(200);
  },
);

itInProcess.each([
  ['/collectors', 'filter=&limit=1000&offset=0'],
  ['/collectors', 'filter=installed&limit=&offset='],
  ['/collectors', 'limit=&offset=&filter='],
  ['/collectors/offline', 'aliveBeforeDays=100&limit=&offset='],
  ['/collectors/upgrades/collectors', 'toVersion=&offset=&limit='],
])('§4.1 GET %s?%s: an empty parameter is an absent one', async (path, query) => {
  const { api } = target();
  const stated = query.split('&').filter((pair) => !pair.endsWith('='));
  const shown = async (asked: string) => idsOf(await listCollectors(api, `${path}?${asked}`));
  expect(await shown(query)).toEqual(await shown(stated.join('&')));
});

/** As encoders see it that leave out what is empty. */
const isSet = (value: unknown) => !['null', '""', '0', 'false', '{}'].includes(JSON.stringify(value));
const keep = (shown: CollectorShape, holds: (name: string, value: unknown) => boolean): Stated =>
  Object.fromEntries(Object.entries(shown).filter(([name, value]) => holds(name, value)));

const updateForms: ReadonlyArray<readonly [string, (shown: CollectorShape) => Stated]> = [
  [
    'the fields it manages',
    ({ id, name, collectorType }) => ({ id, name, collectorType, timeZone: 'Etc/UTC' }),
  ],
  ['the fields that are not null', (shown) => keep(shown, (_name, value) => value !== null)],
  ['the fields that are set', (shown) => keep(shown, (name, value) => isSet(value) || name === 'alive')],
  ['no field of the operating system', (shown) => keep(shown, (name) => !name.startsWith('os'))],
  [
    'every field, transient ones as they were',
    (shown) => ({ ...shown, alive: !shown.alive, lastSeenAlive: 1 }),
  ],
  ['an identity and one field', ({ id, name }) => ({ id, name })],
];

itInProcess.each(updateForms)(
  '§4.4 a client that states %s changes one field of any collector, and no other where unstated ones are kept',
  async (_what, stated) => {
    const { api } = await aService({ unstatedFields: 'keep' });
    for (const filter of ['installed', 'hosted']) {
      for (const { id } of await listCollectors(api, `/collectors?filter=${filter}&limit=6`)) {
        const path = `/collectors/${id}`;
        const before = await api.get(path, { withoutSession: true });
        const { collector } = read(OneCollector, before);
        const headers = { 'if-match': etagOf(before) };
        // Some state the id once more, beside the collector.
        const body = { id, collector: { ...stated(collector), category: 'changed' } };
        read(OneCollector, await api.send('PUT', path, { withoutSession: true, headers, body }));
        const { timeZone: _zone, ...expected } = { ...collector, category: 'changed' };
        expect(await getCollector(api, id)).toMatchObject(expected);
      }
    }
  },
);

itInProcess('§4.4 a client that leaves out what it wants empty clears it, and nothing else', async () => {
  const { api, own } = target();
  const name = own.name('cleared');
  const filled = { description: 'd', category: 'c', fields: { team: 't' }, timeZone: 'Asia/Tokyo' };
  const { id } = await own.create({ ...filled, name });
  const { put, stated } = await openResource(api, `/collectors/${id}`);
  const without = { description: undefined, category: undefined, fields: undefined };
  const { collector } = read(OneCollector, await put(without));
  expect(collector).toEqual({ ...stated, description: null, category: null, fields: {} });
});

/** The path of a source of ours. */
async function aSource(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const { own } = target();
  const { id } = await own.create();
  return `/collectors/${id}/sources/${(await own.createSource(id, fields)).id}`;
}

itInProcess('§4.4 a client that states a part of a source removes the rest', async () => {
  const { put } = await openResource(target().api, await aSource({ category: 'a', encoding: 'UTF-8' }));
  const changes = { category: undefined, encoding: undefined, messagePerRequest: true };
  const { source } = read(OneSource, await put(changes));
  expect(source).toMatchObject({ messagePerRequest: true });
  expect(source).not.toHaveProperty('category');
  expect(source).not.toHaveProperty('encoding');
});

itInProcess('§4.2 a client writes back a downloaded source, with its id', async () => {
  const { api } = target();
  const path = await aSource({ category: 'a' });
  const { stated, etag } = await openResource(api, path);
  const { source } = read(OneDownload, await api.get(`${path}?download=true`));
  const body = { source: { ...source, id: stated['id'], category: 'b' } };
  expect(read(OneSource, await api.put(path, body, etag)).source).toMatchObject(body.source);
});

itInProcess(
  '§5.3 a client without a cookie asks 240 times a minute, with the limits as they are',
  async () => {
    const asTheyAre = {
      requestsPerSecond: undefined,
      concurrentRequests: undefined,
      signInsPerMinute: undefined,
    };
    const { api, clock } = await aService({ limits: asTheyAre });
    const answered = new Set<number>();
    for (let sent = 0; sent < 300; sent++) {
      answered.add((await api.get('/collectors/upgrades/targets', { withoutSession: true })).status);
      clock.advance(250);
    }
    expect([...answered]).toEqual([200]);
  },
);
