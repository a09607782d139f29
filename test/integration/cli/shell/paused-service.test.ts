import { describe, it } from 'vitest';
import { sendJson, startScriptedServer } from '../../../support/network/scripted-server.ts';
import { aFolder, runUpwave } from '../../../support/night/upwave-process.ts';
import { testSecrets } from '../../../support/test-secrets.ts';

describe('a service that asks a command for a pause', () => {
  it('is waited for, and the command says so beside its result', async ({ expect, onTestFinished }) => {
    let isPausing = true;
    const service = await startScriptedServer((_request, response) => {
      if (!isPausing) return sendJson(response, 200, { targets: [{ version: '19.500-1', latest: true }] });
      isPausing = false;
      return sendJson(response, 429, {}, { 'retry-after': '3' });
    });
    const folder = aFolder((end) => onTestFinished(end));
    onTestFinished(() => service.close());
    const config = folder.write('upwave.yaml', {
      service: { ...testSecrets.commandLine, baseUrl: `${service.url}/api` },
      rollouts: [{ name: 'all' }],
    });
    const { code, out, err } = await runUpwave({ args: ['builds', '--json', '--config', config] });
    expect(err.match(/^waiting 3 s: the service asked for a pause$/gm)).toHaveLength(1);
    expect(JSON.parse(out)).toEqual({ builds: [{ version: '19.500-1', latest: true }] });
    expect(code).toBe(0);
  });
});
