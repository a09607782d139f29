import { expect, it } from 'vitest';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useTarget } from './support/target.ts';
import { CollectorList, OneCollector } from './support/wire-shapes.ts';

const target = useTarget();

/** Reads, changes and writes back one collector, as §4.4 asks. */
async function update(api: Api, id: number, changes: Readonly<Record<string, unknown>>) {
  const before = await api.get(`/collectors/${id}`);
  const { collector } = read(OneCollector, before);
  return api.put(`/collectors/${id}`, { collector: { ...collector, ...changes } }, etagOf(before));
}

async function shown(api: Api, id: number) {
  return read(OneCollector, await api.get(`/collectors/${id}`)).collector;
}

/** Names are unique, so this one is made up when it is needed. */
const aNewName = Symbol('a new name');

it.each([
  ['name', aNewName],
  ['description', 'what it is for'],
  ['category', 'prod/web/nginx'],
  ['hostName', 'web-1.example.com'],
  ['timeZone', 'America/Los_Angeles'],
  ['fields', { team: 'search', environment: 'test' }],
  ['cutoffTimestamp', 1_700_000_000_000],
] as const)('§2.1 %s is modifiable', async (field, given) => {
  const { api, own } = target();
  const { id } = await own.create();
  const value = given === aNewName ? own.name('renamed') : given;
  const answer = read(OneCollector, await update(api, id, { [field]: value })).collector;
  expect(answer[field]).toEqual(value);
  expect((await shown(api, id))[field]).toEqual(value);
});

itInProcess.each([
  ['ephemeral', true],
  ['sourceSyncMode', 'Json'],
  ['targetCpu', 25],
  ['fields', { _budget: 'standard' }],
] as const)('§2.1 %s of an Installed Collector is modifiable: %j', async (field, value) => {
  const { api } = target();
  const { id } = await anInstalled(api);
  read(OneCollector, await update(api, id, { [field]: value }));
  expect((await shown(api, id))[field]).toEqual(value);
});

it.each([
  ['collectorType', 'Installable'],
  ['id', 1],
  ['cutoffRelativeTime', '-1d'],
] as const)('§2.1 %s is not modifiable: an update that changes it is refused', async (field, value) => {
  const { api, own } = target();
  const { id } = await own.create();
  const before = await shown(api, id);
  expectRefusal(await update(api, id, { [field]: value }));
  expect((await shown(api, id))[field]).toEqual(before[field]);
});

itInProcess.each(['osName', 'osVersion', 'osArch'])(
  '§2.1 %s is not modifiable: an update that changes it is refused',
  async (field) => {
    const { api } = target();
    const before = await anInstalled(api);
    expectRefusal(await update(api, before.id, { [field]: 'something else' }));
    expect((await shown(api, before.id))[field]).toEqual(before[field]);
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
  expect((await shown(api, id))[field]).not.toEqual(value);
});

itInProcess('§2.1 an update may state the heartbeat of an earlier GET', async () => {
  const { api } = target();
  const { id, lastSeenAlive } = await anInstalled(api);
  const changes = { description: 'written later', lastSeenAlive: (lastSeenAlive ?? 0) - 15_000 };
  read(OneCollector, await update(api, id, changes));
  expect(await shown(api, id)).toMatchObject({ description: 'written later', lastSeenAlive });
});

it('§2.1 fields unknown to the specification survive a GET and a PUT', async () => {
  const { api, own } = target();
  const { id } = await own.create({ fields: { 'odd key': 'ключ', _x: '' } });
  const before = await shown(api, id);
  read(OneCollector, await update(api, id, { description: 'changed' }));
  const { lastSeenAlive: _then, ...after } = await shown(api, id);
  expect({ ...before, ...after }).toEqual({ ...before, description: 'changed' });
  expect(Object.keys(before).filter((key) => key !== 'lastSeenAlive' && !(key in after))).toEqual([]);
});

it.each([
  ['name', 7],
  ['name', ''],
  ['description', { no: 'text' }],
  ['ephemeral', 'yes'],
  ['fields', 'team=search'],
  ['cutoffTimestamp', 'yesterday'],
])('§2.1 %s of a wrong type is refused at creation: %j', async (field, value) => {
  const { api, own } = target();
  const collector = { collectorType: 'Hosted', name: own.name(), [field]: value };
  const answer = await api.post('/collectors', { collector });
  if (answer.status < 400) own.created(read(OneCollector, answer).collector);
  expectRefusal(answer);
});

it('§2.1 name is required', async () => {
  expectRefusal(await target().api.post('/collectors', { collector: { collectorType: 'Hosted' } }));
});

async function anInstalled(api: Api) {
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=installed&limit=1000'));
  const found = collectors.find(({ alive, sourceSyncMode }) => alive && sourceSyncMode === 'UI');
  if (found === undefined) throw new Error('the fleet has no living Installed Collector');
  return found;
}
