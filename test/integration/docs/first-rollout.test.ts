import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseScenario } from '../../../src/reference-service/scenario/scenario.ts';
import { aDesk } from '../../support/night/upwave-desk.ts';
import { startTestService } from '../../support/start-test-service.ts';
import { testSecrets } from '../../support/test-secrets.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

it('the guide to the first rollout shows the plan of its own fleet', async (test) => {
  const credentials = testSecrets.commandLine;
  const service = await startTestService({
    credentials: [credentials],
    speed: 100,
    scenario: parseScenario(parse(read('config/scenarios/bad-build.yaml'))),
  });
  test.onTestFinished(service.close);
  const config = parse(read('config/reference-speed-100.yaml'));
  const desk = aDesk(test, {
    ...config,
    service: { ...config.service, ...credentials, baseUrl: service.baseUrl },
  });
  const { out } = await desk.call('plan', '--json');
  const guide = read('src/docs/guides/first-rollout.md');
  const [, ...sizes] = /a canary of (\d+) collectors, (\d+) more, then the remaining (\d+)/.exec(guide) ?? [];
  const [{ waves }] = JSON.parse(out).plans;
  expect(waves.map(({ size }: { readonly size: number }) => String(size))).toEqual(sizes);
  expect(guide).toContain(`24/${sizes.reduce((sum, size) => sum + Number(size), 0)}`);
});
