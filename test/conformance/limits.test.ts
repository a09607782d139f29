import { expect, it } from 'vitest';
import { expectRefusal } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { getCollector, listCollectors, openResource } from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';

const target = useTarget();
const onlyRate = { limits: { requestsPerSecond: 4 } };
/** As the reference service: timers and networks are late by some milliseconds. */
const toleranceMs = 50;

async function statuses(api: Api, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let sent = 0; sent < count; sent++) seen.push((await api.get('/collectors/upgrades/targets')).status);
  return seen;
}

itInProcess('§8 request rate: no second holds more than 4, wherever it begins', async () => {
  const { api, clock } = await aService(onlyRate);
  const acceptedAt: number[] = [];
  for (let passedMs = 0; passedMs < 10_000; passedMs += 90) {
    if ((await statuses(api, 1))[0] === 200) acceptedAt.push(clock.now());
    clock.advance(90);
  }
  for (const [index, at] of acceptedAt.entries()) {
    const fifth = acceptedAt[index + 4];
    if (fifth !== undefined) expect(fifth - at).toBeGreaterThanOrEqual(1_000 - toleranceMs);
  }
  expect(acceptedAt.length).toBeLessThanOrEqual(44);
  expect(acceptedAt.length).toBeGreaterThan(35);
});

itInProcess("§8 request rate: it is the user's, over all keys", async () => {
  const second = { accessId: 'another', accessKey: 'key' };
  const credentials = [{ accessId: 'anid', accessKey: 'akey' }, second];
  const { api, anotherApi } = await aService(onlyRate, { credentials });
  const other = anotherApi({ credentials: second });
  expect(await statuses(api, 2)).toEqual([200, 200]);
  expect(await statuses(other, 3)).toEqual([200, 200, 429]);
});

itInProcess('§8 concurrency: 10 requests of a key at once pass, the eleventh is answered 429', async () => {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { api, service } = await aService(
    {
      limits: { concurrentRequests: 10 },
      httpFaults: [{ operations: ['listCollectors'], share: 1, fault: 'slow' }],
    },
    { waitReal: () => released },
  );
  const open = Array.from({ length: 10 }, () => api.get('/collectors?limit=1'));
  await expect.poll(() => service.record.concurrentRequestsMax).toBe(10);
  expectRefusal(await api.get('/collectors/upgrades/targets'), { status: 429 });
  release();
  for (const answer of await Promise.all(open)) expect(answer.status).toBe(200);
  expect((await api.get('/collectors/upgrades/targets')).status).toBe(200);
});

it.each([
  ['name', 128, ['CollectorNameTooLong']],
  ['hostName', 128, undefined],
  ['description', 1_024, ['CollectorDescriptionTooLong']],
] as const)(
  '§8 collector %s: %i characters are accepted, one more is refused',
  async (field, lengthMax, codes) => {
    const { api, own } = target();
    const longest = own.name().padEnd(lengthMax, 'x');
    const { id } = await own.create({ [field]: longest });
    expect((await getCollector(api, id))[field]).toBe(longest);
    const { put } = await openResource(api, `/collectors/${id}`);
    const refusal = codes === undefined ? {} : { codes };
    expectRefusal(await put({ [field]: `${longest}x` }), refusal);
    const another = { collectorType: 'Hosted', name: own.name(), [field]: `${longest}y` };
    expectRefusal(await api.post('/collectors', { collector: another }), refusal);
  },
);

itInProcess(
  '§8 page sizes: 1000 of the list, 1000 of the offline list, 50 of the upgradable one',
  async () => {
    const { api } = await aService({
      fleet: { size: 3_000, shares: { dead: 0.5, ephemeral: 0, container: 0 } },
    });
    for (const [path, size] of [
      ['/collectors', 1_000],
      ['/collectors/offline?aliveBeforeDays=1', 1_000],
      ['/collectors/upgrades/collectors', 50],
    ] as const) {
      expect(await listCollectors(api, path)).toHaveLength(size);
    }
  },
);
