import { expect } from 'vitest';
import type { ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import { expectRefusal } from './support/answers.ts';
import { basicAuthorization } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import {
  findInstalled,
  getCollector,
  idsOf,
  listBuilds,
  listCollectors,
  listSources,
  openResource,
  upgradableId,
} from './support/resources.ts';
import { aService as startService } from './support/target.ts';

// Accounts, capabilities and deployments beside one's own can only be had from the service in our hands.

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
    const [first, ...rest] = idsOf(await listCollectors(api));
    const theirs = idsOf(await listCollectors(as('trial')));
    expect(theirs.length).toBeGreaterThan(0);
    expect(theirs.filter((id) => id === first || rest.includes(id))).toEqual([]);
    const refusal = { status: 404, codes: ['InvalidCollector'] };
    expectRefusal(await as('trial').get(`/collectors/${first}`), refusal);
  },
);

itInProcess('§1.2 a request to the wrong deployment is redirected to the host of the account', async () => {
  const { api, as, service } = await aService();
  const european = { headers: { host: `api.eu.example.com:${service.port}` } };
  const path = '/collectors?limit=2';
  for (const [answer, home] of [
    [await as('european').get(path), `http://api.eu.example.com:${service.port}`],
    [await api.get(path, european), service.url],
  ] as const) {
    expectRefusal(answer, { status: 301, codes: ['moved'] });
    expect(answer.headers.location).toBe(`${home}/api/v1${path}`);
  }
  expect((await as('european').get(path, european)).status).toBe(200);
});

itInProcess('§5.2 with the capability to view, everything can be read, and nothing changed', async () => {
  const { as } = await aService();
  const viewer = as('viewer');
  const { id } = await findInstalled(viewer);
  const path = `/collectors/${id}`;
  await listSources(viewer, id);
  await listBuilds(viewer);
  const { put, stated } = await openResource(viewer, path);
  for (const answer of [await put({ description: 'changed' }), await viewer.delete(path)])
    expectRefusal(answer, { status: 403, codes: ['CannotModifyCollector'] });
  const refused = [
    await viewer.post('/collectors', { collector: { collectorType: 'Hosted', name: 'by-a-viewer' } }),
    await viewer.delete('/collectors/offline'),
    await viewer.post(`${path}/sources`, { source: { sourceType: 'LocalFile', name: 'by-a-viewer' } }),
  ];
  for (const answer of refused) expectRefusal(answer, { status: 403 });
  expect(await getCollector(viewer, id)).toEqual(stated);
});

itInProcess('§5.2 without either capability, nothing can be read', async () => {
  const { as } = await aService();
  for (const path of ['/collectors', '/collectors/offline', '/collectors/upgrades/targets']) {
    expectRefusal(await as('nobody').get(path), { status: 403 });
  }
});

itInProcess(
  '§5.6 only an Enterprise-level account may use search jobs: another is answered 403',
  async () => {
    const { api, as } = await aService();
    const refusal = { status: 403, codes: ['forbidden'] };
    const created = await as('trial').post('/search/jobs', { query: 'error' });
    expect(expectRefusal(created, refusal).message).toMatch(
      /not allowed.*account type|account type.*not allowed/i,
    );
    expectRefusal(await as('trial').get('/search/jobs/1'), refusal);
    await listCollectors(as('trial'));
    expect((await api.post('/search/jobs', { query: 'error' })).status).toBeLessThan(300);
  },
);

itInProcess('§7.4 InvalidSourceType: a type that needs the sign-in of another vendor (§1)', async () => {
  const { api, own } = await aService();
  const { id } = await own.create();
  const source = { sourceType: 'VendorOAuth', name: own.name('source') };
  expectRefusal(await api.post(`/collectors/${id}/sources`, { source }), { codes: ['InvalidSourceType'] });
});

itInProcess('§7.5 collector.invalid: the caller has no permission for the collector', async () => {
  const { api, as } = await aService();
  const body = { collectorId: await upgradableId(api) };
  const refusal = { status: 400, codes: ['collector.invalid'] };
  for (const accessId of ['viewer', 'trial'])
    expectRefusal(await as(accessId).post('/collectors/upgrades', body), refusal);
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
