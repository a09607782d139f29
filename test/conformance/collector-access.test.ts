import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { findInstalled, getCollector, openResource } from './support/resources.ts';
import { useTarget } from './support/target.ts';
import { OneCollector } from './support/wire-shapes.ts';

const target = useTarget();

/** Reads, changes and writes back one collector, as §4.4 asks. */
async function update(api: Api, id: number, changes: Readonly<Record<string, unknown>>) {
  return (await openResource(api, `/collectors/${id}`)).put(changes);
}

it.each([
  ['description', 'what it is for'],
  ['category', 'prod/web/nginx'],
  ['hostName', 'web-1.example.com'],
  ['timeZone', 'America/Los_Angeles'],
  ['fields', { team: 'search', environment: 'test' }],
  ['cutoffTimestamp', 1_700_000_000_000],
] as const)('§2.1 %s is modifiable, as is the name', async (field, value) => {
  const { api, own } = target();
  const { id } = await own.create();
  const changes = { name: own.name('renamed'), [field]: value };
  expect(read(OneCollector, await update(api, id, changes)).collector).toMatchObject(changes);
  expect(await getCollector(api, id)).toMatchObject(changes);
});

itInProcess.each([
  ['ephemeral', true],
  ['sourceSyncMode', 'Json'],
  ['targetCpu', 25],
  ['fields', { _budget: 'standard' }],
] as const)('§2.1 %s of an Installed Collector is modifiable: %j', async (field, value) => {
  const { api } = target();
  const { id } = await findInstalled(api);
  read(OneCollector, await update(api, id, { [field]: value }));
  expect((await getCollector(api, id))[field]).toEqual(value);
});

it.each([
  ['collectorType', 'Installable'],
  ['id', 1],
  ['cutoffRelativeTime', '-1d'],
] as const)('§2.1 %s is not modifiable: an update that changes it is refused', async (field, value) => {
  const { api, own } = target();
  const before = await own.create();
  expectRefusal(await update(api, before.id, { [field]: value }));
  expect((await getCollector(api, before.id))[field]).toEqual(before[field]);
});

itInProcess.each(['osName', 'osVersion', 'osArch'])(
  '§2.1 %s is not modifiable: an update that changes it is refused',
  async (field) => {
    const { api } = target();
    const before = await findInstalled(api);
    expectRefusal(await update(api, before.id, { [field]: 'something else' }));
    expect((await getCollector(api, before.id))[field]).toEqual(before[field]);
  },
);

it.each([
  ['alive', false],
  ['lastSeenAlive', 5],
  ['collectorVersion', '1.2-3'],
] as const)('§2.1 %s is set by the service: a stated one is not stored', async (field, value) => {
  const { api, own } = target();
  const { id } = await own.create();
  // Whether it is ignored or refused is not shown; a stale echo of the GET must be possible (field-facts.md).
  await update(api, id, { [field]: value });
  expect((await getCollector(api, id))[field]).not.toEqual(value);
});

itInProcess('§2.1 an update may state the heartbeat of an earlier GET', async () => {
  const { api } = target();
  const { id, lastSeenAlive } = await findInstalled(api);
  const changes = { description: 'written later', lastSeenAlive: (lastSeenAlive ?? 0) - 15_000 };
  read(OneCollector, await update(api, id, changes));
  expect(await getCollector(api, id)).toMatchObject({ description: 'written later', lastSeenAlive });
});

it('§2.1 fields unknown to the specification survive a GET and a PUT', async () => {
  const { api, own } = target();
  const { id } = await own.create({ fields: { 'odd key': 'ключ', _x: '' } });
  const { lastSeenAlive: _before, ...before } = await getCollector(api, id);
  read(OneCollector, await update(api, id, { description: 'changed' }));
  const { lastSeenAlive: _after, ...after } = await getCollector(api, id);
  expect(after).toEqual({ ...before, description: 'changed' });
});

it.each([
  ['name', undefined],
  ['name', 7],
  ['name', ''],
  ['description', { no: 'text' }],
  ['ephemeral', 'yes'],
  ['fields', 'team=search'],
  ['cutoffTimestamp', 'yesterday'],
])('§2.1 %s that is missing or of a wrong type is refused at creation: %j', async (field, value) => {
  const { api, own } = target();
  const collector = { collectorType: 'Hosted', name: own.name(), [field]: value };
  const answer = await api.post('/collectors', { collector });
  if (answer.status < 400) own.created(read(OneCollector, answer).collector);
  expectRefusal(answer);
});
