import { expect, it } from 'vitest';
import { read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList, type CollectorShape, OneCollector } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();

/** Enough for the shape; a fleet of ten thousand needs not be read for it. */
async function someCollectors(api: Api, filter = ''): Promise<CollectorShape[]> {
  return read(CollectorList, await api.get(`/collectors?limit=1000${filter}`)).collectors;
}

it('§2.1 every collector has the documented fields in the documented types', async () => {
  const { api, own } = target();
  const created = await own.create();
  const listed = await someCollectors(api);
  expect(listed.length).toBeGreaterThan(0);
  read(OneCollector, await api.get(`/collectors/${created.id}`));
});

it('§2.1 ids and names are unique', async () => {
  const collectors = await someCollectors(target().api);
  expect(new Set(collectors.map(({ id }) => id)).size).toBe(collectors.length);
  expect(new Set(collectors.map(({ name }) => name)).size).toBe(collectors.length);
});

it('§2.1 an Installed Collector shows its build and its operating system', async () => {
  for (const collector of await someCollectors(target().api, '&filter=installed')) {
    expect(collector).toMatchObject({
      collectorType: 'Installable',
      collectorVersion: expect.any(String),
      osName: expect.any(String),
      osVersion: expect.any(String),
      osArch: expect.any(String),
    });
  }
});

it('§2.1 a Hosted Collector has an empty collectorVersion and no field of Installed ones', async () => {
  const { api, own } = target();
  await own.create();
  for (const collector of await someCollectors(api, '&filter=hosted')) {
    expect(collector).toMatchObject({ collectorType: 'Hosted', collectorVersion: '' });
    for (const field of ['osName', 'osVersion', 'osArch', 'osTime', 'sourceSyncMode']) {
      expect([collector.id, field, collector[field] ?? null]).toEqual([collector.id, field, null]);
    }
  }
});

it('§2.1 links has one of rel sources with the path of the sources', async () => {
  const { own } = target();
  const { id, links } = await own.create();
  expect(links.find(({ rel }) => rel === 'sources')?.href).toMatch(
    new RegExp(`/v1/collectors/${id}/sources$`),
  );
});

it('§2.1 id is generated: a stated one is not taken', async () => {
  const { api, own } = target();
  const stated = 4_242;
  const collector = { collectorType: 'Hosted', name: own.name(), id: stated };
  const answer = await api.post('/collectors', { collector });
  if (answer.status >= 400) return;
  expect(own.created(read(OneCollector, answer).collector).id).not.toBe(stated);
});

it('§2.1 what is not stated at creation has its default', async () => {
  const { own } = target();
  const created = await own.create();
  expect(created.description ?? null).toBeNull();
  expect(created.category ?? null).toBeNull();
  expect(created.hostName ?? null).toBeNull();
  expect(created.targetCpu ?? null).toBeNull();
  expect(created.cutoffTimestamp ?? 0).toBe(0);
  expect(created.ephemeral).toBe(false);
  expect(Object.keys(created.fields ?? {})).toEqual([]);
});

itInProcess('§2.1 sourceSyncMode shows both UI and Json; targetCpu shows -1', async () => {
  const installed = await someCollectors(target().api, '&filter=installed');
  expect(new Set(installed.map(({ sourceSyncMode }) => sourceSyncMode))).toEqual(new Set(['UI', 'Json']));
  expect(installed.some(({ targetCpu }) => targetCpu === -1)).toBe(true);
});

itInProcess('§2.1 osTime is how long the collector has been running', async () => {
  const { api, clock } = await aService();
  const running = (await someCollectors(api, '&filter=alive')).find(({ osTime }) => osTime !== undefined);
  if (running === undefined) throw new Error('no collector shows osTime');
  clock.advance(60_000);
  const later = read(OneCollector, await api.get(`/collectors/${running.id}`)).collector;
  expect(later.osTime).toBe((running.osTime ?? 0) + 60_000);
});

itInProcess('§2.1 lastSeenAlive is in milliseconds since the epoch, and not in the future', async () => {
  const { api, clock } = await aService();
  for (const { lastSeenAlive } of await someCollectors(api, '&filter=installed')) {
    expect(lastSeenAlive).toBeLessThanOrEqual(clock.now());
    expect(lastSeenAlive).toBeGreaterThan(Date.UTC(2015, 0));
  }
});
