import { expect } from 'vitest';
import type { ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import { basicAuthorization } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices } from './support/target.ts';
import { CollectorList, OneCollector, SourceList, TargetList } from './support/wire-shapes.ts';

// Accounts, capabilities and deployments beside one's own can only be had from the service in our hands.
const startService = useControlledServices();

const others = {
  deployments: { eu: { hosts: ['api.eu.example.com'] } },
  accounts: { trial: { enterprise: false }, european: { deployment: 'eu' } },
  keys: [
    { accessId: 'viewer', accessKey: 'k', user: 'viewer', may: 'view' },
    { accessId: 'nobody', accessKey: 'k', user: 'nobody', may: 'nothing' },
    { accessId: 'trial', accessKey: 'k', account: 'trial' },
    { accessId: 'european', accessKey: 'k', account: 'european' },
  ],
} satisfies ScenarioInput;

async function aService() {
  const setup = await startService(others);
  const as = (accessId: string) => setup.anotherApi({ credentials: { accessId, accessKey: 'k' } });
  return { ...setup, as };
}

itInProcess(
  '§1.1 an account lives in one deployment: its collectors are unknown to another account',
  async () => {
    const { api, as } = await aService();
    const { collectors } = read(CollectorList, await api.get('/collectors'));
    const ids = new Set(collectors.map(({ id }) => id));
    const theirs = read(CollectorList, await as('trial').get('/collectors')).collectors;
    expect(theirs.length).toBeGreaterThan(0);
    expect(theirs.filter(({ id }) => ids.has(id))).toEqual([]);
    expectRefusal(await as('trial').get(`/collectors/${collectors[0]?.id}`), {
      status: 404,
      codes: ['InvalidCollector'],
    });
  },
);

itInProcess('§1.1 the host of a deployment other than the default one carries its label', async () => {
  const { as } = await aService();
  const { location = '' } = (await as('european').get('/collectors')).headers;
  expect(new URL(location).hostname.split('.')).toContain('eu');
});

itInProcess(
  '§1.2 an account of another deployment is sent there, and one of the default deployment back',
  async () => {
    const { api, as, service } = await aService();
    const european = { headers: { host: `api.eu.example.com:${service.port}` } };
    const wrong = await as('european').get('/collectors?limit=2');
    expectRefusal(wrong, { status: 301, codes: ['moved'] });
    expect(wrong.headers.location).toBe(
      `http://api.eu.example.com:${service.port}/api/v1/collectors?limit=2`,
    );
    read(CollectorList, await as('european').get('/collectors?limit=2', european));
    const back = await api.get('/collectors?limit=2', european);
    expectRefusal(back, { status: 301, codes: ['moved'] });
    expect(back.headers.location).toBe(`${service.url}/api/v1/collectors?limit=2`);
  },
);

itInProcess('§5.2 with the capability to view, everything can be read', async () => {
  const { as } = await aService();
  const { collectors } = read(CollectorList, await as('viewer').get('/collectors?filter=installed'));
  const path = `/collectors/${collectors[0]?.id}`;
  read(OneCollector, await as('viewer').get(path));
  read(SourceList, await as('viewer').get(`${path}/sources`));
  read(TargetList, await as('viewer').get('/collectors/upgrades/targets'));
});

itInProcess('§5.2 with the capability to view, nothing can be changed', async () => {
  const { as } = await aService();
  const viewer = as('viewer');
  const { collectors } = read(CollectorList, await viewer.get('/collectors?filter=installed'));
  const path = `/collectors/${collectors.find(({ sourceSyncMode }) => sourceSyncMode === 'UI')?.id}`;
  const before = await viewer.get(path);
  const { collector } = read(OneCollector, before);
  const refused = [
    await viewer.post('/collectors', { collector: { collectorType: 'Hosted', name: 'by-a-viewer' } }),
    await viewer.put(path, { collector: { ...collector, description: 'changed' } }, etagOf(before)),
    await viewer.delete(path),
    await viewer.delete('/collectors/offline'),
    await viewer.post(`${path}/sources`, { source: { sourceType: 'LocalFile', name: 'by-a-viewer' } }),
  ];
  for (const answer of refused) expectRefusal(answer, { status: 403 });
  expect(read(OneCollector, await viewer.get(path)).collector).toEqual(collector);
});

