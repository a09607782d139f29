import { createHash } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../../src/admin-api/admin-api.ts';
import { AdminErrorBody } from '../../../src/contract/admin/api.ts';
import { isRedisSilence } from '../../../src/redis/connection/redis-errors.ts';
import { startedAt } from '../../support/builders.ts';
import { ending } from '../../support/ending.ts';
import { aRolloutStatus, makeFakeOperations } from '../../support/fake-operations.ts';
import { askRaw as ask } from '../../support/network/raw-http.ts';
import { startFakeAdminApi } from '../../support/start-fake-admin-api.ts';

const running = 'production-20260302-1';
const ended = 'production-20260201-1';
const unavailable = { kind: 'unavailable', reason: 'the service does not answer' } as const;
const token = 'correct-horse-battery-staple';

function someOperations() {
  return makeFakeOperations({
    rollouts: [aRolloutStatus(), aRolloutStatus({ id: ended, state: 'succeeded', endedAt: startedAt })],
    holdResults: {
      '19.536-4': { kind: 'done', subject: { kind: 'build', build: '19.536-4' } },
      'web-7': { kind: 'unchanged', subject: { kind: 'collector', collectorId: 7, name: 'web-7' } },
      'web-8': unavailable,
    },
    explanations: {
      'web-8': unavailable,
    },
  });
}

const segments = ['pause', 'resume', 'approve', 'skip-soak', 'abort', 'rollback', 'retry'] as const;

