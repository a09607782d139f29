import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../src/admin-api/admin-api.ts';
import { adminApi } from '../../src/contract/admin/api.ts';
import { ending } from '../support/ending.ts';
import { aRolloutStatus, makeFakeOperations } from '../support/fake-operations.ts';
import { askRaw as ask } from '../support/network/raw-http.ts';
import { startFakeAdminApi } from '../support/start-fake-admin-api.ts';

const rolloutId = 'production-20260302-1';
const token = 'Tt-theBearerToken-0815';

describe('the admin API without valid credentials', () => {
  const start = async (given: Partial<AdminApiParts> = {}) => {
    const operations = makeFakeOperations({ rollouts: [aRolloutStatus({ id: rolloutId })] });
    const reported: unknown[] = [];
    const reportError = (error: unknown) => void reported.push(error);
    const { url } = ending(await startFakeAdminApi(operations, { ...given, reportError }));
    return { operations, reported, url, v1: `${url}/api/v1` };
  };

  it('without a token accepts only host names of this machine, and no request through a proxy', async () => {
    const { v1 } = await start();
    const status = async (headers: Record<string, string>) =>
      (await ask(`${v1}/rollouts`, { headers })).status;
    const others = ['10.1.2.3', '192.168.0.9:9464', '0.0.0.0:9464', '[fd00::1]:9464', '8.8.8.8', '[::]'];
    for (const host of others) expect([host, await status({ host })]).toEqual([host, 403]);
    const own = [
      '127.0.0.1:1',
      '127.9.9.9',
      '[::1]',
      '[::ffff:127.0.0.1]:9464',
      'localhost',
      'app.localhost:9464',
    ];
    for (const host of own) expect([host, await status({ host })]).toEqual([host, 200]);
    for (const header of [
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
    ])
      expect([header, await status({ [header]: 'anything' })]).toEqual([header, 403]);
  });

  it('without a token refuses HTTP/1.0, which is the only sign of some proxies', async () => {
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
    }
  });

  it.each([
    ['silent', ''],
    [
      'at a request that never ends',
      'POST /api/v1/rollouts/x/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('limits connections that are %s, and still serves a new one', async (_, sent) => {
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

  describe('a page of another site', () => {
    const reads = ['/', '/metrics', '/api/v1/rollouts', '/api/v1/collectors/7/explanation'];
    const asPage = (site: string, mode: string, dest: string) => ({
      'sec-fetch-site': site,
      'sec-fetch-mode': mode,
      'sec-fetch-dest': dest,
    });

    it('cannot make a browser read anything, nor frame the page, but may link to it', async () => {
      for (const given of [{}, { token }]) {
        const { url, operations } = await start(given);
        const status = async (path: string, headers: Record<string, string>) =>
          (await ask(`${url}${path}`, { headers: { ...headers, authorization: `Bearer ${token}` } })).status;
        for (const site of ['cross-site', 'same-site']) {
          for (const path of reads) expect(await status(path, asPage(site, 'no-cors', 'image'))).toBe(403);
          expect(await status('/', asPage(site, 'navigate', 'iframe'))).toBe(403);
          expect(await status('/', asPage(site, 'navigate', 'document'))).toBe(200);
        }
        // Our own page, and who types the address.
        for (const site of ['same-origin', 'none'])
          for (const path of reads.slice(0, 3))
            expect(await status(path, asPage(site, 'cors', 'empty'))).toBe(200);
        expect(operations.requests).toEqual([]);
      }
    });
  });

  it('changes nothing by GET or HEAD, for every operation', async () => {
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

  it.each([
    ['a body above the limit', { method: 'POST', body: `{"reason":"${'x'.repeat(17 * 1024)}"}` }, [413]],
    ['a deeply nested body', { method: 'POST', body: '['.repeat(8_000) + ']'.repeat(8_000) }, [400]],
    ['a reason above the limit', { method: 'POST', body: `{"reason":"${'x'.repeat(501)}"}` }, [400]],
    ['headers above the limit', { headers: { 'x-large': 'x'.repeat(20_000) } }, [400, 431]],
  ] as const)('refuses %s', async (_name, asked, statuses) => {
    const { v1, operations, reported } = await start();
    const answer = await ask(`${v1}/rollouts/${rolloutId}/pause`, asked).catch((error: unknown) => error);
    // A server may hang up while the rest of a body is still being sent.
    if (!(answer instanceof Error)) expect(statuses).toContain((answer as { status: number }).status);
    expect(operations.requests).toEqual([]);
    expect(reported).toEqual([]);
  });

  it('accepts no similar token, and no token in the URL, in a cookie or in another header', async () => {
    const { v1, operations } = await start({ token });
    const others = [token.slice(0, -1), `${token}x`, token.toUpperCase(), `x${token}`, `${token} x`, '', '*'];
    for (const given of others) {
      const headers = { authorization: `Bearer ${given}` };
      const answer = await ask(`${v1}/rollouts/${rolloutId}/pause`, { method: 'POST', headers });
      expect([given, answer.status]).toEqual([given, 401]);
      expect(answer.text).not.toContain(token);
    }
    expect(operations.requests).toEqual([]);
    expect((await ask(`${v1}/rollouts?token=${token}&access_token=${token}`)).status).toBe(401);
    for (const header of ['cookie', 'x-api-key', 'proxy-authorization', 'token'])
      expect((await ask(`${v1}/rollouts`, { headers: { [header]: `token=${token}` } })).status).toBe(401);
  });
});
