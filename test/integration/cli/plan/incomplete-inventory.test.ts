import { describe, it } from 'vitest';
import { sendJson, startScriptedServer } from '../../../support/network/scripted-server.ts';
import { aFolder, runUpwave } from '../../../support/night/upwave-process.ts';
import { testSecrets } from '../../../support/test-secrets.ts';

const collectors = [{ id: 1, name: 'web', alive: true, collectorVersion: '19.1-1' }, { id: 'x' }];

describe('a collector that nobody can tell apart', () => {
  it('is no member of a plan, and `plan` tells of it beside its result (P13)', async ({
    expect,
    onTestFinished,
  }) => {
    const service = await startScriptedServer(({ path, query }, response) =>
      sendJson(
        response,
        200,
        path.endsWith('/targets')
          ? { targets: [{ version: '19.2-1', latest: true }] }
          : { collectors: collectors.slice(Number(query.get('offset'))) },
      ),
    );
    const folder = aFolder((end) => onTestFinished(end));
    onTestFinished(() => service.close());
    const config = folder.write('upwave.yaml', {
      service: { ...testSecrets.commandLine, baseUrl: service.url },
      rollouts: [{ name: 'all' }],
    });
    const { code, out, err } = await runUpwave({ args: ['plan', '--members', '--config', config] });
    expect(err).toMatch(/^note: 1 collector has no id or name that can be read: no plan takes them in\.$/m);
    expect(out).toContain('web');
    expect(code).toBe(0);
  });
});
