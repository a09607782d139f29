import { describe, expect, it, onTestFinished } from 'vitest';
import { unansweredHereMax } from '../../../../src/collector-api/wire/service-addresses.ts';
import { createTask } from '../../../support/create-task.ts';
import {
  type Script,
  sendJson,
  sendText,
  startScriptedServer,
} from '../../../support/network/scripted-server.ts';
import { aCollectorApi, accessId, accessKey } from '../../../support/setup/collector-api-setup.ts';

const basic = `Basic ${Buffer.from(`${accessId}:${accessKey}`).toString('base64')}`;
const targets = { targets: [{ version: '19.500-1', latest: true }] };
const task = { upgrade: { id: 1, status: 1 } };
const create = { collectorId: 1, toBuild: '19.500-1' };
const unauthorized = {
  status: 401,
  id: 'A-B-C',
  code: 'unauthorized',
  message: 'Credential could not be verified.',
};

describe('the session with the service', () => {
  describe('signing in', () => {
    it('sends the credentials with every request, and the cookie with every follow-up', async () => {
      const { server, fleet } = await aCollectorApi((_request, response) =>
        sendJson(response, 200, targets, {
          'set-cookie': ['session=abc; Path=/; HttpOnly; Secure', 'lb=1; Path=/other'],
        }),
      );
      await fleet.listBuilds();
      await fleet.listBuilds();
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([basic, basic]);
      expect(server.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'session=abc']);
      expect(server.requests[0]?.url).toBe('/api/v1/collectors/upgrades/targets');
    });

    it('lets one request sign in while all others wait for its cookie', async () => {
      const release: Array<() => void> = [];
      const { server, fleet, budget } = await aCollectorApi((request, response) => {
        if (request.headers.cookie !== undefined) return sendJson(response, 200, task);
        release.push(() => sendJson(response, 200, task, { 'set-cookie': 'session=abc' }));
        return undefined;
      });
      const looks = Array.from({ length: 10 }, (_, index) => fleet.pollTask(String(index)));
      await expect.poll(() => server.requests.length).toBe(1);
      expect(budget.held()).toBe(1);
      release.forEach((answer) => {
        answer();
      });
      expect((await Promise.all(looks)).every(({ ok }) => ok)).toBe(true);
      expect(server.requests.filter(({ headers }) => headers.cookie === undefined)).toHaveLength(1);
      expect(release).toHaveLength(1);
    });

    it('does not wait for a cookie from a service that sets none', async () => {
      const { fleet, server } = await aCollectorApi((_request, response) => sendJson(response, 200, task));
      await fleet.pollTask('1');
      await Promise.all([fleet.pollTask('2'), fleet.pollTask('3')]);
      expect(server.requests).toHaveLength(3);
    });

    it('fails the requests that waited for a failed sign-in, as not sent', async () => {
      const { fleet, server } = await aCollectorApi((_request, response) =>
        sendText(response, 502, '<html>'),
      );
      const answers = await Promise.all([fleet.pollTask('1'), fleet.pollTask('2'), fleet.pollTask('3')]);
      expect(server.requests).toHaveLength(1);
      expect(answers.map((answer) => !answer.ok && 'sent' in answer.failure && answer.failure.sent)).toEqual([
        true,
        false,
        false,
      ]);
    });

    it('signs in again when the cookie expires, and drops one that the service removes', async () => {
      let setCookie = 'session=one; Max-Age=60';
      const { fleet, server, clock } = await aCollectorApi((_request, response) =>
        sendJson(response, 200, task, { 'set-cookie': setCookie }),
      );
      await fleet.pollTask('1');
      clock.set(clock.now() + 61_000);
      setCookie = 'session=two; Expires=Wed, 01 Jan 2098 00:00:00 GMT';
      await fleet.pollTask('2');
      setCookie = 'session=; Max-Age=0';
      await fleet.pollTask('3');
      await fleet.pollTask('4');
      expect(server.requests.map(({ headers }) => headers.cookie)).toEqual([
        undefined,
        undefined,
        'session=two',
        undefined,
      ]);
    });
  });

  describe('a 401', () => {
    it('means a wrong key when the key has never worked', async () => {
      const { fleet, budget } = await aCollectorApi((_request, response) =>
        sendJson(response, 401, unauthorized),
      );
      const answer = await fleet.listBuilds();
      expect(answer).toMatchObject({ ok: false, failure: { kind: 'misconfigured' } });
      expect(JSON.stringify(answer)).toContain('accessKey');
      expect(budget.pauses).toEqual([]);
    });

    it('means a throttled sign-in once the key has worked, pauses all daemons, and means a wrong key the third time', async () => {
      let status = 200;
      const { fleet, budget, server, throttled } = await aCollectorApi((_request, response) =>
        status === 200
          ? sendJson(response, 200, task, { 'set-cookie': 'session=abc' })
          : sendText(response, status, '<html>Unauthorized</html>'),
      );
      await fleet.pollTask('1');
      status = 401;
      expect(await fleet.pollTask('2')).toMatchObject({
        failure: { kind: 'signInThrottled', retryAfterMs: 75_000 },
      });
      expect(await fleet.pollTask('2')).toMatchObject({ failure: { kind: 'signInThrottled' } });
      expect(await fleet.pollTask('2')).toMatchObject({ failure: { kind: 'misconfigured' } });
      expect(budget.pauses).toEqual(Array(3).fill({ forMs: 75_000, single: true }));
      expect(throttled[0]).toEqual({ reason: '401', pauseMs: 75_000 });
      // The cookie that was refused is not sent again. The first refusal is followed by one request without it.
      expect(server.requests.map(({ headers }) => headers.cookie)).toEqual([
        undefined,
        'session=abc',
        ...[undefined, undefined, undefined],
      ]);
      const before = budget.successes();
      status = 200;
      expect((await fleet.pollTask('2')).ok).toBe(true);
      expect(budget.successes()).toBe(before + 1);
      status = 401;
      expect(await fleet.pollTask('2')).toMatchObject({ failure: { kind: 'signInThrottled' } });
    });

    it('counts once for all requests in flight', async () => {
      let status = 200;
      const waiting: Array<() => void> = [];
      const { fleet, budget, server } = await aCollectorApi((_request, response) => {
        if (status === 200) return sendJson(response, 200, task, { 'set-cookie': 'session=abc' });
        waiting.push(() => sendJson(response, 401, unauthorized));
        return undefined;
      });
      await fleet.pollTask('1');
      status = 401;
      const looks = Array.from({ length: 8 }, () => fleet.pollTask('2'));
      await expect.poll(() => waiting.length).toBe(8);
      waiting.splice(0).forEach((answer) => {
        answer();
      });
      // One of them signs in for all.
      await expect.poll(() => waiting.length).toBe(1);
      waiting[0]?.();
      const kinds = (await Promise.all(looks)).map((answer) => !answer.ok && answer.failure.kind);
      expect(kinds).toEqual(Array(8).fill('signInThrottled'));
      expect(budget.pauses).toHaveLength(1);
      expect(server.requests).toHaveLength(10);
    });

    it('of a stale cookie is followed by one sign-in, for all requests in flight, and by no pause', async () => {
      let valid = 1;
      const { fleet, budget, server } = await aCollectorApi(({ headers }, response) =>
        headers.cookie === undefined || headers.cookie === `session=${valid}`
          ? sendJson(response, 200, task, { 'set-cookie': `session=${valid}` })
          : sendText(response, 401, '<html>Unauthorized</html>'),
      );
      await fleet.pollTask('1');
      for (valid = 2; valid <= 4; valid += 1) {
        const polls = await Promise.all(Array.from({ length: 8 }, () => fleet.pollTask('2')));
        expect(polls.map(({ ok }) => ok)).toEqual(Array(8).fill(true));
      }
      expect(server.requests.filter(({ headers }) => headers.cookie === undefined)).toHaveLength(4);
      expect(budget.pauses).toEqual([]);
      // Each request took its place (P8).
      expect(budget.taken).toHaveLength(server.requests.length);
      expect(budget.held()).toBe(0);
    });

    it('of a stale cookie does not repeat a create: its next intent does, without a pause (P4)', async () => {
      let isStale = false;
      const { fleet, budget, server } = await aCollectorApi(({ headers, method }, response) => {
        if (isStale && headers.cookie !== undefined) return sendJson(response, 401, unauthorized);
        const [status, body] = method === 'POST' ? [202, { id: '5' }] : [200, task];
        return sendJson(response, status, body, { 'set-cookie': 'session=abc' });
      });
      await fleet.pollTask('1');
      isStale = true;
      expect(await createTask(fleet, create)).toMatchObject({
        failure: { kind: 'unavailable', sent: false },
      });
      expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
      expect(await createTask(fleet, create)).toEqual({ ok: true, value: { taskId: '5' } });
      expect(budget.pauses).toEqual([]);
    });

    it('without a cookie is not repeated, because the sign-in is throttled', async () => {
      let status = 200;
      const { fleet, budget, server } = await aCollectorApi((_request, response) =>
        sendJson(response, status, status === 200 ? task : unauthorized),
      );
      await fleet.pollTask('1');
      status = 401;
      expect(await fleet.pollTask('2')).toMatchObject({ failure: { kind: 'signInThrottled' } });
      expect([server.requests.length, budget.pauses.length]).toEqual([2, 1]);
    });
  });

  it('stores that the key has worked, and reads this only after a 401', async () => {
    let status = 200;
    const notices: string[] = [];
    const keyMemory = {
      hasWorked: async () => {
        notices.push('asked');
        return false;
      },
      worked: async () => {
        notices.push('worked');
      },
    };
    const { fleet } = await aCollectorApi(
      (_request, response) => sendJson(response, status, status === 200 ? targets : unauthorized),
      { keyMemory },
    );
    status = 401;
    expect(await fleet.listBuilds()).toMatchObject({ failure: { kind: 'misconfigured' } });
    status = 200;
    await fleet.listBuilds();
    expect(notices).toEqual(['asked', 'worked']);
  });

  describe('a 429', () => {
    it('pauses the whole budget, and a success ends the growth of pauses', async () => {
      let status = 429;
      const { fleet, budget, throttled } = await aCollectorApi((_request, response) =>
        status === 429
          ? sendJson(response, 429, {
              id: 'X',
              errors: [{ code: 'rate.limit.exceeded', message: 'slow down' }],
            })
          : sendJson(response, 200, targets),
      );
      for (let time = 0; time < 8; time += 1) {
        expect(await fleet.listBuilds()).toMatchObject({ failure: { kind: 'throttled' } });
      }
      expect(budget.pauses).toEqual(Array(8).fill({ forMs: 0, single: false }));
      expect(throttled).toHaveLength(8);
      status = 200;
      await fleet.listBuilds();
      expect(budget.successes()).toBe(1);
      await fleet.listBuilds();
      expect(budget.successes()).toBe(1);
    });

    it('pauses for as long as Retry-After says', async () => {
      const { fleet, budget } = await aCollectorApi((_request, response) =>
        sendText(response, 429, '<html>', { 'retry-after': '7' }),
      );
      expect(await fleet.listBuilds()).toMatchObject({ failure: { kind: 'throttled' } });
      expect(budget.pauses).toEqual([{ forMs: 7_000, single: false }]);
    });
  });

  it('reports a success in a single phase that another daemon started', async () => {
    const { fleet, budget } = await aCollectorApi((_request, response) => sendJson(response, 200, targets));
    await fleet.listBuilds();
    const before = budget.successes();
    budget.markSingle(true);
    await fleet.listBuilds();
    expect(budget.successes()).toBe(before + 1);
  });

  describe('a 301', () => {
    const well: Script = (_request, response) => sendJson(response, 200, targets);
    const moveTo =
      (url: string): Script =>
      (request, response) =>
        sendJson(response, 301, { status: 301, code: 'moved' }, { location: `${url}${request.url}` });

    /** A service that redirects to another host, which is allowed unless `allowedHosts` says otherwise. */
    async function movedTo(
      there: Script,
      options: { readonly allowedHosts?: string[]; readonly path?: string } = {},
    ) {
      const other = await startScriptedServer(there);
      onTestFinished(() => other.close());
      const { allowedHosts = [`127.0.0.1:${other.port}`], path = '' } = options;
      return { other, ...(await aCollectorApi(moveTo(`${other.url}${path}`), { allowedHosts })) };
    }

    it('names the new base URL, and sends nothing there', async () => {
      const { fleet, other } = await movedTo(well, { allowedHosts: [] });
      const answer = await fleet.listBuilds();
      expect(answer).toMatchObject({ failure: { kind: 'misconfigured' } });
      expect(JSON.stringify(answer)).toContain(`${other.url}/api.`);
      expect(other.requests).toEqual([]);
    });

    it('is followed to an allowed host, which is used from then on, with no cookie of the first', async () => {
      const { fleet, server, other, moved, budget } = await movedTo((_request, response) =>
        sendJson(response, 200, targets, { 'set-cookie': 'session=new' }),
      );
      expect((await fleet.listBuilds()).ok).toBe(true);
      expect((await fleet.listBuilds()).ok).toBe(true);
      expect(server.requests).toHaveLength(1);
      expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([basic, basic]);
      expect(other.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'session=new']);
      expect(moved).toEqual([`${other.url}/api`]);
      expect(budget.taken).toHaveLength(3);
      expect(budget.held()).toBe(0);
    });

    it('does not repeat a create by itself: the next one goes to the new address', async () => {
      const { fleet, other } = await movedTo((_request, response) => sendJson(response, 202, { id: '5' }));
      let intents = 0;
      const start = () =>
        createTask(fleet, create, async () => {
          intents += 1;
          return true;
        });
      expect(await start()).toMatchObject({ failure: { kind: 'unavailable', sent: false } });
      expect(other.requests).toHaveLength(0);
      expect(await start()).toEqual({ ok: true, value: { taskId: '5' } });
      expect(intents).toBe(2);
    });

    it('that is repeated keeps the cookies of a bounded number of targets', async () => {
      let place = '/api';
      let next = 1;
      const { fleet, server } = await aCollectorApi((request, response) => {
        if (request.path.startsWith(`${place}/`)) {
          return sendJson(response, 200, targets, { 'set-cookie': `session=of-${place.slice(1)}` });
        }
        return sendText(response, 301, '', { location: `${server.url}${place}/v1/` });
      });
      const moveOn = async (to: string) => {
        place = to;
        expect((await fleet.listBuilds()).ok).toBe(true);
        return server.requests.at(-1)?.headers.cookie;
      };
      await moveOn('/api');
      expect(await moveOn('/first')).toBeUndefined();
      await moveOn('/second');
      expect(await moveOn('/first')).toBe('session=of-first');
      for (; next <= 20; next += 1) await moveOn(`/place-${next}`);
      expect(await moveOn('/first')).toBeUndefined();
      expect(await moveOn('/api')).toBe('session=of-api');
    });

    it('is not followed in circles', async () => {
      const { fleet, server, other } = await movedTo((request, response) =>
        moveTo(server.url)(request, response),
      );
      expect(await fleet.listBuilds()).toMatchObject({ failure: { kind: 'misconfigured' } });
      expect(server.requests.length + other.requests.length).toBeLessThanOrEqual(4);
    });

    it.each([
      ['a secret', accessKey],
      ['too much', 'x'.repeat(9_000)],
    ])('to an address with %s is not followed, and reported without it (P12)', async (_what, words) => {
      const { fleet, other, moved } = await movedTo(well, { path: `/${words}` });
      const answer = await fleet.listBuilds();
      expect(answer).toMatchObject({ failure: { kind: 'misconfigured' } });
      expect(JSON.stringify(answer)).not.toContain(words);
      expect(JSON.stringify(answer).length).toBeLessThan(1_500);
      expect(moved).toEqual([]);
      expect(other.requests).toEqual([]);
    });

    describe('that led to a wrong place', () => {
      /** A client that a service redirected once, before it recovered. */
      async function astray(there: Script) {
        const { fleet, server, other, budget } = await movedTo(well);
        expect((await fleet.listBuilds()).ok).toBe(true);
        other.follow(there);
        /** The configured address serves again. */
        const cure = () =>
          server.follow((request, response) =>
            request.method === 'POST'
              ? sendJson(response, 202, { id: '5' })
              : sendJson(response, 200, request.path.endsWith('/targets') ? targets : task),
          );
        const seen = () => ({ here: server.requests.length, there: other.requests.length });
        return { fleet, budget, other, server, cure, seen };
      }
      const gone: Script = (_request, response) => sendJson(response, 404, { code: 'notfound' });

      it('is abandoned when its target fails, and the configured address is used again', async () => {
        const { fleet, cure, other } = await astray((_request, response) => void response.destroy());
        cure();
        for (let time = 1; time <= unansweredHereMax; time += 1) {
          expect(await fleet.pollTask('1')).toMatchObject({ failure: { kind: 'unavailable' } });
        }
        const before = other.requests.length;
        expect((await fleet.pollTask('1')).ok).toBe(true);
        expect((await fleet.listBuilds()).ok).toBe(true);
        expect(other.requests).toHaveLength(before);
      });

      it.each([
        ['JSON', gone],
        ['a page', (_request: unknown, response) => sendText(response, 404, '<html>')],
      ] as Array<[string, Script]>)(
        'is abandoned after a 404 (%s), and the configured address is used next (P13)',
        async (_what, there) => {
          const { fleet, cure, other, budget } = await astray(there);
          cure();
          const before = other.requests.length;
          expect((await fleet.pollTask('1')).ok).toBe(false);
          expect((await fleet.pollTask('1')).ok).toBe(true);
          expect((await fleet.listBuilds()).ok).toBe(true);
          expect(other.requests).toHaveLength(before + 1);
          expect(budget.held()).toBe(0);
        },
      );

      it('is followed again while the configured address still redirects there', async () => {
        const { fleet, seen } = await astray(gone);
        const before = seen();
        for (let time = 1; time <= 2; time += 1)
          expect(await fleet.pollTask('1')).toMatchObject({ failure: { kind: 'notFound' } });
        expect(seen()).toEqual({ here: before.here + 1, there: before.there + 2 });
      });

      it('is a transient error when the builds are not found (P13)', async () => {
        const { fleet } = await astray(gone);
        expect(await fleet.listBuilds()).toMatchObject({ failure: { kind: 'unavailable' } });
      });

      it('does not retry a create (P1)', async () => {
        const { fleet, seen, cure } = await astray(gone);
        cure();
        const before = seen();
        const answer = await createTask(fleet, create);
        expect(answer).toMatchObject({ failure: { kind: 'notFound' } });
        expect(seen()).toEqual({ here: before.here, there: before.there + 1 });
      });

      it('returns the place in the budget when the read before a create finds nothing', async () => {
        const { fleet, budget } = await astray(gone);
        budget.markProbe(true);
        const answer = await createTask(fleet, create);
        expect(answer).toMatchObject({ failure: { kind: 'unavailable', sent: false } });
        expect(budget.held()).toBe(0);
      });

      it('alternates with the configured address while neither answers', async () => {
        const dead: Script = (_request, response) => void response.destroy();
        const { fleet, server, other, seen } = await astray(dead);
        server.follow(dead);
        const before = seen();
        for (let time = 1; time <= 3 * unansweredHereMax; time += 1) await fleet.pollTask('1');
        expect(seen()).toEqual({
          here: before.here + unansweredHereMax,
          there: before.there + 2 * unansweredHereMax,
        });
        other.follow((_request, response) => sendJson(response, 200, task));
        for (let time = 1; time <= unansweredHereMax; time += 1) await fleet.pollTask('1');
        expect((await fleet.pollTask('1')).ok).toBe(true);
      });
    });

    it('without a Location is a misconfiguration too', async () => {
      const { fleet } = await aCollectorApi((_request, response) => sendText(response, 301, ''));
      expect(await fleet.listBuilds()).toMatchObject({ failure: { kind: 'misconfigured' } });
    });
  });

  it('drops cookies that make the header too long for the server (431), without using up an attempt', async () => {
    const { fleet, server } = await aCollectorApi((request, response) =>
      request.headers.cookie === undefined
        ? sendJson(response, 200, task, { 'set-cookie': `a=${'x'.repeat(3_500)}` })
        : sendText(response, 431, '<html>'),
    );
    expect((await fleet.pollTask('1')).ok).toBe(true);
    expect(await createTask(fleet, create)).toMatchObject({
      failure: { kind: 'unavailable', sent: false },
    });
    expect((await fleet.pollTask('1')).ok).toBe(true);
    expect(server.requests.map(({ headers }) => headers.cookie?.length)).toEqual([
      undefined,
      3_502,
      undefined,
    ]);
  });

  it('shows no secret in any failure, even when the service repeats it', async () => {
    let status = 200;
    const { fleet } = await aCollectorApi((request, response) =>
      sendJson(
        response,
        status,
        status === 200
          ? task
          : {
              code: 'odd',
              message: `you sent ${request.headers.authorization} ${accessKey} ${request.headers.cookie}`,
            },
        { 'set-cookie': 'session=cookie-secret' },
      ),
    );
    await fleet.pollTask('1');
    for (status of [400, 403, 404, 415, 418, 500]) {
      const text = JSON.stringify(await fleet.pollTask('1'));
      expect(text).toContain('"ok":false');
      for (const secret of [accessKey, basic.slice(6), 'cookie-secret']) expect(text).not.toContain(secret);
    }
  });
});
