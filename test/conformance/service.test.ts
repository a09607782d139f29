import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList, SourceList, TargetList } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();

it('§1 POST /collectors: an Installed Collector cannot be created through the service', async () => {
  const { api, own } = target();
  const name = own.name('installed');
  const collector = { collectorType: 'Installable', name, ephemeral: false };
  const answer = await api.post('/collectors', { collector });
  expectRefusal(answer, { codes: ['InvalidCollectorType'] });
  expectRefusal(await api.get(`/collectors/name/${name}`));
});

it('§1 answers are JSON, and say so', async () => {
  const { api } = target();
  for (const path of ['/collectors?limit=1', '/collectors/upgrades/targets']) {
    const answer = await api.get(path);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    expect(typeof JSON.parse(answer.text)).toBe('object');
  }
});

it('§1.1 the API of the account is at {base_url}/v1', async () => {
  const { api } = target();
  const { collectors } = read(CollectorList, await api.get('/collectors?limit=1'));
  expect(collectors.length).toBeLessThanOrEqual(1);
  read(TargetList, await api.get('/collectors/upgrades/targets'));
});

it('§1.1 links in answers are paths below the API host', async () => {
  const { api } = target();
  const { collectors } = read(CollectorList, await api.get('/collectors?limit=1'));
  for (const { id, links } of collectors) {
    const href = links.find(({ rel }) => rel === 'sources')?.href ?? '';
    expect(href).toMatch(new RegExp(`/v1/collectors/${id}/sources$`));
    const { pathname } = new URL(href, api.baseUrl);
    read(SourceList, await api.get(pathname.slice(pathname.indexOf('/v1/') + 3)));
  }
});

const wrongHost = { host: 'wrong.example.com' };

itInProcess.each([
  ['GET', '/collectors?limit=3&filter=alive'],
  ['GET', '/collectors/upgrades/targets'],
  ['PUT', '/collectors/1'],
  ['DELETE', '/collectors/1'],
  ['POST', '/collectors'],
] as const)(
  '§1.2 %s %s: the wrong deployment answers 301 moved and the correct address',
  async (method, path) => {
    const { api, service } = await aService({ moved: { hosts: [wrongHost.host] } });
    const answer = await api.send(method, path, { headers: wrongHost });
    expectRefusal(answer, { status: 301, codes: ['moved'] });
    expect(answer.headers.location).toBe(`${service.url}/api/v1${path}`);
  },
);

itInProcess('§1.2 the address in Location answers the same request', async () => {
  const { api } = await aService({ moved: { hosts: [wrongHost.host] } });
  const { location = '' } = (await api.get('/collectors?limit=3', { headers: wrongHost })).headers;
  const followed = await fetch(location, { headers: { authorization: `Basic ${btoa('anid:akey')}` } });
  expect(followed.status).toBe(200);
  expect(CollectorList.parse(await followed.json()).collectors).toHaveLength(3);
});

itInProcess('§1.2 a wrong deployment changes nothing', async () => {
  const { api } = await aService({ moved: { hosts: [wrongHost.host] } });
  const collector = { collectorType: 'Hosted', name: 'sent-to-the-wrong-place' };
  await api.send('POST', '/collectors', { headers: wrongHost, body: { collector } });
  expectRefusal(await api.get('/collectors/name/sent-to-the-wrong-place'), { status: 404 });
});
