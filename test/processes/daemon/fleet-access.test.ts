import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { makeLocalApiBudget } from '../../../src/daemon/api-budgets.ts';
import { makeFleetAccess } from '../../../src/daemon/fleet-access.ts';
import type { DaemonNote } from '../../../src/orchestrator/ports/event-sink.ts';
import { ending } from '../../support/ending.ts';
import { startConnectProxy } from '../../support/network/connect-proxy.ts';
import { type Script, sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';

const targets = { targets: [{ version: '19.500-1', latest: true }] };
const answer: Script = (_request, response) => sendJson(response, 200, targets);

describe('the connection of a daemon to the service', () => {
  const aServer = async (script: Script) => ending(await startScriptedServer(script));

  function anAccess(baseUrl: string, allowedHosts: readonly string[] = []) {
    const notes: DaemonNote[] = [];
    const access = makeFleetAccess({
      service: {
        baseUrl,
        accessId: new Secret('id'),
        accessKey: new Secret('key'),
        allowedHosts,
        requestsPerSecond: 1_000,
        concurrentRequests: 10,
        budgetShare: 1,
        requestTimeoutMs: 5_000,
      },
      budget: makeLocalApiBudget(1_000),
      clock: { now: () => Date.now() },
      keyMemory: null,
      metrics: null,
      readWindow: null,
      sink: { note: (note) => notes.push(note) },
    });
    return { access: ending(access), notes };
  }

  it('reports each address to which it was redirected once, even when it is sent back and forth', async () => {
    let there = '';
    const here = await aServer((request, response) =>
      sendJson(response, 301, {}, { location: `${there}${request.url}` }),
    );
    const other = await aServer(answer);
    there = other.url;
    const { access, notes } = anAccess(`${here.url}/api`, [`127.0.0.1:${other.port}`]);
    expect((await access.fleet.listBuilds()).ok).toBe(true);
    let bounces = 1;
    other.follow((request, response) => {
      bounces -= 1;
      if (bounces < 0) return answer(request, response);
      return sendJson(response, 301, {}, { location: `${here.url}${request.url}` });
    });
    expect((await access.fleet.listBuilds()).ok).toBe(true);
    expect(notes).toEqual([
      { event: 'service.moved', baseUrl: `${other.url}/api` },
      { event: 'service.moved', baseUrl: `${here.url}/api` },
    ]);
  });

  it('reports the proxy that requests go through, once', async () => {
    const server = await aServer(answer);
    const proxy = ending(await startConnectProxy(server.port));
    vi.stubEnv('HTTP_PROXY', proxy.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { access, notes } = anAccess('http://collectors.example.test/api');
    expect((await access.fleet.listBuilds()).ok).toBe(true);
    proxy.end();
    expect((await access.fleet.listBuilds()).ok).toBe(true);
    expect(proxy.connects).toHaveLength(2);
    expect(notes).toEqual([{ event: 'service.proxied', proxy: proxy.url }]);
  });

  it('reports collectors that no plan includes, when their number changes (P13)', async () => {
    let collectors: unknown[] = [{ id: 1, name: 'a' }, { id: 'x' }];
    const server = await aServer(({ query }, response) =>
      sendJson(response, 200, { collectors: collectors.slice(Number(query.get('offset'))) }),
    );
    const { access, notes } = anAccess(`${server.url}/api`);
    await access.fleet.readInventory(null);
    await access.fleet.readInventory(null);
    collectors = [{ id: 1, name: 'a' }];
    await access.fleet.readInventory(null);
    collectors = [{ id: 1 }, { name: 'b' }];
    await access.fleet.readInventory(null);
    expect(notes).toEqual([
      {
        event: 'inventory.incomplete',
        reason: expect.stringMatching(/^1 collector has no readable id or name/),
      },
      {
        event: 'inventory.incomplete',
        reason: expect.stringMatching(/^2 collectors have no readable id or name/),
      },
    ]);
  });

  it('prefers the shared status of the service to the last answer of its own', async () => {
    const server = await aServer((_request, response) => sendJson(response, 503, {}));
    const { access, notes } = anAccess(`${server.url}/api`);
    await access.fleet.listBuilds();
    expect(access.readiness()).toEqual({ ok: false, reason: 'last answer: 503' });
    access.setServiceStatus({ isUp: false, reason: 'listUpgradeTargets: answered 503.' });
    server.follow(answer);
    await access.fleet.listBuilds();
    expect(access.readiness()).toMatchObject({ ok: false, reason: expect.stringContaining('answered 503') });
    server.follow((_request, response) => sendJson(response, 503, {}));
    await access.fleet.listBuilds();
    access.setServiceStatus({ isUp: true });
    expect(access.readiness()).toEqual({ ok: true, reason: 'answers' });
    expect(notes.map(({ event }) => event)).toEqual(['service.down', 'service.up']);
  });
});
