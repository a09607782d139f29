import { expect } from 'vitest';
import { expectRefusal, json, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { type ControlledService, useControlledServices } from './support/target.ts';
import { CollectorList, CreatedUpgradeShape, OneCollector, OneUpgrade } from './support/wire-shapes.ts';

const aService = useControlledServices();
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

itInProcess('§3 a heartbeat every 15 seconds moves lastSeenAlive and keeps alive true', async () => {
  const { api, clock } = await aService();
  const id = await livingId(api, { ephemeral: false });
  const first = await shown(api, id);
  for (let beats = 1; beats <= 4; beats++) {
    clock.advance(15_000);
    expect(await shown(api, id)).toMatchObject({
      alive: true,
      lastSeenAlive: (first.lastSeenAlive ?? 0) + beats * 15_000,
    });
  }
});

itInProcess('§3 alive becomes false 30 minutes after the last heartbeat, and not before', async () => {
  const { api, clock, service } = await aService();
  const id = await livingId(api, { ephemeral: false });
  service.world.kill(id);
  const { lastSeenAlive = 0 } = await shown(api, id);
  moveTo(clock, (lastSeenAlive ?? 0) + 30 * minuteMs - 1);
  expect(await shown(api, id)).toMatchObject({ alive: true, lastSeenAlive });
  clock.advance(1);
  expect(await shown(api, id)).toMatchObject({ alive: false, lastSeenAlive });
});

itInProcess('§3 a collector that comes back is alive with its next heartbeat', async () => {
  const { api, clock, service } = await aService();
  const id = await livingId(api, { ephemeral: false });
  service.world.kill(id);
  clock.advance(hourMs);
  expect((await shown(api, id)).alive).toBe(false);
  service.world.revive(id);
  const back = await shown(api, id);
  expect(back.alive).toBe(true);
  expect(back.lastSeenAlive).toBe(clock.now());
});

itInProcess('§3 an ephemeral collector is deleted after 12 hours of inactivity, and not before', async () => {
  const { api, clock, service } = await aService();
  const id = await livingId(api, { ephemeral: true });
  service.world.kill(id);
  const { lastSeenAlive, name } = await shown(api, id);
  moveTo(clock, (lastSeenAlive ?? 0) + 12 * hourMs - 1);
  expect((await shown(api, id)).alive).toBe(false);
  clock.advance(1);
  expectRefusal(await api.get(`/collectors/${id}`), { status: 404, codes: ['InvalidCollector'] });
  const { collectors } = read(CollectorList, await api.get('/collectors?limit=10000'));
  expect(collectors.filter((collector) => collector.id === id || collector.name === name)).toEqual([]);
});

itInProcess('§3 a collector that is not ephemeral stays, however long it is inactive', async () => {
  const { api, clock, service } = await aService();
  const id = await livingId(api, { ephemeral: false });
  service.world.kill(id);
  clock.advance(400 * 24 * hourMs);
  expect((await shown(api, id)).alive).toBe(false);
});

itInProcess(
  '§3 a task goes 0 not started, 1 pending, 6 progressing, 2 succeeded, and never back',
  async () => {
    const { api, clock } = await aService();
    const { look } = await aTask(api);
    const seen: number[] = [];
    for (let passedMs = 0; passedMs <= 35 * minuteMs; passedMs += 1_000) {
      const { status } = await look();
      if (seen.at(-1) !== status) seen.push(status);
      if (status === 2) break;
      clock.advance(1_000);
    }
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBe(2);
    expect([0, 1, 6, 2].filter((status) => seen.includes(status))).toEqual(seen);
  },
);

itInProcess('§3 a task that succeeded leaves the collector on the target build, alive', async () => {
  const { api, clock } = await aService();
  const { collectorId, look } = await aTask(api);
  clock.advance(35 * minuteMs);
  const { status, toVersion } = await look();
  expect(status).toBe(2);
  expect(await shown(api, collectorId)).toMatchObject({ collectorVersion: toVersion, alive: true });
});

itInProcess('§3 a task without success fails after 30 minutes, and not before', async () => {
  const { api, clock } = await aService({ failures: [{ outcome: 'timeout' }] });
  const { look } = await aTask(api);
  clock.advance(30 * minuteMs - 1);
  expect([0, 1, 6]).toContain((await look()).status);
  clock.advance(1);
  expect((await look()).status).toBe(3);
});

itInProcess('§3 an ended task keeps its status', async () => {
  const { api, clock } = await aService({ failures: [{ match: { count: 1 }, outcome: 'failed' }] });
  const tasks = [await aTask(api), await aTask(api)];
  clock.advance(40 * minuteMs);
  const ends = await Promise.all(tasks.map(async ({ look }) => (await look()).status));
  expect(ends.every((status) => status === 2 || status === 3)).toBe(true);
  clock.advance(48 * hourMs);
  expect(await Promise.all(tasks.map(async ({ look }) => (await look()).status))).toEqual(ends);
});

itInProcess('§3 a cloud-to-cloud source is Stopping after its DELETE, then gone', async () => {
  const { api, clock, own } = await aService();
  const { id } = await own.create();
  const { id: sourceId } = await own.createSource(id, cloudToCloud);
  const path = `/collectors/${id}/sources/${sourceId}`;
  expect((await api.delete(path)).status).toBe(200);
  const stopping = await api.get(path);
  expect(stopping.status).toBe(200);
  expect(JSON.stringify(json(stopping))).toContain('Stopping');
  clock.advance(hourMs);
  expectRefusal(await api.get(path), { status: 404 });
  expect(json(await api.get(`/collectors/${id}/sources`))).toEqual({ sources: [] });
});

/** As such a source looks in the field: any vendor's, of the type `Universal`. */
const cloudToCloud = {
  sourceType: 'Universal',
  schemaRef: { type: 'Okta' },
  config: { category: 'test' },
};

async function livingId(api: Api, { ephemeral }: { ephemeral: boolean }): Promise<number> {
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=installed&limit=1000'));
  const found = collectors.find((collector) => collector.alive && collector.ephemeral === ephemeral);
  if (found === undefined) throw new Error('the fleet has no such collector');
  return found.id;
}

async function shown(api: Api, id: number) {
  return read(OneCollector, await api.get(`/collectors/${id}`)).collector;
}

async function aTask(api: Api) {
  const { collectors } = read(CollectorList, await api.get('/collectors/upgrades/collectors?limit=1'));
  const collectorId = collectors[0]?.id ?? 0;
  const { id } = read(CreatedUpgradeShape, await api.post('/collectors/upgrades', { collectorId }));
  const look = async () => read(OneUpgrade, await api.get(`/collectors/upgrades/${id}`)).upgrade;
  return { collectorId, look };
}

function moveTo(clock: ControlledService['clock'], instant: number): void {
  clock.advance(instant - clock.now());
}
