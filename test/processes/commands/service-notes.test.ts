import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { startConnectProxy } from '../../support/network/connect-proxy.ts';
import { type Script, sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';
import { aDesk, type RunningTest } from '../../support/night/upwave-desk.ts';
import { testSecrets } from '../../support/test-secrets.ts';

/** `upwave` against a service that answers by this script. */
async function aScript(test: RunningTest, script: Script, allowedHosts: readonly string[] = []) {
  const server = await startScriptedServer(script);
  test.onTestFinished(server.close);
  const service = { ...testSecrets.commandLine, baseUrl: `${server.url}/api`, allowedHosts };
  return aDesk(test, { service, rollouts: [{ name: 'all' }] });
}

describe.concurrent('a command reports on stderr, beside its result,', () => {
  it.for(['builds --json', 'collectors list --json', 'plan --json', 'config check --fleet --json'])(
    'that the account moved to an allowed host, once: `%s` (P12)',
    async (words, test) => {
      const service = await startReferenceService({
        credentials: [testSecrets.commandLine],
        speed: 300,
        scenario: parseScenario({ fleet: { size: 5 } }),
      });
      test.onTestFinished(service.close);
      const move: Script = (request, response) =>
        sendJson(response, 301, {}, { location: `${service.url}${request.url.replace('/api', '')}` });
      const desk = await aScript(test, move, [new URL(service.url).host]);
      const { code, out, err } = await desk.call(...words.split(' '));
      const notes = err.match(/^note: this account is served at \S+: set service\.baseUrl to it$/gm);
      expect(notes).toEqual([expect.stringContaining(service.url)]);
      expect(() => JSON.parse(out)).not.toThrow();
      expect(code).toBe(0);
    },
  );

  it.for(['builds --json', 'config check --fleet --json'])(
    'that a proxy is used, without its password: `%s` (P12)',
    async (words, test) => {
      const service = await startReferenceService({
        credentials: [testSecrets.commandLine],
        speed: 300,
        scenario: parseScenario({ fleet: { size: 5 } }),
      });
      test.onTestFinished(service.close);
      const { port, pathname } = new URL(service.url);
      const proxy = await startConnectProxy(Number(port));
      test.onTestFinished(proxy.close);
      const env = {
        HTTP_PROXY: `http://me:${encodeURIComponent(testSecrets.proxyPassword)}@${proxy.address}`,
      };
      const baseUrl = `http://collectors.example.test${pathname}`;
      const config = { service: { ...testSecrets.commandLine, baseUrl }, rollouts: [{ name: 'all' }] };
      const { code, out, err } = await aDesk(test, config, { env }).run(...words.split(' '));
      expect(err.match(/^note: requests go through the proxy \S+$/gm)).toEqual([
        `note: requests go through the proxy ${proxy.url}`,
      ]);
      expect(() => JSON.parse(out)).not.toThrow();
      expect(code).toBe(0);
    },
  );

  it('that it waits for a service that demands a pause', async (test) => {
    let isPausing = true;
    const desk = await aScript(test, (_request, response) => {
      if (!isPausing) return sendJson(response, 200, { targets: [{ version: '19.500-1', latest: true }] });
      isPausing = false;
      return sendJson(response, 429, {}, { 'retry-after': '3' });
    });
    const { code, out, err } = await desk.run('builds', '--json');
    expect(err.match(/^waiting 3 s: the service asked for a pause$/gm)).toHaveLength(1);
    expect(JSON.parse(out)).toEqual({ builds: [{ version: '19.500-1', latest: true }] });
    expect(code).toBe(0);
  });
});
