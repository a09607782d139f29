import { expect, it } from 'vitest';
import { expectRefusal } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { listCollectors, listSources } from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';

const target = useTarget();
const wrongHost = { host: 'wrong.example.com' };

it('§1 answers are JSON, with the matching Content-Type', async () => {
  const { api } = target();
  for (const path of ['/collectors?limit=1', '/collectors/upgrades/targets']) {
    const answer = await api.get(path);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    expect(typeof JSON.parse(answer.text)).toBe('object');
  }
});

it('§1.1 links in answers are paths below the API host', async () => {
  const { api } = target();
  for (const { id, links } of await listCollectors(api, '/collectors?limit=1')) {
    const href = links.find(({ rel }) => rel === 'sources')?.href ?? '';
    const { pathname } = new URL(href, api.baseUrl);
    expect(pathname.slice(pathname.indexOf('/v1/'))).toBe(`/v1/collectors/${id}/sources`);
    await listSources(api, id);
  }
});

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

itInProcess('§1.2 a wrong deployment changes nothing', async () => {
  const { api } = await aService({ moved: { hosts: [wrongHost.host] } });
  const collector = { collectorType: 'Hosted', name: 'sent-to-the-wrong-place' };
  await api.send('POST', '/collectors', { headers: wrongHost, body: { collector } });
  expectRefusal(await api.get('/collectors/name/sent-to-the-wrong-place'), { status: 404 });
});