itInProcess('§5.2 without either capability, nothing can be read', async () => {
  const { as } = await aService();
  for (const path of ['/collectors', '/collectors/offline', '/collectors/upgrades/targets']) {
    expectRefusal(await as('nobody').get(path), { status: 403 });
  }
});

itInProcess('§5.6 an account that is not Enterprise-level is answered 403 forbidden', async () => {
  const { as } = await aService();
  const created = await as('trial').post('/search/jobs', { query: 'error' });
  const { message } = expectRefusal(created, { status: 403, codes: ['forbidden'] });
  expect(message).toMatch(/not allowed.*account type|account type.*not allowed/i);
  expectRefusal(await as('trial').get('/search/jobs/1'), { status: 403, codes: ['forbidden'] });
  read(CollectorList, await as('trial').get('/collectors'));
});

itInProcess('§5.6 an Enterprise-level account may create a search job', async () => {
  const { api } = await aService();
  expect((await api.post('/search/jobs', { query: 'error' })).status).toBeLessThan(300);
});

itInProcess('§7.3 CannotModifyCollector: the user is not authorized to modify it', async () => {
  const { as } = await aService();
  const viewer = as('viewer');
  const { collectors } = read(CollectorList, await viewer.get('/collectors?limit=1'));
  const path = `/collectors/${collectors[0]?.id}`;
  const before = await viewer.get(path);
  const { collector } = read(OneCollector, before);
  const refusal = { codes: ['CannotModifyCollector'] };
  expectRefusal(await viewer.put(path, { collector }, etagOf(before)), refusal);
  expectRefusal(await viewer.delete(path), refusal);
});

itInProcess('§7.4 InvalidSourceType: a type that needs the sign-in of another vendor (§1)', async () => {
  const { api, own } = await aService();
  const { id } = await own.create();
  const source = { sourceType: 'VendorOAuth', name: own.name('source') };
  expectRefusal(await api.post(`/collectors/${id}/sources`, { source }), { codes: ['InvalidSourceType'] });
});

itInProcess('§7.5 collector.invalid: the caller has no permission for the collector', async () => {
  const { api, as } = await aService();
  const { collectors } = read(CollectorList, await api.get('/collectors/upgrades/collectors?limit=1'));
  const body = { collectorId: collectors[0]?.id };
  for (const accessId of ['viewer', 'trial']) {
    expectRefusal(await as(accessId).post('/collectors/upgrades', body), {
      status: 400,
      codes: ['collector.invalid'],
    });
  }
  expect((await api.post('/collectors/upgrades', body)).status).toBe(202);
});

itInProcess("§8 request rate: one user's requests do not count for another", async () => {
  const { api, anotherApi } = await startService({ ...others, limits: { requestsPerSecond: 4 } });
  const viewer = anotherApi({ credentials: { accessId: 'viewer', accessKey: 'k' } });
  for (let sent = 0; sent < 4; sent++) expect((await api.get('/collectors?limit=1')).status).toBe(200);
  expect((await api.get('/collectors?limit=1')).status).toBe(429);
  expect((await viewer.get('/collectors?limit=1')).status).toBe(200);
});

itInProcess('§5.4 the cookie of one user beside the credentials of another signs in the other', async () => {
  const { api, as } = await aService();
  const first = await as('viewer').get('/collectors?limit=1');
  const cookie = (first.headers['set-cookie'] ?? [])[0]?.split(';', 1)[0] ?? '';
  const authorization = basicAuthorization({ accessId: 'nobody', accessKey: 'k' });
  const answer = await api.get('/collectors', { withoutSession: true, headers: { cookie, authorization } });
  expectRefusal(answer, { status: 403 });
});

itInProcess('§4.2 a source of another account is unknown', async () => {
  const { own, as } = await aService();
  const { id } = await own.create();
  const { id: sourceId } = await own.createSource(id);
  expectRefusal(await as('trial').get(`/collectors/${id}/sources/${sourceId}`), { status: 404 });
});
