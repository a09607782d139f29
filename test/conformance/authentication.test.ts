import { expect, it } from 'vitest';
import { expectRefusal } from './support/answers.ts';
import { type Api, type ApiAnswer, basicAuthorization, cookiePair } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { aService, useTarget } from './support/target.ts';

const target = useTarget();
const refusal = { status: 401, codes: ['unauthorized'] };
const anonymous = { authorization: null };
const wrongKey = { authorization: basicAuthorization({ accessId: 'anid', accessKey: 'not the key' }) };

/** A request with the credentials of the suite, or with other headers, and without the cookie of an earlier one. */
function signIn(api: Api, headers: Readonly<Record<string, string | null>> = {}): Promise<ApiAnswer> {
  return api.get('/collectors?limit=1', { withoutSession: true, headers });
}

it.each([
  ['no credentials', anonymous],
  ['a wrong access key', wrongKey],
])('§5.1 a request with %s is answered 401 with a challenge', async (_what, headers) => {
  const answer = await signIn(target().api, headers);
  expectRefusal(answer, refusal);
  expect(answer.headers['www-authenticate']).toMatch(/^Basic\b/);
});

itInProcess.each([
  ['an unknown access ID', basicAuthorization({ accessId: 'nobody', accessKey: 'akey' })],
  ['an empty key', basicAuthorization({ accessId: 'anid', accessKey: '' })],
  ['no colon', `Basic ${Buffer.from('anid').toString('base64')}`],
  ['no base64', 'Basic %%%%'],
  ['another scheme', 'Bearer anid:akey'],
])('§5.1 %s is answered 401', async (_what, authorization) => {
  const { api } = await aService();
  expectRefusal(await signIn(api, { authorization }), refusal);
});

itInProcess.each([
  ['GET', '/collectors/100000001'],
  ['POST', '/collectors'],
  ['DELETE', '/collectors/100000001'],
  ['POST', '/collectors/upgrades'],
  ['POST', '/search/jobs'],
] as const)('§5.1 every request carries credentials: %s %s', async (method, path) => {
  const { api } = await aService();
  expectRefusal(await api.send(method, path, { withoutSession: true, headers: anonymous }), refusal);
});

itInProcess(
  '§5.3 more sign-ins in a minute than allowed are answered 401, even with valid credentials',
  async () => {
    const { api, clock } = await aService({ limits: { signInsPerMinute: 5 } });
    for (let signIns = 0; signIns < 5; signIns++) expect((await signIn(api)).status).toBe(200);
    const throttled = expectRefusal(await signIn(api), refusal);
    expect(throttled.message).toMatch(/credential could not be verified/i);
    clock.advance(60_000);
    expect((await signIn(api)).status).toBe(200);
  },
);

itInProcess(
  '§5.3 failed sign-ins throttle their client address alone, with the answer to a wrong key',
  async () => {
    const limits = { signInsPerMinute: 300, failedSignInsPerMinute: 2 };
    const { api, anotherApi } = await aService({ limits });
    const wrong = expectRefusal(await signIn(api, wrongKey), refusal);
    await signIn(api, wrongKey);
    const throttled = expectRefusal(await signIn(api), refusal);
    expect({ ...throttled, id: '' }).toEqual({ ...wrong, id: '' });
    expect((await signIn(anotherApi({ localAddress: '127.0.0.2' }))).status).toBe(200);
  },
);

itInProcess('§5.3 a request without credentials is no failed sign-in', async () => {
  const { api } = await aService({ limits: { signInsPerMinute: 1, failedSignInsPerMinute: 1 } });
  for (let sent = 0; sent < 10; sent++) expect((await signIn(api, anonymous)).status).toBe(401);
  expect((await signIn(api)).status).toBe(200);
});

it('§5.4 the service gives a session cookie, and takes it with every follow-up request', async () => {
  const { api } = target();
  expect((await signIn(api, { cookie: await sessionCookie(api) })).status).toBe(200);
});

itInProcess('§5.4 requests with the session cookie are not throttled', async () => {
  const { api } = await aService({ limits: { signInsPerMinute: 1 } });
  const cookie = await sessionCookie(api);
  for (let sent = 0; sent < 20; sent++) expect((await signIn(api, { cookie })).status).toBe(200);
  expect((await signIn(api)).status).toBe(401);
});

itInProcess('§5.4 an unknown or expired cookie does not replace a sign-in', async () => {
  const { api, service } = await aService({ limits: { signInsPerMinute: 1 } });
  const cookie = await sessionCookie(api);
  expect((await signIn(api, { cookie: cookie.replace(/=.*/, '=made-up') })).status).toBe(401);
  service.forgetSessions();
  expect((await signIn(api, { cookie })).status).toBe(401);
});

async function sessionCookie(api: Api): Promise<string> {
  const [first] = ((await signIn(api)).headers['set-cookie'] ?? []).map(cookiePair);
  if (first === undefined) throw new Error('the service gave no cookie');
  return first.join('=');
}
