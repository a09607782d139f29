import { expect, it } from 'vitest';
import { expectRefusal } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { aService, useTarget } from './support/target.ts';

const target = useTarget();
const withoutCredentials = { withoutSession: true, headers: { authorization: null } };
const plainText = { headers: { 'content-type': 'text/plain' } };

it('§7.1 a refusal is JSON with its status, id, code and message, as each one of this suite is', async () => {
  const { api } = target();
  expectRefusal(await api.get('/collectors?limit=many'), { status: 400 });
  expectRefusal(await api.get('/collectors/upgrades/targets', plainText), { status: 415 });
});

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
  '§7.1 an unknown path is answered with an error body: %s %s, %i',
  async (method, path, status, request) => {
    expectRefusal(await target().api.send(method, path, request), { status });
  },
);

itInProcess('§7.2 429: the request rate is exceeded', async () => {
  const { api } = await aService({ limits: { requestsPerSecond: 1 } });
  await api.get('/collectors?limit=1');
  expectRefusal(await api.get('/collectors?limit=1'), { status: 429 });
});
