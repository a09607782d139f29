import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { listUpgradeTargets } from '../../../src/contract/collector-management/upgrades.ts';
import { makeGateProbe } from '../../../src/gates/make-gate-probe.ts';
import { makeHttpClient } from '../../../src/http/client.ts';
import { makeSendNotice } from '../../../src/observability/notifications/send-notice.ts';
import type { GateQuestion } from '../../../src/orchestrator/ports/gate-probe.ts';
import type { Notice } from '../../../src/rollout/model/notice.ts';
import { ending } from '../../support/ending.ts';
import { startConnectProxy } from '../../support/network/connect-proxy.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import {
  hasOpenssl,
  makeCertificates,
  type TestCertificates,
} from '../../support/network/make-certificates.ts';
import { sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';
import { startTlsServer } from '../../support/network/tls-server.ts';
import { aCollectorApi } from '../../support/setup/collector-api-setup.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const targets = { targets: [{ version: '19.500-1', latest: true }] };
const host = 'collectors.example.test';
const { proxyPassword } = testSecrets;
const user = `operator:${encodeURIComponent(proxyPassword)}`;
const basic = `Basic ${Buffer.from(`operator:${proxyPassword}`).toString('base64')}`;

const summary: GateQuestion['summary'] = {
  ...{ rollout: 'production-20260302-1', policy: 'production', targetBuild: '19.536-4', wave: 'canary' },
  ...{ size: 12, succeeded: 12, failed: 0, lost: 0, deferred: 0, failures: 0, failuresAllowed: 1 },
};

const proxyVariables = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];

