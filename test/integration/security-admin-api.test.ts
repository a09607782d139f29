import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunningAdminApi } from '../../src/admin-api/admin-api.ts';
import { adminApi } from '../../src/contract/admin/api.ts';
import type { ConnectionLimits } from '../../src/http/bound-connections.ts';
import { aRolloutStatus, makeFakeOperations } from '../support/fake-operations.ts';
import { startFakeAdminApi } from '../support/start-fake-admin-api.ts';

const rolloutId = 'production-20260302-1';
const token = 'Tt-theBearerToken-0815';

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Raw HTTP: a browser's `fetch` would not let a test state Host, Origin and what a browser adds. */
function ask(url: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ readonly status: number; readonly text: string; readonly headers: object }>(
    (resolve, reject) => {
      const request = httpRequest(url, { method, headers, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
        );
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body);
    },
  );
}

describe('the admin API against strangers', () => {
  let api: RunningAdminApi | undefined;

  const start = async (given: { readonly token?: string; readonly connections?: ConnectionLimits } = {}) => {
    const operations = makeFakeOperations({ rollouts: [aRolloutStatus({ id: rolloutId })] });
    const told: unknown[] = [];
    api = await startFakeAdminApi(operations, {
      token: given.token,
      ...(given.connections && { connections: given.connections }),
      reportError: (error) => void told.push(error),
    });
    return { operations, told, url: api.url, v1: `${api.url}/api/v1` };
  };

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  it.each(['10.1.2.3', '192.168.0.9:9464', '0.0.0.0:9464', '[fd00::1]:9464', '8.8.8.8', '[::]'])(
    'without a token refuses the host %s: an address, but not of this machine alone',
    async (host) => {
      const { v1 } = await start();
      expect((await ask(`${v1}/rollouts`, { headers: { host } })).status).toBe(403);
    },
  );

  it.each([
    '127.0.0.1:1',
    '127.9.9.9',
    '[::1]',
    '[::ffff:127.0.0.1]:9464',
    'localhost',
    'app.localhost:9464',
  ])('without a token serves the host %s', async (host) => {
    const { v1 } = await start();
    expect((await ask(`${v1}/rollouts`, { headers: { host } })).status).toBe(200);
  });

  it.each([
    'via',
    'x-real-ip',
    'x-forwarded-host',
    'x-forwarded-proto',
    'X-Forwarded-For',
    'Forwarded',
    'CF-Connecting-IP',
    'True-Client-IP',
    'X-Client-IP',
    'X-Cluster-Client-IP',
    'X-Original-Forwarded-For',
    'X-Envoy-External-Address',
    'X-Amzn-Trace-Id',
    'CDN-Loop',
  ])('without a token refuses what a proxy passed on (%s)', async (header) => {
    const { v1 } = await start();
    expect((await ask(`${v1}/rollouts`, { headers: { [header]: 'anything' } })).status).toBe(403);
  });

  it('without a token refuses HTTP/1.0, by which some proxies tell of themselves alone', async () => {
    for (const [given, status] of [
      [{}, 403],
      [{ token }, 200],
    ] as const) {
      const { url } = await start(given);
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.end(
        `GET /api/v1/rollouts HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
      const answer = Buffer.concat(await socket.toArray()).toString();
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.[01] ${status} `));
      await api?.close();
    }
  });

  it.each([
    ['silent', ''],
    [
      'at a request that never ends',
      'POST /api/v1/rollouts/x/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('keeps few connections that are %s, and serves a newcomer all the same', async (_, sent) => {
    const { url } = await start({ connections: { max: 8, perAddressMax: 6, reservedForLoopback: 0 } });
    const strangers = Array.from({ length: 30 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    let closedCount = 0;
    for (const each of strangers) {
      each.on('error', () => {}).on('close', () => (closedCount += 1));
      each.on('connect', () => each.write(sent));
      each.resume();
    }
    await expect.poll(() => closedCount).toBe(24);
    expect((await ask(`${url}/api/v1/rollouts`)).status).toBe(200);
    await expect.poll(() => closedCount).toBeGreaterThanOrEqual(25);
    expect(closedCount).toBeLessThan(30);
    for (const each of strangers) each.destroy();
  });

  const reads = ['/', '/metrics', '/api/v1/rollouts', '/api/v1/collectors/7/explanation'];
  describe.each(['cross-site', 'same-site'])('a page of a site that is %s', (site) => {
    it.each(reads)('can not make a browser read %s', async (path) => {
      for (const given of [{}, { token }]) {
        const { url, operations } = await start(given);
        const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
        const answer = await ask(`${url}${path}`, {
          headers: { ...headers, authorization: `Bearer ${token}` },
        });
        expect(answer.status).toBe(403);
        expect(operations.requests).toEqual([]);
        await api?.close();
      }
    });

    it('can not frame the page', async () => {
      const { url } = await start();
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' };
      expect((await ask(`${url}/`, { headers })).status).toBe(403);
    });

    it('may link to the page', async () => {
      const { url } = await start();
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      expect((await ask(`${url}/`, { headers })).status).toBe(200);
    });
  });

  it.each(['same-origin', 'none'])('serves our own page, and who types the address (%s)', async (site) => {
    const { url } = await start();
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    for (const path of reads.slice(0, 3)) expect((await ask(`${url}${path}`, { headers })).status).toBe(200);
  });

  it('changes nothing by GET or HEAD, whatever operation it is', async () => {
    const { v1, operations } = await start();
    const changes = adminApi.filter(({ method }) => method !== 'GET');
    expect(changes.length).toBeGreaterThan(8);
    for (const { path } of changes) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await ask(`${v1}${path.replace('{id}', rolloutId)}`, { method });
        // `GET /holds` is the list of them.
        expect([405, ...(path === '/holds' ? [200] : [])]).toContain(answer.status);
      }
    }
    expect(operations.requests).toEqual([]);
    expect(operations.holdRequests).toEqual([]);
  });

  it('gives no other origin leave, whatever it asks for', async () => {
    const { v1 } = await start();
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answers = [
      await ask(`${v1}/rollouts/${rolloutId}/pause`, { method: 'OPTIONS', headers }),
      await ask(`${v1}/rollouts`, { headers }),
    ];
    for (const answer of answers) expect(JSON.stringify(answer.headers)).not.toMatch(/access-control/i);
    expect(answers[0]?.status).not.toBe(200);
  });

  it.each([
    ['__proto__', '{"__proto__":{"reason":"x","by":"mallory"},"reason":"y"}'],
    ['constructor', '{"constructor":{"prototype":{"by":"mallory"}},"reason":"y"}'],
  ])('takes %s in a body for nothing', async (_name, body) => {
    const { v1, operations } = await start();
    const answer = await ask(`${v1}/rollouts/${rolloutId}/pause`, { method: 'POST', body });
    expect(answer.status).toBe(200);
    expect(operations.requests).toEqual([expect.objectContaining({ by: 'operator', reason: 'y' })]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect({}).not.toHaveProperty('by');
  });

  it.each(['__proto__', 'constructor', 'toString', '..', '%2e%2e%2f'])(
    'knows no rollout and no query called %s',
    async (name) => {
      const { v1, told } = await start();
      expect([400, 404]).toContain((await ask(`${v1}/rollouts/${name}`)).status);
      expect([400, 404]).toContain((await ask(`${v1}/rollouts/${name}/verbs`)).status);
      expect([200, 400]).toContain(
        (await ask(`${v1}/rollouts/${rolloutId}/collectors?${name}=1&state=${name}`)).status,
      );
      expect(told).toEqual([]);
    },
  );

  it.each([
    ['a body above the limit', { method: 'POST', body: `{"reason":"${'x'.repeat(17 * 1024)}"}` }, [413]],
    ['a body nested without end', { method: 'POST', body: '['.repeat(8_000) + ']'.repeat(8_000) }, [400]],
    ['a reason that is a book', { method: 'POST', body: `{"reason":"${'x'.repeat(501)}"}` }, [400]],
    ['headers above the limit', { headers: { 'x-large': 'x'.repeat(20_000) } }, [400, 431]],
  ] as const)('refuses %s', async (_name, asked, statuses) => {
    const { v1, operations, told } = await start();
    const answer = await ask(`${v1}/rollouts/${rolloutId}/pause`, asked).catch((error: unknown) => error);
    // A server may hang up while the rest of a body is still being sent.
    if (!(answer instanceof Error)) expect(statuses).toContain((answer as { status: number }).status);
    expect(operations.requests).toEqual([]);
    expect(told).toEqual([]);
  });

  it.each([token.slice(0, -1), `${token}x`, token.toUpperCase(), `x${token}`, `${token} x`, '', '*'])(
    'takes no token that is only like the right one: %j',
    async (given) => {
      const { v1, operations } = await start({ token });
      const headers = { authorization: `Bearer ${given}` };
      const answer = await ask(`${v1}/rollouts/${rolloutId}/pause`, { method: 'POST', headers });
      expect(answer.status).toBe(401);
      expect(answer.text).not.toContain(token);
      expect(operations.requests).toEqual([]);
    },
  );

  it('takes no token from the address, a cookie or another header', async () => {
    const { v1 } = await start({ token });
    const path = `${v1}/rollouts`;
    expect((await ask(`${path}?token=${token}&access_token=${token}`)).status).toBe(401);
    for (const header of ['cookie', 'x-api-key', 'proxy-authorization', 'token'])
      expect((await ask(path, { headers: { [header]: `token=${token}` } })).status).toBe(401);
  });

  it('answers bytes that are no HTTP, and lives on', async () => {
    const { url } = await start();
    const { port } = new URL(url);
    for (const bytes of ['\u0000\u0000\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'PAUSE /\r\n\r\n']) {
      const said = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
        let text = '';
        socket.on('data', (chunk) => {
          text += String(chunk);
        });
        socket.on('error', reject);
        socket.on('close', () => resolve(text));
      });
      expect(said).toMatch(/^HTTP\/1\.1 4\d\d |^$/);
    }
    expect((await ask(`${url}/healthz`)).status).toBe(200);
  });
});
