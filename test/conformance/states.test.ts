import { expect } from 'vitest';
import { expectRefusal, json } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import {
  createTask,
  findCollector,
  getCollector,
  getTask,
  listCollectors,
  upgradableId,
} from './support/resources.ts';
import { aService } from './support/target.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A service, and a living Installed Collector on it. */
async function aLivingCollector({ ephemeral }: { readonly ephemeral: boolean }) {
  const setup = await aService();
  const { api, clock, service } = setup;
  const collector = await findCollector(api, (each) => each.alive && each.ephemeral === ephemeral);
  const shown = () => getCollector(api, collector.id);
  /** @returns moves the clock to so long after its last heartbeat */
  const kill = async () => {
    service.world.kill(collector.id);
    const { lastSeenAlive } = await shown();
    return (forMs: number) => clock.advance((lastSeenAlive ?? 0) + forMs - clock.now());
  };
  return { ...setup, collector, shown, kill };
}

async function aTask(api: Api) {
  const collectorId = await upgradableId(api);
  const id = await createTask(api, collectorId);
  return { collectorId, poll: () => getTask(api, id) };
}

itInProcess('§3 a heartbeat every 15 seconds moves lastSeenAlive and keeps alive true', async () => {
  const { clock, shown } = await aLivingCollector({ ephemeral: false });
  const { lastSeenAlive } = await shown();
  for (let beats = 1; beats <= 4; beats++) {
    clock.advance(15_000);
    const beatAt = (lastSeenAlive ?? 0) + beats * 15_000;
    expect(await shown()).toMatchObject({ alive: true, lastSeenAlive: beatAt });
  }
});

itInProcess(
  '§3 alive becomes false 30 minutes after the last heartbeat, and true with the next',
  async () => {
    const { clock, collector, shown, kill, service } = await aLivingCollector({ ephemeral: false });
    const moveTo = await kill();
    moveTo(30 * minuteMs - 1);
    const { lastSeenAlive } = await shown();
    expect(await shown()).toMatchObject({ alive: true });
    clock.advance(1);
    expect(await shown()).toMatchObject({ alive: false, lastSeenAlive });
    service.world.revive(collector.id);
    expect(await shown()).toMatchObject({ alive: true, lastSeenAlive: clock.now() });
  },
);

itInProcess('§3 an ephemeral collector is deleted after 12 hours of inactivity, and not before', async () => {
  const { api, clock, collector, shown, kill } = await aLivingCollector({ ephemeral: true });
  const moveTo = await kill();
  moveTo(12 * hourMs - 1);
  expect((await shown()).alive).toBe(false);
  clock.advance(1);
  const { id, name } = collector;
  expectRefusal(await api.get(`/collectors/${id}`), { status: 404, codes: ['InvalidCollector'] });
  const collectors = await listCollectors(api, '/collectors?limit=10000');
  expect(collectors.filter((each) => each.id === id || each.name === name)).toEqual([]);
});

itInProcess('§3 a collector that is not ephemeral stays, however long it is inactive', async () => {
  const { shown, kill } = await aLivingCollector({ ephemeral: false });
  const moveTo = await kill();
  moveTo(400 * 24 * hourMs);
  expect((await shown()).alive).toBe(false);
});

itInProcess(
  '§3 a task goes 0 not started, 1 pending, 6 progressing, 2 succeeded, never back; the collector is on its build',
  async () => {
    const { api, clock } = await aService();
    const { collectorId, poll } = await aTask(api);
    const seen: number[] = [];
    for (let passedMs = 0; passedMs <= 35 * minuteMs && seen.at(-1) !== 2; passedMs += 1_000) {
      const { status } = await poll();
      if (seen.at(-1) !== status) seen.push(status);
      if (status !== 2) clock.advance(1_000);
    }
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBe(2);
    expect([0, 1, 6, 2].filter((status) => seen.includes(status))).toEqual(seen);
    clock.advance(5 * minuteMs);
    const { toVersion } = await poll();
    expect(await getCollector(api, collectorId)).toMatchObject({ collectorVersion: toVersion, alive: true });
  },
);

itInProcess('§3 a task without success fails after 30 minutes, and not before', async () => {
  const { api, clock } = await aService({ failures: [{ outcome: 'timeout' }] });
  const { poll } = await aTask(api);
  clock.advance(30 * minuteMs - 1);
  expect([0, 1, 6]).toContain((await poll()).status);
  clock.advance(1);
  expect((await poll()).status).toBe(3);
});

itInProcess('§3 an ended task keeps its status', async () => {
  const { api, clock } = await aService({ failures: [{ match: { count: 1 }, outcome: 'failed' }] });
  const tasks = [await aTask(api), await aTask(api)];
  const statuses = () => Promise.all(tasks.map(async ({ poll }) => (await poll()).status));
  clock.advance(40 * minuteMs);
  const ends = await statuses();
  expect(ends.every((status) => status === 2 || status === 3)).toBe(true);
  clock.advance(48 * hourMs);
  expect(await statuses()).toEqual(ends);
});

itInProcess('§3 a cloud-to-cloud source is Stopping after its DELETE, then gone', async () => {
  const { api, clock, own } = await aService();
  const { id } = await own.create();
  // As such a source looks in the field: any vendor's, of the type `Universal`.
  const cloudToCloud = {
    sourceType: 'Universal',
    schemaRef: { type: 'Okta' },
    config: { category: 'test' },
  };
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
