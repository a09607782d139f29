import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import type { Method } from './support/api.ts';
import { itInProcess, itUpgrading } from './support/conditions.ts';
import {
  createTask,
  findCollector,
  getCollector,
  getTask,
  idsOf,
  latestBuild,
  listBuilds,
  listUpgradable,
  upgradableId,
} from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';
import { CreatedUpgradeShape, OneUpgrade } from './support/wire-shapes.ts';

const target = useTarget();

it('§4.3 GET upgradable: lists living Installed Collectors only, by default for the latest build', async () => {
  const { api } = target();
  const latest = await latestBuild(api);
  const byDefault = await listUpgradable(api);
  for (const collector of byDefault) {
    expect(collector).toMatchObject({ collectorType: 'Installable', alive: true });
    expect(collector.collectorVersion).not.toBe(latest);
  }
  expect(idsOf(await listUpgradable(api, `?toVersion=${latest}`))).toEqual(idsOf(byDefault));
});

itInProcess('§4.3 GET upgradable: toVersion decides which collectors are listed', async () => {
  const { api } = target();
  const toLatest = idsOf(await listUpgradable(api, '?limit=1000'));
  const oldest = (await listBuilds(api))[0]?.version;
  const toOldest = idsOf(await listUpgradable(api, `?limit=1000&toVersion=${oldest}`));
  expect(toOldest.length).toBeGreaterThan(0);
  expect(toOldest).not.toEqual(toLatest);
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
  const collectorId = await upgradableId(api);
  const answer = await api.post('/collectors/upgrades', { collectorId });
  expect(answer.status).toBe(202);
  const { id, link } = read(CreatedUpgradeShape, answer);
  expect(link.href).toMatch(new RegExp(`/v1/collectors/upgrades/${id}$`));
  const path = link.href.slice(link.href.indexOf('/v1/') + 3);
  const { upgrade } = read(OneUpgrade, await api.get(path));
  expect([String(upgrade.id), upgrade.collectorId]).toEqual([id, collectorId]);
});

itInProcess('§4.3 POST task: a downgrade is a task to an older build', async () => {
  const { api, clock } = await aService();
  const older = (await listBuilds(api)).at(-2)?.version;
  const latest = await latestBuild(api);
  const { id } = await findCollector(api, (each) => each.alive && each.collectorVersion === latest);
  await createTask(api, id, { toVersion: older });
  clock.advance(35 * 60_000);
  expect((await getCollector(api, id)).collectorVersion).toBe(older);
});

itInProcess('§4.3 POST task: every task has an id of its own', async () => {
  const { api } = await aService();
  const ids = new Set<string>();
  for (const { id } of await listUpgradable(api, '?limit=20')) ids.add(await createTask(api, id));
  expect(ids.size).toBe(20);
});

const operations: ReadonlyArray<readonly [Method, string, object | undefined]> = [
  ['GET', '/collectors/upgrades/collectors', undefined],
  ['GET', '/collectors/upgrades/targets', undefined],
  ['GET', '/collectors/upgrades/1', undefined],
  ['POST', '/collectors/upgrades', {}],
];

it.each(operations)(
  '§4.3 %s %s: 415 when Content-Type is not application/json, with or without a charset',
  async (method, path, body) => {
    const { api } = target();
    const sendAs = (type: string) => api.send(method, path, { body, headers: { 'content-type': type } });
    for (const type of ['text/plain', 'application/xml']) {
      expectRefusal(await sendAs(type), { status: 415 });
    }
    expect((await sendAs('application/json; charset=utf-8')).status).not.toBe(415);
  },
);

itInProcess.each(operations)(
  '§4.3 %s %s: 415 without a Content-Type, where the service is strict',
  async (method, path, body) => {
    const { api } = await aService({ strictContentType: true });
    const answer = await api.send(method, path, { body, headers: { 'content-type': null } });
    expectRefusal(answer, { status: 415 });
  },
);

itInProcess(
  '§2.3 requestTime is the instant of the request and stays; the message is empty until a failure',
  async () => {
    const message = 'not enough disk space';
    const { api, clock } = await aService({ failures: [{ outcome: 'failed', message }] });
    const requestTime = clock.now();
    const id = await createTask(api, await upgradableId(api));
    expect(await getTask(api, id)).toMatchObject({ requestTime, message: '' });
    clock.advance(31 * 60_000);
    expect(await getTask(api, id)).toMatchObject({ requestTime, status: 3, message });
  },
);

itInProcess('§2.3 toVersion is the target build, the latest where it is left out or empty', async () => {
  const { api } = await aService();
  const latest = await latestBuild(api);
  const older = (await listBuilds(api))[0]?.version;
  for (const [asked, toVersion] of [
    [{}, latest],
    [{ toVersion: '' }, latest],
    [{ toVersion: older }, older],
  ] as const) {
    const id = await createTask(api, await upgradableId(api), asked);
    expect((await getTask(api, id)).toVersion).toBe(toVersion);
  }
});

it('§2.4 a build on offer is a version and whether it is the latest, each offered once', async () => {
  const targets = await listBuilds(target().api);
  expect(targets.length).toBeGreaterThan(0);
  expect(new Set(targets.map(({ version }) => version)).size).toBe(targets.length);
});

itInProcess('§2.4 latest goes with the newest build, when one is offered or withdrawn', async () => {
  const { api, service } = await aService();
  const before = await latestBuild(api);
  service.world.offerBuild('20.1-1');
  expect(await latestBuild(api)).toBe('20.1-1');
  service.world.withdrawBuild('20.1-1');
  expect(await latestBuild(api)).toBe(before);
});
