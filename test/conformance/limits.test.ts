import { expect, it } from 'vitest';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import { type Api, basicAuthorization } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList, OneCollector } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();
const onlyRate = { limits: { requestsPerSecond: 4 } };

async function statuses(api: Api, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let sent = 0; sent < count; sent++) seen.push((await api.get('/collectors/upgrades/targets')).status);
  return seen;
}

itInProcess('§8 request rate: 4 in a second pass, the fifth is answered 429', async () => {
  const { api, clock } = await aService(onlyRate);
  expect(await statuses(api, 5)).toEqual([200, 200, 200, 200, 429]);
  clock.advance(1_000);
  expect(await statuses(api, 5)).toEqual([200, 200, 200, 200, 429]);
});

itInProcess('§8 request rate: no second holds more than 4, wherever it begins', async () => {
  const { api, clock } = await aService(onlyRate);
  const acceptedAt: number[] = [];
  for (let passedMs = 0; passedMs < 10_000; passedMs += 90) {
    if ((await statuses(api, 1))[0] === 200) acceptedAt.push(clock.now());
    clock.advance(90);
  }
  for (const [index, at] of acceptedAt.entries()) {
    const fifth = acceptedAt[index + 4];
    if (fifth !== undefined) expect(fifth - at).toBeGreaterThanOrEqual(1_000);
  }
  expect(acceptedAt.length).toBeGreaterThan(35);
});

itInProcess.each([
  ['evenly spaced', [250]],
  ['a few milliseconds early or late now and then', [250, 246, 254, 253, 249, 244, 254]],
])('§8 request rate: 240 a minute pass when %s', async (_how, spacesMs) => {
  const { api, clock } = await aService(onlyRate);
  for (let sent = 0; sent < 240; sent++) {
    expect((await api.get('/collectors/upgrades/targets')).status).toBe(200);
    clock.advance(spacesMs[sent % spacesMs.length] ?? 0);
  }
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

itInProcess('§8 authentication requests: throttled per minute', async () => {
  const { api, clock } = await aService({ limits: { signInsPerMinute: 3 } });
  const signIn = async () => {
    const authorization = basicAuthorization({ accessId: 'anid', accessKey: 'akey' });
    return (await api.get('/collectors?limit=1', { withoutSession: true, headers: { authorization } }))
      .status;
  };
  expect([await signIn(), await signIn(), await signIn(), await signIn()]).toEqual([200, 200, 200, 401]);
  clock.advance(60_000);
  expect(await signIn()).toBe(200);
});

it.each([
  ['name', 128],
  ['hostName', 128],
  ['description', 1_024],
] as const)('§8 collector %s: %i characters are accepted, one more is refused', async (field, lengthMax) => {
  const { api, own } = target();
  const longest = own.name().padEnd(lengthMax, 'x');
  const { id } = await own.create({ [field]: longest });
  const before = await api.get(`/collectors/${id}`);
  const { collector } = read(OneCollector, before);
  expect(collector[field]).toBe(longest);
  const tooLong = { ...collector, [field]: `${longest}x` };
  expectRefusal(await api.put(`/collectors/${id}`, { collector: tooLong }, etagOf(before)));
  const another = { collectorType: 'Hosted', name: own.name(), [field]: `${longest}y` };
  expectRefusal(await api.post('/collectors', { collector: another }));
});

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
      expect(read(CollectorList, await api.get(path)).collectors).toHaveLength(size);
    }
  },
);

itInProcess('§8 offline threshold: default 100 days, minimum 1', async () => {
  const { api } = await aService({ fleet: { shares: { dead: 0.4 } } });
  const byDefault = read(CollectorList, await api.get('/collectors/offline')).collectors;
  const hundred = read(CollectorList, await api.get('/collectors/offline?aliveBeforeDays=100')).collectors;
  expect(byDefault.length).toBeGreaterThan(0);
  expect(hundred).toEqual(byDefault);
  read(CollectorList, await api.get('/collectors/offline?aliveBeforeDays=1'));
  expectRefusal(await api.get('/collectors/offline?aliveBeforeDays=0'), { status: 400 });
});

itInProcess('§8 upgrade task timeout: failed after 30 minutes', async () => {
  const { api, clock } = await aService({ failures: [{ outcome: 'timeout' }] });
  const [first] = read(CollectorList, await api.get('/collectors/upgrades/collectors?limit=1')).collectors;
  const { id } = JSON.parse((await api.post('/collectors/upgrades', { collectorId: first?.id })).text) as {
    id: string;
  };
  const status = async () =>
    (JSON.parse((await api.get(`/collectors/upgrades/${id}`)).text) as { upgrade: { status: number } })
      .upgrade.status;
  clock.advance(30 * 60_000 - 1);
  expect(await status()).not.toBe(3);
  clock.advance(1);
  expect(await status()).toBe(3);
});

itInProcess('§8 heartbeat: every 15 seconds; dead after 30 minutes', async () => {
  const { api, clock, service } = await aService({ fleet: { shares: { ephemeral: 0, container: 0 } } });
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=alive'));
  const id = collectors.find(({ collectorType }) => collectorType === 'Installable')?.id ?? 0;
  const look = async () => read(OneCollector, await api.get(`/collectors/${id}`)).collector;
  const { lastSeenAlive } = await look();
  clock.advance((lastSeenAlive ?? 0) + 15_000 - clock.now());
  expect((await look()).lastSeenAlive).toBe((lastSeenAlive ?? 0) + 15_000);
  service.world.kill(id);
  clock.advance(30 * 60_000 - 1);
  expect((await look()).alive).toBe(true);
  clock.advance(1);
  expect((await look()).alive).toBe(false);
});

itInProcess('§8 ephemeral deletion: after 12 hours of inactivity', async () => {
  const { api, clock, service } = await aService();
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=alive'));
  const found = collectors.find(({ ephemeral }) => ephemeral);
  service.world.kill(found?.id ?? 0);
  clock.advance((found?.lastSeenAlive ?? 0) + 12 * 3_600_000 - 1 - clock.now());
  expect((await api.get(`/collectors/${found?.id}`)).status).toBe(200);
  clock.advance(1);
  expectRefusal(await api.get(`/collectors/${found?.id}`), { status: 404 });
});
