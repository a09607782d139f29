import { expect } from 'vitest';
import { z } from 'zod';
import { expectRefusal, json } from './support/answers.ts';
import { type Api, cookiePair } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { aService } from './support/target.ts';

// Payloads are not shown, so only the service in our hands is asked: in the field a search costs its account something.
const search = {
  query: 'error | count',
  from: '2026-11-21T10:00:00',
  to: '2026-11-21T11:00:00',
  timeZone: 'UTC',
};
const Created = z.looseObject({ id: z.string().min(1) });

async function aJob(api: Api) {
  const answer = await api.post('/search/jobs', search);
  expect([200, 201, 202]).toContain(answer.status);
  const cookies = (answer.headers['set-cookie'] ?? []).map(cookiePair);
  return {
    path: `/search/jobs/${Created.parse(json(answer)).id}`,
    cookie: cookies.map(([name, value]) => `${name}=${value}`).join('; '),
  };
}

itInProcess('§4.5 POST /search/jobs: creates jobs with ids of their own, and a session cookie', async () => {
  const { api } = await aService();
  const { path, cookie } = await aJob(api);
  expect(cookie).toMatch(/^[^=;]+=[^=;]+/);
  expect((await aJob(api)).path).not.toBe(path);
});

itInProcess('§4.5 POST /search/jobs: a body that is not JSON is refused', async () => {
  const { api } = await aService();
  expectRefusal(await api.send('POST', '/search/jobs', { text: '{"query":' }), { status: 400 });
});

itInProcess.each([
  ['', 'answers'],
  ['/messages?offset=0&limit=10', 'takes offset and limit, and answers'],
])('§4.5 GET /search/jobs/[id]%s: %s with the cookie from the creation', async (part) => {
  const { api, anotherApi } = await aService();
  const { path, cookie } = await aJob(api);
  const answer = await anotherApi().get(`${path}${part}`, { headers: { cookie } });
  expect(answer.status).toBe(200);
  expect(json(answer)).toEqual(expect.any(Object));
});

itInProcess('§4.5 GET /search/jobs/[id]: an unknown job is refused', async () => {
  const { api } = await aService();
  await aJob(api);
  expectRefusal(await api.get('/search/jobs/0123456789ABCDEF'), { status: 404 });
});

itInProcess(
  '§5.5 a follow-up call without the cookie fails with 500, or says that the job ID is invalid',
  async () => {
    const { api } = await aService();
    const { path } = await aJob(api);
    for (const followUp of [path, `${path}/messages?offset=0&limit=10`]) {
      const answer = await api.get(followUp, { withoutSession: true });
      if (answer.status !== 500)
        expect(expectRefusal(answer).message).toMatch(/job id.*invalid|invalid.*job id/i);
    }
  },
);

itInProcess('§5.5 the cookie of another session does not lead to the job', async () => {
  const { api, anotherApi } = await aService();
  const [mine, other] = [await aJob(api), await aJob(anotherApi())];
  const answer = await anotherApi().get(mine.path, { headers: { cookie: other.cookie } });
  expect(answer.status).toBeGreaterThanOrEqual(400);
});
