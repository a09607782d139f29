import { expect, it } from 'vitest';
import { read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { findCollector, getCollector, listCollectors } from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';
import { OneCollector } from './support/wire-shapes.ts';

const target = useTarget();

// Enough for the shape; a fleet of ten thousand needs not be read for it.
const some = '/collectors?limit=1000';

it('§2.1 every collector has the documented fields in the documented types; ids and names are unique', async () => {
  const { api, own } = target();
  await own.create();
  const collectors = await listCollectors(api, some);
  expect(new Set(collectors.map(({ id }) => id)).size).toBe(collectors.length);
  expect(new Set(collectors.map(({ name }) => name)).size).toBe(collectors.length);
});

it('§2.1 an Installed Collector shows its build and its operating system', async () => {
  for (const collector of await listCollectors(target().api, `${some}&filter=installed`)) {
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
  for (const collector of await listCollectors(api, `${some}&filter=hosted`)) {
    expect(collector).toMatchObject({ collectorType: 'Hosted', collectorVersion: '' });
    for (const field of ['osName', 'osVersion', 'osArch', 'osTime', 'sourceSyncMode']) {
      expect([collector.id, field, collector[field] ?? null]).toEqual([collector.id, field, null]);
    }
  }
});

it('§2.1 id is generated: a stated id is ignored', async () => {
  const { api, own } = target();
  const stated = 4_242;
  const collector = { collectorType: 'Hosted', name: own.name(), id: stated };
  const answer = await api.post('/collectors', { collector });
  if (answer.status >= 400) return;
  expect(own.created(read(OneCollector, answer).collector).id).not.toBe(stated);
});

it('§2.1 a field that is missing at creation gets its default, and links lead to the sources', async () => {
  const created = await target().own.create();
  for (const field of ['description', 'category', 'hostName', 'targetCpu'])
    expect([field, created[field] ?? null]).toEqual([field, null]);
  expect(created.cutoffTimestamp ?? 0).toBe(0);
  expect(created.ephemeral).toBe(false);
  expect(Object.keys(created.fields ?? {})).toEqual([]);
  const href = created.links.find(({ rel }) => rel === 'sources')?.href;
  expect(href).toMatch(new RegExp(`/v1/collectors/${created.id}/sources$`));
});

itInProcess('§2.1 sourceSyncMode shows both UI and Json; targetCpu shows -1', async () => {
  const installed = await listCollectors(target().api, `${some}&filter=installed`);
  expect(new Set(installed.map(({ sourceSyncMode }) => sourceSyncMode))).toEqual(new Set(['UI', 'Json']));
  expect(installed.some(({ targetCpu }) => targetCpu === -1)).toBe(true);
});

itInProcess('§2.1 osTime is how long the collector has been running', async () => {
  const { api, clock } = await aService();
  const { id, osTime } = await findCollector(api, (each) => each.alive && each.osTime !== undefined);
  clock.advance(60_000);
  expect((await getCollector(api, id)).osTime).toBe((osTime ?? 0) + 60_000);
});

itInProcess('§2.1 lastSeenAlive is in milliseconds since the epoch, and not in the future', async () => {
  const { api, clock } = await aService();
  for (const { lastSeenAlive } of await listCollectors(api, `${some}&filter=installed`)) {
    expect(lastSeenAlive).toBeLessThanOrEqual(clock.now());
    expect(lastSeenAlive).toBeGreaterThan(Date.UTC(2015, 0));
  }
});
