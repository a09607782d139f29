import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { type Api, basicAuthorization, cookiePair } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import { CollectorList } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();
const minuteMs = 60_000;
const anonymous = { withoutSession: true, headers: { authorization: null } };
const wrongKey = {
  withoutSession: true,
  headers: { authorization: basicAuthorization({ accessId: 'anid', accessKey: 'not the key' }) },
};

it('§5.1 the access ID and access key as Basic credentials are accepted', async () => {
  read(CollectorList, await target().api.get('/collectors?limit=1', { withoutSession: true }));
});

it('§5.1 a request without credentials is answered 401 with a challenge', async () => {
  const answer = await target().api.get('/collectors?limit=1', anonymous);
  expectRefusal(answer, { status: 401, codes: ['unauthorized'] });
  expect(answer.headers['www-authenticate']).toMatch(/^Basic\b/);
});

it('§5.1 a wrong access key is answered 401 unauthorized', async () => {
  expectRefusal(await target().api.get('/collectors?limit=1', wrongKey), {
    status: 401,
    codes: ['unauthorized'],
  });
});

itInProcess.each([
  ['an unknown access ID', basicAuthorization({ accessId: 'nobody', accessKey: 'akey' })],
  ['an empty key', basicAuthorization({ accessId: 'anid', accessKey: '' })],
  ['no colon', `Basic ${Buffer.from('anid').toString('base64')}`],
  ['no base64', 'Basic %%%%'],
  ['another scheme', 'Bearer anid:akey'],
])('§5.1 %s is answered 401', async (_what, authorization) => {
  const { api } = await aService();
  const answer = await api.get('/collectors', { withoutSession: true, headers: { authorization } });
  expectRefusal(answer, { status: 401, codes: ['unauthorized'] });
});

itInProcess.each([
  ['GET', '/collectors/100000001'],
  ['POST', '/collectors'],
  ['PUT', '/collectors/100000001'],
  ['DELETE', '/collectors/100000001'],
  ['GET', '/collectors/100000001/sources'],
  ['GET', '/collectors/upgrades/targets'],
  ['POST', '/collectors/upgrades'],
  ['POST', '/search/jobs'],
] as const)('§5.1 every request carries credentials: %s %s', async (method, path) => {
  const { api } = await aService();
  expectRefusal(await api.send(method, path, anonymous), { status: 401, codes: ['unauthorized'] });
});

itInProcess(
  '§5.3 more sign-ins in a minute than allowed are answered 401, even with valid credentials',
  async () => {
    const { api, clock } = await aService({ limits: { signInsPerMinute: 5 } });
    const signIn = () => api.get('/collectors?limit=1', { withoutSession: true });
    for (let signIns = 0; signIns < 5; signIns++) expect((await signIn()).status).toBe(200);
    const throttled = expectRefusal(await signIn(), { status: 401, codes: ['unauthorized'] });
    expect(throttled.message).toMatch(/credential could not be verified/i);
    clock.advance(minuteMs);
    expect((await signIn()).status).toBe(200);
  },
);

itInProcess('§5.3 a throttled sign-in looks as one with a wrong key', async () => {
  const { api } = await aService({ limits: { signInsPerMinute: 300, failedSignInsPerMinute: 2 } });
  const wrong = expectRefusal(await api.get('/collectors', wrongKey), { status: 401 });
  await api.get('/collectors', wrongKey);
  const throttled = expectRefusal(await api.get('/collectors', { withoutSession: true }), { status: 401 });
  expect({ ...throttled, id: '' }).toEqual({ ...wrong, id: '' });
});

itInProcess('§5.3 failed sign-ins of one client address throttle no other address', async () => {
  const { api, anotherApi } = await aService({
    limits: { signInsPerMinute: 300, failedSignInsPerMinute: 2 },
  });
  for (let sent = 0; sent < 3; sent++) await api.get('/collectors', wrongKey);
  expect((await api.get('/collectors', { withoutSession: true })).status).toBe(401);
  const elsewhere = anotherApi({ localAddress: '127.0.0.2' });
  expect((await elsewhere.get('/collectors', { withoutSession: true })).status).toBe(200);
});

itInProcess('§5.3 a request without credentials is no failed sign-in', async () => {
  const { api } = await aService({ limits: { signInsPerMinute: 1, failedSignInsPerMinute: 1 } });
  for (let sent = 0; sent < 10; sent++) expect((await api.get('/collectors', anonymous)).status).toBe(401);
  expect((await api.get('/collectors', { withoutSession: true })).status).toBe(200);
});

it('§5.4 the service gives a session cookie, and takes it with every follow-up request', async () => {
  const { api } = target();
  const cookie = await sessionCookie(api);
  read(CollectorList, await api.get('/collectors?limit=1', { withoutSession: true, headers: { cookie } }));
});

itInProcess('§5.4 requests with the session cookie are not throttled', async () => {
  const { api } = await aService({ limits: { signInsPerMinute: 1 } });
  const cookie = await sessionCookie(api);
  for (let sent = 0; sent < 20; sent++) {
    expect((await api.get('/collectors?limit=1', { withoutSession: true, headers: { cookie } })).status).toBe(
      200,
    );
  }
  expect((await api.get('/collectors?limit=1', { withoutSession: true })).status).toBe(401);
});

itInProcess('§5.4 a made-up or forgotten cookie spares no sign-in', async () => {
  const { api, service } = await aService({ limits: { signInsPerMinute: 1 } });
  const cookie = await sessionCookie(api);
  const madeUp = cookie.replace(/=.*/, '=made-up');
  expect((await api.get('/collectors', { withoutSession: true, headers: { cookie: madeUp } })).status).toBe(
    401,
  );
  service.forgetSessions();
  expect((await api.get('/collectors', { withoutSession: true, headers: { cookie } })).status).toBe(401);
});

async function sessionCookie(api: Api): Promise<string> {
  const answer = await api.get('/collectors?limit=1', { withoutSession: true });
  const [first] = (answer.headers['set-cookie'] ?? []).map(cookiePair);
  if (first === undefined) throw new Error('the service gave no cookie');
  return first.join('=');
}
