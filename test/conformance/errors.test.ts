import { expect, it } from 'vitest';
import { expectRefusal } from './support/answers.ts';
import type { Api, ApiAnswer } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';

const target = useTarget();
const aService = useControlledServices();
const withoutCredentials = { withoutSession: true, headers: { authorization: null } };
const plainText = { headers: { 'content-type': 'text/plain' } };

const provocations: ReadonlyArray<readonly [string, number, (api: Api) => Promise<ApiAnswer>]> = [
  ['an unknown collector', 404, (api) => api.get('/collectors/1')],
  ['an unknown task', 404, (api) => api.get('/collectors/upgrades/1')],
  ['an invalid parameter', 400, (api) => api.get('/collectors?limit=many')],
  ['a body that is no JSON', 400, (api) => api.send('POST', '/collectors', { text: '{' })],
  ['a refused create', 400, (api) => api.post('/collectors/upgrades', {})],
  ['no credentials', 401, (api) => api.get('/collectors', withoutCredentials)],
  ['a content type', 415, (api) => api.get('/collectors/upgrades/targets', plainText)],
];

it.each(provocations)(
  '§7.1 %s: the error body has status %i, id, code and message',
  async (_what, status, provoke) => {
    const answer = await provoke(target().api);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    expectRefusal(answer, { status });
  },
);

it('§7.1 id names the instance: two errors have two', async () => {
  const { api } = target();
  const answers = [await api.get('/collectors/1'), await api.get('/collectors/1')];
  expect(new Set(answers.map((answer) => expectRefusal(answer).id)).size).toBe(2);
});

itInProcess.each([
  ['GET', '/nothing', 404, {}],
  ['GET', '/collectors/1/nothing', 404, {}],
  ['POST', '/collectors/upgrades/targets/1', 404, {}],
  // It says nothing of what is there.
  ['GET', '/nothing', 401, withoutCredentials],
] as const)(
  '§7.1 an unknown path has an error body too: %s %s, %i',
  async (method, path, status, request) => {
    expectRefusal(await target().api.send(method, path, request), { status });
  },
);

itInProcess('§7.2 429: the request rate is exceeded', async () => {
  const { api } = await aService({ limits: { requestsPerSecond: 1 } });
  await api.get('/collectors?limit=1');
  expectRefusal(await api.get('/collectors?limit=1'), { status: 429 });
});
