import { describe, it } from 'vitest';
import { parseScenario } from '../../../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../../../src/reference-service/server/start-reference-service.ts';
import { sendJson, startScriptedServer } from '../../../support/network/scripted-server.ts';
import { aFolder, runUpwave } from '../../../support/night/upwave-process.ts';
import { testSecrets } from '../../../support/test-secrets.ts';

const note = /^note: this account is served at \S+\/api: set service\.baseUrl to it$/gm;

describe('an account that moved to an allowed host', () => {
  it.for([
    { command: 'builds --json' },
    { command: 'collectors list --json' },
    { command: 'plan --json' },
    { command: 'config check --fleet --json' },
  ])(
    '`$command` does its work, and names the right address once, beside its result (P12)',
    async ({ command }, { expect, onTestFinished }) => {
      const service = await startReferenceService({
        credentials: [testSecrets.commandLine],
        speed: 300,
        scenario: parseScenario({ fleet: { size: 5 } }),
      });
      const old = await startScriptedServer((request, response) =>
        sendJson(response, 301, {}, { location: `${service.url}${request.url}` }),
      );
      const folder = aFolder((end) => onTestFinished(end));
      onTestFinished(async () => {
        await old.close();
        await service.close();
      });
      const config = folder.write('upwave.yaml', {
        service: {
          ...testSecrets.commandLine,
          baseUrl: `${old.url}/api`,
          allowedHosts: [new URL(service.url).host],
        },
        rollouts: [{ name: 'all' }],
      });
      const { code, out, err } = await runUpwave({ args: [...command.split(' '), '--config', config] });
      expect(err.match(note)).toHaveLength(1);
      expect(err).toContain(`${service.url}/api`);
      expect(() => JSON.parse(out)).not.toThrow();
      expect(code).toBe(0);
    },
  );
});
