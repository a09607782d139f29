import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import type { Api, Method } from './support/api.ts';
import { itInProcess, itUpgrading } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import {
  CollectorList,
  CreatedUpgradeShape,
  OneCollector,
  OneUpgrade,
  TargetList,
} from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();

async function upgradable(api: Api, query = '') {
  return read(CollectorList, await api.get(`/collectors/upgrades/collectors${query}`)).collectors;
}
async function builds(api: Api) {
  return read(TargetList, await api.get('/collectors/upgrades/targets')).targets;
}

it('§4.3 GET upgradable: lists living Installed Collectors only', async () => {
  for (const collector of await upgradable(target().api)) {
    expect(collector).toMatchObject({ collectorType: 'Installable', alive: true });
  }
});

it('§4.3 GET upgradable: the latest build is the default of toVersion', async () => {
  const { api } = target();
  const latest = (await builds(api)).find((build) => build.latest)?.version ?? '';
  const byDefault = (await upgradable(api)).map(({ id }) => id);
  expect((await upgradable(api, `?toVersion=${latest}`)).map(({ id }) => id)).toEqual(byDefault);
  for (const { collectorVersion } of await upgradable(api)) expect(collectorVersion).not.toBe(latest);
});

itInProcess('§4.3 GET upgradable: toVersion decides who is listed', async () => {
  const { api } = target();
  const idsTo = async (query: string) => (await upgradable(api, `?limit=1000${query}`)).map(({ id }) => id);
  const toLatest = await idsTo('');
  const toOldest = await idsTo(`&toVersion=${(await builds(api))[0]?.version}`);
  expect(toOldest.length).toBeGreaterThan(0);
  expect(toOldest).not.toEqual(toLatest);
});

it('§4.3 GET upgradable: limit and offset cut the list without gap or overlap', async () => {
  const { api } = target();
  const whole = (await upgradable(api, '?limit=6')).map(({ id }) => id);
  const pages = [...(await upgradable(api, '?limit=3')), ...(await upgradable(api, '?limit=3&offset=3'))];
  expect(pages.map(({ id }) => id)).toEqual(whole);
});

itInProcess('§4.3 GET upgradable: 50 at a time where no limit is given', async () => {
  const { api } = target();
  expect(await upgradable(api)).toHaveLength(50);
  expect((await upgradable(api, '?limit=1000')).length).toBeGreaterThan(50);
  expect(await upgradable(api, '?offset=100000')).toEqual([]);
});

it.each(['limit=many', 'offset=far', 'toVersion=no-build'])(
  '§4.3 GET upgradable: 400 when a parameter is invalid: %s',
  async (query) => {
    expectRefusal(await target().api.get(`/collectors/upgrades/collectors?${query}`), { status: 400 });
  },
);

it('§4.3 GET task: 404 when the task ID is not found', async () => {
  expectRefusal(await target().api.get('/collectors/upgrades/1'), { status: 404 });
});

itUpgrading('§4.3 POST task: 202 with an id as text, and the status path of the new task', async () => {
  const { api } = target();
  const collectorId = (await upgradable(api, '?limit=1'))[0]?.id;
  const answer = await api.post('/collectors/upgrades', { collectorId });
  expect(answer.status).toBe(202);
  const { id, link } = read(CreatedUpgradeShape, answer);
  expect(link.href).toMatch(new RegExp(`/v1/collectors/upgrades/${id}$`));
  const path = link.href.slice(link.href.indexOf('/v1/') + 3);
  expect(read(OneUpgrade, await api.get(path)).upgrade.collectorId).toBe(collectorId);
});

itInProcess.each([
  ['left out', {}],
  ['empty', { toVersion: '' }],
])('§4.3 POST task: toVersion %s means the latest build', async (_how, version) => {
  const { api } = await aService();
  const latest = (await builds(api)).find((build) => build.latest)?.version;
  const collectorId = (await upgradable(api, '?limit=1'))[0]?.id;
  const { id } = read(
    CreatedUpgradeShape,
    await api.post('/collectors/upgrades', { collectorId, ...version }),
  );
  expect(read(OneUpgrade, await api.get(`/collectors/upgrades/${id}`)).upgrade.toVersion).toBe(latest);
});

itInProcess('§4.3 POST task: a downgrade is a task to an older build', async () => {
  const { api, clock } = await aService();
  const targets = await builds(api);
  const latest = targets.find((build) => build.latest)?.version;
  const older = targets.at(-2)?.version;
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=alive'));
  const collectorId = collectors.find(({ collectorVersion }) => collectorVersion === latest)?.id;
  read(CreatedUpgradeShape, await api.post('/collectors/upgrades', { collectorId, toVersion: older }));
  clock.advance(35 * 60_000);
  const { collector } = read(OneCollector, await api.get(`/collectors/${collectorId}`));
  expect(collector.collectorVersion).toBe(older);
});

itInProcess('§4.3 POST task: every task has an id of its own', async () => {
  const { api } = await aService();
  const ids = new Set<string>();
  for (const { id: collectorId } of await upgradable(api, '?limit=20')) {
    ids.add(read(CreatedUpgradeShape, await api.post('/collectors/upgrades', { collectorId })).id);
  }
  expect(ids.size).toBe(20);
});

const operations: ReadonlyArray<readonly [Method, string, object | undefined]> = [
  ['GET', '/collectors/upgrades/collectors', undefined],
  ['GET', '/collectors/upgrades/targets', undefined],
  ['GET', '/collectors/upgrades/1', undefined],
  ['POST', '/collectors/upgrades', {}],
];

it.each(operations)(
  '§4.3 %s %s: 415 when Content-Type is not application/json',
  async (method, path, body) => {
    const { api } = target();
    for (const type of ['text/plain', 'application/xml']) {
      const answer = await api.send(method, path, { body, headers: { 'content-type': type } });
      expectRefusal(answer, { status: 415 });
    }
  },
);

it.each(operations)(
  '§4.3 %s %s: a charset beside application/json is no other type',
  async (method, path, body) => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await target().api.send(method, path, { body, headers })).status).not.toBe(415);
  },
);

itInProcess.each(operations)(
  '§4.3 %s %s: to the letter, 415 without a Content-Type',
  async (method, path, body) => {
    const { api } = await aService({ strictContentType: true });
    const answer = await api.send(method, path, { body, headers: { 'content-type': null } });
    expectRefusal(answer, { status: 415 });
  },
);