describe('startAdminApi', () => {
  let now = startedAt;
  let operations = someOperations();
  const reported: unknown[] = [];

  const start = async (parts: Partial<AdminApiParts> = {}) => {
    now = startedAt;
    reported.length = 0;
    operations = someOperations();
    const reportError = (error: unknown) => void reported.push(error);
    const clock = { now: () => now };
    const { url } = ending(await startFakeAdminApi(operations, { clock, reportError, ...parts }));
    const v1 = `${url}/api/v1`;
    const send = (method: string) => (path: string, body?: object | string) =>
      ask(`${v1}${path}`, {
        method,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
    return { url, v1, get: (path: string) => ask(`${v1}${path}`), post: send('POST'), send };
  };
  type Answer = Awaited<ReturnType<typeof ask>>;
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  /** An answer of this status whose body is an error with this code and these words. */
  const expectError = ({ status, json }: Answer, expected: number, code: string, words = '') => {
    const body = AdminErrorBody.parse(json());
    expect([status, body.code, body.message]).toEqual([expected, code, expect.stringContaining(words)]);
  };
  const nothingDone = () => {
    expect(operations.requests).toEqual([]);
    expect(operations.holdRequests).toEqual([]);
  };

  describe('health', () => {
    it.each([
      [async () => ({ redis: { ok: true, reason: 'answers' } }), 200, '"ready":true'],
      [async () => ({ redis: { ok: false, reason: 'ECONNREFUSED' } }), 503, 'ECONNREFUSED'],
      [() => Promise.reject(new Error('secret inside')), 503, '"ready":false'],
    ])(
      'is alive whatever the checks show, and ready only when all pass: case %#',
      async (readiness, status, words) => {
        const { url } = await start({ readiness });
        const alive = await ask(`${url}/healthz`);
        expect([alive.status, alive.json()]).toEqual([200, { alive: true, version: '0.1.0' }]);
        const ready = await ask(`${url}/readyz`);
        expect([ready.status, ready.text]).toEqual([status, expect.stringContaining(words)]);
        expect(ready.text).not.toContain('secret inside');
      },
    );
  });

  it('serves the exposed metrics at /metrics', async () => {
    const contentType = 'text/plain; version=0.0.4; charset=utf-8';
    const { url } = await start({
      metrics: { expose: async () => ({ contentType, body: 'upwave_leader 0\n' }) },
    });
    const answer = await ask(`${url}/metrics`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, contentType]);
    expect(answer.text).toBe('upwave_leader 0\n');
  });

  describe('reads', () => {
    it('answers 404 for an unknown resource, and 400 for an impossible page, naming the mistake', async () => {
      const { get } = await start();
      const unknown = ['', '/collectors', '/events', '/verbs'].map((part) => `/rollouts/no-such${part}`);
      const beyond = ['/rollouts?before=unknown-20260101-1', `/rollouts/${running}/collectors?wave=nightly`];
      for (const path of [...unknown, ...beyond, '/nothing/here'])
        expectError(await get(path), 404, 'notFound');
      const collectors = `/rollouts/${running}/collectors`;
      for (const [path, key] of [
        ...['limit=0', 'limit=100000', 'limit=x'].map(
          (query) => [`${collectors}?${query}`, 'limit'] as const,
        ),
        [`${collectors}?after=-1`, 'after'],
        [`${collectors}?state=sleeping`, 'state'],
        ['/rollouts?limit=101', 'limit'],
        ['/audit?limit=1001', 'limit'],
      ] as const)
        expectError(await get(path), 400, 'invalid', `query.${key}`);
      const attribute = await get(`${collectors}?attributes=rack7`);
      expectError(attribute, 400, 'invalid', 'rack7 is not an attribute');
    });
  });

  describe('verbs', () => {
    /** What each verb names (P15). */
    const bodies: Readonly<Record<string, object>> = {
      resume: { hold: 17 },
      approve: { wave: 'rest' },
      'skip-soak': { wave: 'canary' },
      retry: { failed: 3, cause: 'timedOut' },
    };

    it.each(segments)('%s is refused for a rollout that is over or not there', async (segment) => {
      const { post } = await start();
      expectError(await post(`/rollouts/no-such/${segment}`, bodies[segment]), 404, 'notFound');
      const refused = await post(`/rollouts/${ended}/${segment}`, bodies[segment]);
      expectError(refused, 409, 'refused', 'it has ended: succeeded');
    });

    it.each([
      ['resume', {}, 'name the hold: `hold` of GET /rollouts/{id}'],
      ['approve', {}, 'name either the `wave` or the `planHash` to approve'],
      ['approve', { planHash: '7f3a', wave: 'rest' }, 'either the `wave` or the `planHash`'],
      ['skip-soak', {}, 'name the `wave`'],
      ['retry', {}, 'state how many collectors were shown as `failed`'],
      ['approve', { planHash: '' }, 'planHash'],
      ['approve', { planHash: 5 }, 'planHash'],
      ['retry', { failed: 2, cause: 7 }, 'cause'],
      ['retry', { failed: -1 }, 'failed'],
      ['retry', { failed: 2, collectorIds: [] }, 'collectorIds'],
      ['retry', { failed: 2, collectorIds: ['web-1'] }, 'collectorIds'],
      ['pause', '{"reason":', ''],
      ['pause', { reason: 5 }, 'reason'],
      // The daemon's own name.
      ['pause', { by: 'daemon' }, 'by'],
    ])(
      '%s with %j is refused before it changes anything, with the target to name (P15)',
      async (segment, body, words) => {
        const { post } = await start();
        expectError(await post(`/rollouts/${running}/${segment}`, body), 400, 'invalid', words);
        nothingDone();
      },
    );

    it.each(['pause', 'abort', 'rollback'])(
      '%s needs no body, so that an operator can stop a rollout quickly',
      async (segment) => {
        const { post } = await start();
        expect((await post(`/rollouts/${running}/${segment}`)).status).toBe(200);
        const unsaid = { by: 'operator', reason: 'no reason given' };
        expect(operations.requests).toEqual([{ rolloutId: running, verb: segment, ...unsaid }]);
      },
    );

    it('are accepted from our own page, and refused from a page of any other origin', async () => {
      const { url, v1 } = await start();
      const pauseFrom = (origin: string) =>
        ask(`${v1}/rollouts/${running}/pause`, { method: 'POST', headers: { origin } });
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', 'no url'])
        expect((await pauseFrom(origin)).status).toBe(403);
      const strange = [{ 'sec-fetch-site': 'cross-site' }, { host: 'evil.com#.localhost' }];
      for (const headers of strange)
        expect((await ask(`${v1}/rollouts/${running}/pause`, { method: 'POST', headers })).status).toBe(403);
      nothingDone();
      expect((await pauseFrom(url)).status).toBe(200);
    });
  });

  describe('holds', () => {
    it.each([
      ['holds', 'hold'],
      ['releases', 'release'],
    ])('are changed by a POST to /%s that names one existing subject', async (path, did) => {
      const { post } = await start();
      expect((await post(`/${path}`, { subject: ' 19.536-4 ' })).status).toBe(200);
      const asked = { did, subject: '19.536-4', by: 'operator', reason: 'no reason given' };
      expect(operations.holdRequests).toEqual([asked]);
      const unknown = await post(`/${path}`, { subject: 'no-such' });
      expectError(unknown, 404, 'notFound', 'no-such is not a build, a stratum of a current rollout, or an ');
      expectError(await post(`/${path}`, { subject: 'web-8' }), 503, 'unavailable', unavailable.reason);
      for (const body of ['', '{}', '{"subject":""}', '{"subject":7}', '{"subject":"a","by":"daemon"}', '{'])
        expectError(await post(`/${path}`, body), 400, 'invalid');
      const subjects = operations.holdRequests.map(({ subject }) => subject);
      expect(subjects).toEqual(['19.536-4', 'no-such', 'web-8']);
    });
  });

  describe('slow requests', () => {
    it('have a deadline for each kind: a read, a change, and a change that reads the fleet', async () => {
      const { get, post } = await start({ readWithinMs: 1, actWithinMs: 40, approveWithinMs: 80 });
      operations.hang();
      for (const [withinMs, answering] of [
        [40, post(`/rollouts/${running}/pause`)],
        [40, post('/holds', { subject: 'web-7' })],
        [40, post('/releases', { subject: 'web-7' })],
        [40, get('/collectors/7/explanation')],
        [80, post(`/rollouts/${running}/approve`, { wave: 'rest' })],
      ] as const)
        expectError(await answering, 503, 'unavailable', `no end within ${withinMs}ms`);
      expect((await get('/rollouts')).status).toBe(503);
    });
  });

  describe('without Redis', () => {
    const away = async () => ({ redis: { ok: false, reason: 'ECONNREFUSED' } });

    it('answers 503 for every read, and does not report a bug', async () => {
      const { get } = await start({ readiness: away });
      operations.breakWith(new Error('Connection is closed.'));
      const ofRollout = ['', '/events', '/verbs'].map((part) => `/rollouts/${running}${part}`);
      for (const path of [
        '/rollouts',
        ...ofRollout,
        '/holds',
        '/audit',
        '/builds',
        '/collectors/7/explanation',
      ])
        expectError(await get(path), 503, 'unavailable');
      expect(reported).toEqual([]);
    });

    it('answers 503 for a verb and a hold at once, without waiting for Redis to come back', async () => {
      const { post } = await start({ readiness: away });
      operations.hang();
      for (const path of [`/rollouts/${running}/pause`, '/holds', '/releases']) {
        const answer = await post(path, path.startsWith('/rollouts') ? undefined : { subject: 'web-7' });
        expectError(answer, 503, 'unavailable', 'Redis does not answer');
      }
      nothingDone();
    });

    it('names why Redis refuses writes when it refuses a verb for that', async () => {
      const reason = 'redis://10.0.0.7:6379 refuses writes: OOM command not allowed';
      const { post } = await start({
        readiness: async () => ({ redis: { ok: false, kind: 'unwritable', reason } }),
      });
      const answer = await post(`/rollouts/${running}/pause`);
      expectError(answer, 503, 'unavailable', `${reason}. Nothing was changed`);
      nothingDone();
    });

    it('reports that it is unknown whether a verb without an answer of Redis is in force', async () => {
      const { get, post } = await start({ isUnavailable: isRedisSilence });
      operations.breakWith(new Error('Command timed out'));
      const unknown = 'Redis does not answer; whether this was stored is unknown: repeat it';
      for (const verb of ['pause', 'approve'])
        expectError(
          await post(`/rollouts/${running}/${verb}`, { wave: 'rest' }),
          503,
          'unavailable',
          unknown,
        );
      const words = 'Redis does not answer, so the state is unknown';
      expectError(await get('/rollouts'), 503, 'unavailable', words);
    });

    it('answers 500 for a bug, and shows the bug only in the log', async () => {
      const { get } = await start();
      operations.breakWith(new Error('undefined is not a function'));
      const answer = await get('/rollouts');
      expect(answer.status).toBe(500);
      expect(answer.text).not.toContain('undefined is not');
      expect(reported).toEqual([new Error('undefined is not a function')]);
    });
  });

  describe('with a token', () => {
    it('serves all but the page and health only with the token, and shows it in no answer', async () => {
      const { url } = await start({ token });
      const asWhom = async (path: string, headers?: Record<string, string>) => {
        const answer = await ask(`${url}${path}`, { headers: headers ?? {} });
        expect(answer.text + JSON.stringify(answer.headers)).not.toContain(token);
        return answer.status;
      };
      const reads = ['rollouts', 'holds', 'audit', 'builds', 'openapi.json'].map((path) => `/api/v1/${path}`);
      for (const path of ['/metrics', ...reads, '/nothing']) {
        for (const headers of [{}, bearer('wrong'), { authorization: `Basic ${token}` }])
          expect([path, await asWhom(path, headers)]).toEqual([path, 401]);
        expect([path, await asWhom(path, bearer(token))]).toEqual([path, path === '/nothing' ? 404 : 200]);
      }
      for (const path of ['/', '/healthz', '/readyz']) expect(await asWhom(path)).toBe(200);
    });

    it('shows without a token at /readyz only whether a check passes, its kind and its start, but no host name', async () => {
      const since = startedAt;
      const redis = {
        ok: false,
        kind: 'away',
        since,
        reason: 'no connection to redis://db.internal',
      } as const;
      const { url } = await start({ token, readiness: async () => ({ redis }) });
      const checks = { redis: { ok: false, kind: 'away', since } };
      for (const headers of [{}, bearer('wrong')]) {
        const answer = await ask(`${url}/readyz`, { headers });
        expect([answer.status, answer.json()]).toEqual([503, { ready: false, checks }]);
      }
      const shown = await ask(`${url}/readyz`, { headers: bearer(token) });
      expect(shown.json()).toEqual({ ready: false, checks: { redis } });
    });

    it('throttles an address for a minute after many wrong tokens, and still accepts the right one (P4)', async () => {
      const { v1, get } = await start({ token });
      const guess = (value: string) => ask(`${v1}/rollouts`, { headers: bearer(value) });
      // Without a token nothing is guessed.
      for (let count = 0; count < 30; count += 1) await get('/rollouts');
      for (let count = 0; count < 20; count += 1) expect((await guess(`guess-${count}`)).status).toBe(401);
      expect(await guess('guess-21')).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
      expect((await guess(token)).status).toBe(200);
      now += 60_000;
      expect((await guess('guess-22')).status).toBe(401);
    });
  });

  describe('with named tokens and a trusted proxy', () => {
    const tokenOf = (name: string) => `token-of-${name}-0123456789`;
    const tokens = (['viewer', 'operator', 'metrics'] as const).map((role) => ({
      ...{ name: `mia-${role}`, role, token: tokenOf(role) },
    }));
    const pauseBy = (base: string, headers: Record<string, string>) =>
      ask(`${base}/rollouts/${running}/pause`, { method: 'POST', headers, body: '{"by":"somebody else"}' });

    it('runs a verb under the name of its token, whatever name the request gives', async () => {
      const { v1 } = await start({ tokens });
      expect((await pauseBy(v1, bearer(tokenOf('operator')))).status).toBe(200);
      expect(operations.requests).toMatchObject([{ verb: 'pause', by: 'mia-operator' }]);
      expect((await ask(`${v1}/me`, { headers: bearer(tokenOf('operator')) })).json()).toEqual({
        ...{ name: 'mia-operator', role: 'operator' },
      });
    });

    it('lets a viewer read, and refuses every verb with a reason', async () => {
      const { v1 } = await start({ tokens });
      const headers = bearer(tokenOf('viewer'));
      expect((await ask(`${v1}/rollouts`, { headers })).status).toBe(200);
      for (const segment of segments) {
        const answer = await ask(`${v1}/rollouts/${running}/${segment}`, { method: 'POST', headers });
        expect([segment, answer.status]).toEqual([segment, 403]);
        expect(AdminErrorBody.parse(answer.json()).message).toBe(
          'mia-viewer is a viewer and may change nothing; an operator can do this',
        );
      }
      for (const path of ['holds', 'releases', 'reload', 'policies/production/start'])
        expect((await ask(`${v1}/${path}`, { method: 'POST', headers })).status).toBe(403);
      // It reads the whole fleet.
      expect((await ask(`${v1}/policies/production/start-preview`, { headers })).status).toBe(403);
      expect(operations.requests).toEqual([]);
    });

    it('lets the token of a scraper read only the metrics', async () => {
      const { url, v1 } = await start({ tokens });
      const headers = bearer(tokenOf('metrics'));
      expect((await ask(`${url}/metrics`, { headers })).status).toBe(200);
      expect((await ask(`${v1}/rollouts`, { headers })).status).toBe(403);
      expect((await pauseBy(v1, headers)).status).toBe(403);
    });

    it('trusts the user header of a proxy from its addresses, and from no other', async () => {
      const proxy = { userHeader: 'X-Forwarded-User', role: 'operator' } as const;
      const headers = { 'x-forwarded-user': 'alice@example.com', 'x-forwarded-for': '203.0.113.7' };
      const trusted = await start({ tokens, trustedProxy: { ...proxy, addresses: ['127.0.0.0/8'] } });
      expect((await pauseBy(trusted.v1, headers)).status).toBe(200);
      expect(operations.requests).toMatchObject([{ by: 'alice@example.com' }]);
      expect((await pauseBy(trusted.v1, { 'x-forwarded-user': 'a b' })).status).toBe(401);
      const strange = await start({ tokens, trustedProxy: { ...proxy, addresses: ['10.0.0.7'] } });
      expect((await pauseBy(strange.v1, headers)).status).toBe(401);
      const alone = await start({ trustedProxy: { ...proxy, addresses: ['10.0.0.7', '2001:db8::/32'] } });
      expect((await pauseBy(alone.v1, headers)).status).toBe(403);
    });
  });

  describe('without a token', () => {
    const outer = Object.values(networkInterfaces())
      .flat()
      .find((address) => address !== undefined && address.family === 'IPv4' && !address.internal)?.address;

    it.skipIf(outer === undefined)(
      'refuses connections that do not come from this machine itself (skipped without a network)',
      async () => {
        const { url } = await start({ host: '0.0.0.0' });
        const { port } = new URL(url);
        for (const path of ['/', '/healthz', '/metrics', '/api/v1/rollouts']) {
          const answer = await ask(`http://${outer}:${port}${path}`);
          expect(answer.status).toBe(403);
        }
        expect((await ask(`http://127.0.0.1:${port}/api/v1/rollouts`)).status).toBe(200);
      },
    );
  });

  describe('the page', () => {
    const assetsOf = (html: string) =>
      [...html.matchAll(/(?:src|rel="stylesheet" href)="([^"]+)"/g)].map(([, path = '']) => path);

    it('lets only its own style and script run, and names them by their content', async () => {
      const { url } = await start();
      const { text, headers } = await ask(`${url}/`);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(text).not.toMatch(/<style|<script(?! src=)/);
      const assets = assetsOf(text);
      expect(assets).toHaveLength(2);
      for (const path of assets) {
        const asset = await ask(`${url}${path}`);
        const [, hash = 'none', extension] = /-([0-9a-f]{16})\.(css|js)$/.exec(path) ?? [];
        expect(createHash('sha256').update(asset.text).digest('hex')).toMatch(new RegExp(`^${hash}`));
        expect(asset.headers).toMatchObject({
          'content-type': `text/${extension === 'js' ? 'javascript' : 'css'}; charset=utf-8`,
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
        });
      }
      expectError(await ask(`${url}/assets/page-0000000000000000.js`), 404, 'notFound', 'reload the page');
    });

    it('is served without a token, and nothing else by its path', async () => {
      const { url } = await start({ token });
      const { text } = await ask(`${url}/`);
      for (const path of assetsOf(text)) expect((await ask(`${url}${path}`)).status).toBe(200);
      for (const path of ['../api/v1/rollouts', '..%2fapi%2fv1%2frollouts', '', '../metrics'])
        expect(await ask(`${url}/assets/${path}`)).not.toMatchObject({ status: 200 });
    });

    it('is where a browser goes that asks for a rollout without the #, also without a token', async () => {
      const { url } = await start({ token });
      const asked = (path: string, accept: string) => ask(`${url}${path}`, { headers: { accept } });
      const { status, headers } = await asked(`/rollouts/${running}`, 'text/html,*/*');
      expect([status, headers.location]).toEqual([302, `../#/rollouts/${running}`]);
      const odd = await asked('/rollouts/%2F%2Fevil.example%22', 'text/html');
      expect(odd.headers.location).toBe('../#/rollouts/%2F%2Fevil.example%22');
      expectError(await asked(`/rollouts/${running}`, 'application/json'), 404, 'notFound', 'no resource');
    });

    it('is sent again only when it has changed', async () => {
      const { url } = await start();
      const { headers } = await ask(`${url}/`);
      const etag = String(headers['etag']);
      const again = await ask(`${url}/`, { headers: { 'if-none-match': etag } });
      expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
      // A browser replaces the kept headers with these.
      expect(again.headers['content-security-policy']).toBe(headers['content-security-policy']);
      const other = await start({ version: '0.2.0' });
      expect((await ask(`${other.url}/`, { headers: { 'if-none-match': etag } })).status).toBe(200);
    });

    it('has no inline handler, makes no markup from data, and loads nothing from other hosts', async () => {
      const { url } = await start();
      const { text: html, headers } = await ask(`${url}/`);
      expect(html).not.toMatch(/\son\w+\s*=/i);
      expect(html).not.toMatch(/\sstyle\s*=/i);
      // The framework could make markup of a text: the page never asks it to, and the browser would refuse it.
      expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
      const texts = await Promise.all(assetsOf(html).map(async (path) => (await ask(`${url}${path}`)).text));
      const all = [html, ...texts].join('\n');
      expect(all).not.toMatch(/outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
      expect(all.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/(src|href)="?(https?:)?\/\//);
    });
  });

  describe('compression', () => {
    it.each([
      ['br, gzip', 'br'],
      ['gzip, deflate', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['br;q=1.0', 'br'],
      ['deflate, identity', undefined],
    ])('answers a client that accepts %s in %s', async (accepted, encoding) => {
      const { v1 } = await start();
      const whole = await fetch(`${v1}/openapi.json`, { headers: { 'accept-encoding': 'identity' } });
      const answer = await fetch(`${v1}/openapi.json`, { headers: { 'accept-encoding': accepted } });
      expect(answer.headers.get('content-encoding') ?? undefined).toBe(encoding);
      expect(answer.headers.get('vary')).toBe('accept-encoding');
      expect(await answer.text()).toBe(await whole.text());
    });

    it('leaves short texts and the stream alone', async () => {
      const { url, v1 } = await start();
      for (const path of [`${url}/healthz`, `${v1}/stream`]) {
        const { headers, body } = await fetch(path, { headers: { 'accept-encoding': 'br' } });
        expect(headers.get('content-encoding')).toBeNull();
        await body?.cancel();
      }
    });
  });

  it('forbids browsers to sniff, frame, cache or refer anything', async () => {
    const { url } = await start();
    for (const path of ['/', '/healthz', '/api/v1/rollouts', '/nothing']) {
      const { headers } = await ask(`${url}${path}`);
      expect(headers).toMatchObject({
        // The document holds no data.
        'cache-control': path === '/' ? 'no-cache' : 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(String(headers['content-security-policy'])).toContain("default-src 'none'");
    }
  });
});