beforeEach(() => {
  for (const name of proxyVariables) vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

describe.skipIf(!hasOpenssl)('requests to a service with TLS (skipped without openssl)', () => {
  let certificates: TestCertificates;
  beforeAll(() => {
    certificates = makeCertificates(`DNS:${host}`);
  });

  /** What a service behind a proxy answers to a read, and what came through. */
  async function ask(
    habits: Parameters<typeof startConnectProxy>[1],
    variables: (proxy: { readonly address: string; readonly url: string }) => Record<string, string>,
    baseUrl = `https://${host}/api`,
  ) {
    const service = ending(
      await startTlsServer(certificates, { status: 200, json: JSON.stringify(targets) }),
    );
    const proxy = ending(await startConnectProxy(Number(new URL(service.url).port), habits));
    for (const [name, value] of Object.entries(variables(proxy))) vi.stubEnv(name, value);
    const api = await aCollectorApi(() => undefined, {
      baseUrl,
      ca: certificates.ca,
      requestTimeoutMs: 4_000,
    });
    const answer = await api.fleet.listBuilds();
    return { answer, asked: service.asked(), proxy, proxies: api.proxies };
  }

  it.each([
    ['HTTPS_PROXY', (url: string) => url],
    ['https_proxy', (url: string) => url],
    ['HTTP_PROXY', (url: string) => url],
    ['HTTPS_PROXY', (url: string) => url.replace('http://', '')],
  ])('go through a tunnel of %s, which is reported once', async (name, written) => {
    const { answer, asked, proxy, proxies } = await ask({}, ({ url }) => ({ [name]: written(url) }));
    expect(answer).toMatchObject({ ok: true });
    expect(asked).toBe(1);
    expect(proxy.connects).toEqual([{ target: `${host}:443`, authorization: undefined }]);
    expect(proxies).toEqual([proxy.url]);
  });

  it('sign in at the proxy, and only there, and show its password nowhere (P12)', async () => {
    const { answer, proxy, proxies } = await ask(
      { status: (authorization) => (authorization === basic ? 200 : 407) },
      ({ address }) => ({ HTTPS_PROXY: `http://${user}@${address}` }),
    );
    expect(answer).toMatchObject({ ok: true });
    expect(proxy.connects).toHaveLength(1);
    expect(proxies).toEqual([proxy.url]);
  });

  it.each([
    [407, 'requires a valid user and password (407)'],
    [503, `did not connect to ${host}:443 (503)`],
  ])('name the proxy that answers %i, without its password', async (status, words) => {
    const { answer, asked, proxy, proxies } = await ask({ status: () => status }, ({ address }) => ({
      HTTPS_PROXY: `http://${user}@${address}`,
    }));
    expect(answer).toMatchObject({
      failure: {
        kind: 'unavailable',
        sent: false,
        detail: expect.stringContaining(`the proxy ${proxy.url} ${words}`),
      },
    });
    expect(JSON.stringify(answer)).not.toContain(proxyPassword.slice(0, 8));
    expect([asked, proxies]).toEqual([0, []]);
  });

  it('name the proxy that does not answer', async () => {
    const { answer, proxy } = await ask({ status: () => undefined }, ({ url }) => ({ HTTPS_PROXY: url }));
    expect(answer).toMatchObject({
      failure: { detail: expect.stringContaining(`the proxy ${proxy.url} did not answer (`) },
    });
  });

  it('name the proxy that cannot be reached', async () => {
    const address = `127.0.0.1:${await findFreePort()}`;
    const { answer } = await ask({}, () => ({ HTTPS_PROXY: `http://${user}@${address}` }));
    expect(answer).toMatchObject({
      failure: {
        kind: 'unavailable',
        sent: false,
        isUnreached: true,
        detail: expect.stringContaining(`the proxy http://${address} did not answer (ECONNREFUSED)`),
      },
    });
  });

  it.each([
    ['a host', host],
    ['a domain', '.example.test'],
    ['all hosts', '*'],
  ])('avoid the proxy when NO_PROXY names %s', async (_what, list) => {
    const { answer, proxy } = await ask({}, ({ url }) => ({ HTTPS_PROXY: url, NO_PROXY: list }));
    // Nobody has this name, so the request reaches nothing.
    expect(answer).toMatchObject({ failure: { isUnreached: true } });
    expect(JSON.stringify(answer)).not.toContain('proxy');
    expect(proxy.connects).toEqual([]);
  });

  it('still refuse the certificate of an unknown authority', async () => {
    const service = ending(await startTlsServer(certificates, { status: 200 }));
    const proxy = ending(await startConnectProxy(Number(new URL(service.url).port)));
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    const api = await aCollectorApi(() => undefined, { baseUrl: `https://${host}/api` });
    expect(await api.fleet.listBuilds()).toMatchObject({
      failure: { kind: 'misconfigured', detail: expect.stringContaining('Set service.caFile') },
    });
    expect(service.asked()).toBe(0);
  });

  it.each([
    ['another protocol', `socks5://${user}@proxy.example.test:1080`],
    ['a password that is not percent-encoded', 'http://operator:50%@proxy.example.test'],
    ['no host', 'http://'],
  ])('name the variable that has %s, without its value', async (_what, value) => {
    const { answer } = await ask({}, () => ({ HTTPS_PROXY: value }));
    expect(answer).toMatchObject({
      failure: {
        kind: 'unavailable',
        detail: expect.stringMatching(
          /: HTTPS_PROXY is not the address of a proxy: write http:\/\/host:port\.$/,
        ),
      },
    });
  });
});

describe('a request through a proxy', () => {
  const serve = async () => {
    const seen: string[] = [];
    const server = ending(
      await startScriptedServer((request, response) => {
        seen.push(request.path);
        sendJson(response, 200, targets);
      }),
    );
    return { seen, port: server.port, url: server.url };
  };
  const aClient = (baseUrl: string) => {
    const proxies: string[] = [];
    const timeouts = { totalMs: 4_000 };
    return ending(makeHttpClient({ baseUrl, timeouts, onProxy: (proxy) => proxies.push(proxy) }));
  };

  it('may leave until its tunnel is open, and is not sent later (P4)', async () => {
    const { seen, port } = await serve();
    const { promise: open, resolve: openTunnel } = later();
    const proxy = ending(await startConnectProxy(port, { open }));
    vi.stubEnv('HTTP_PROXY', proxy.url);
    const asked: string[] = [];
    const calling = aClient(`http://${host}`)
      .call(
        listUpgradeTargets,
        {},
        {
          mayLeave: () => {
            asked.push('mayLeave');
            return false;
          },
          onLeave: () => asked.push('onLeave'),
        },
      )
      .catch((error: unknown) => error);
    await until('the proxy is asked', () => proxy.connects.length > 0);
    expect(asked).toEqual([]);
    openTunnel();
    expect(await calling).toMatchObject({ kind: 'aborted', sent: false });
    expect(asked).toEqual(['mayLeave']);
    expect(seen).toEqual([]);
  });

  it('leaves once, when its tunnel is open', async () => {
    const { seen, port } = await serve();
    const proxy = ending(await startConnectProxy(port));
    vi.stubEnv('HTTP_PROXY', proxy.url);
    const onLeave = vi.fn();
    await aClient(`http://${host}`).call(listUpgradeTargets, {}, { onLeave });
    expect([onLeave.mock.calls.length, seen.length]).toEqual([1, 1]);
    expect(proxy.connects).toEqual([{ target: `${host}:80`, authorization: undefined }]);
  });

  it('is none when the host is this machine', async () => {
    const { seen, port, url } = await serve();
    const proxy = ending(await startConnectProxy(port));
    vi.stubEnv('HTTP_PROXY', proxy.url);
    await aClient(url).call(listUpgradeTargets, {});
    expect([seen.length, proxy.connects]).toEqual([1, []]);
  });

  it('is none for a client of the daemon', async () => {
    const { port } = await serve();
    const proxy = ending(await startConnectProxy(port));
    vi.stubEnv('HTTP_PROXY', proxy.url);
    const client = ending(makeHttpClient({ baseUrl: `http://${host}`, timeouts: { totalMs: 4_000 } }));
    await expect(client.call(listUpgradeTargets, {})).rejects.toMatchObject({ kind: 'connect' });
    expect(proxy.connects).toEqual([]);
  });

  it('asks a gate, or tells why the proxy does not let it', async () => {
    const { seen, port } = await serve();
    const proxy = ending(await startConnectProxy(port));
    const search = { run: async () => ({ kind: 'forbidden' }) as const };
    const probe = makeGateProbe({ search, clock: { now: Date.now } });
    const gate = {
      kind: 'webhook',
      name: 'gate',
      dryRun: false,
      everyMs: 60_000,
      url: `http://${host}/gate`,
    } as const;
    const ask = () => probe.ask({ gate, summary });
    vi.stubEnv('HTTP_PROXY', proxy.url);
    expect(await ask()).toMatchObject({ kind: 'verdict', verdict: 'pass' });
    expect(seen).toEqual(['/gate']);
    const gone = `http://127.0.0.1:${await findFreePort()}`;
    vi.stubEnv('HTTP_PROXY', gone);
    expect(await ask()).toEqual({ kind: 'error', detail: `the proxy ${gone} did not answer (ECONNREFUSED)` });
  });

  it('delivers a notification, or tells why the proxy does not let it', async () => {
    const { seen, port } = await serve();
    const proxy = ending(await startConnectProxy(port));
    const send = makeSendNotice({ clock: { now: Date.now }, installation: undefined, publicUrl: undefined });
    const place = { kind: 'slack', url: new Secret(`http://${host}/hook`) } as const;
    const receiver = { name: 'chat', events: ['started'], policies: ['*'], quiet: null, place } as const;
    const notice: Notice = {
      ...{ id: '1', incident: '1', phase: 'once', at: 0, policy: 'production', figures: null, commands: [] },
      details: { event: 'started', startedBy: 'root', waves: 3 },
    };
    vi.stubEnv('HTTP_PROXY', proxy.url);
    expect(await send(receiver, notice, null, AbortSignal.timeout(5_000))).toEqual({ kind: 'sent' });
    expect(seen).toEqual(['/hook']);
    const gone = `http://127.0.0.1:${await findFreePort()}`;
    vi.stubEnv('HTTP_PROXY', gone);
    expect(await send(receiver, notice, null, AbortSignal.timeout(5_000))).toEqual({
      kind: 'failed',
      reason: `the proxy ${gone} did not answer (ECONNREFUSED)`,
    });
  });
});

function later() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
