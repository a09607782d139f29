import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseScenario } from '../../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { aDesk, type RunningTest } from '../../support/night/upwave-desk.ts';
import { daemonUrl } from '../../support/night/upwave-process.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

const guide = read('src/docs/guides/first-rollout.md');

/** The fleet of the guide, and `upwave` with its config. */
async function aFleet(test: RunningTest) {
  const credentials = testSecrets.commandLine;
  const service = await startReferenceService({
    credentials: [credentials],
    speed: 100,
    scenario: parseScenario(parse(read('config/scenarios/bad-build.yaml'))),
  });
  test.onTestFinished(service.close);
  const config = parse(read('config/reference-speed-100.yaml'));
  return aDesk(test, {
    ...config,
    http: { port: 0 },
    service: { ...config.service, ...credentials, baseUrl: service.baseUrl },
  });
}

/** The command lines of a section, as words without `upwave`. */
function commandsBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = guide.split(`## ${heading}\n`);
  const [text = ''] = section.split(/^## /m);
  return [...text.matchAll(/^upwave (.*)$/gm)].map(([, line = '']) =>
    [...line.matchAll(/(?:"[^"]*"|\S)+/g)].map(([word]) => word.replaceAll('"', '')),
  );
}

describe('the guide to the first rollout', () => {
  it('shows the plan of its own fleet', async (test) => {
    const desk = await aFleet(test);
    const { out } = await desk.call('plan', '--json');
    const [, ...sizes] =
      /a canary of (\d+) collectors, (\d+) more, then the remaining (\d+)/.exec(guide) ?? [];
    const [{ waves }] = JSON.parse(out).plans;
    expect(waves.map(({ size }: { readonly size: number }) => String(size))).toEqual(sizes);
    expect(guide).toContain(`28/${sizes.reduce((sum, size) => sum + Number(size), 0)}`);
  });

  it('leads from the hold over its cause to the rollback, by its own commands', async (test) => {
    const desk = await aFleet(test);
    const daemon = desk.start('run', '--redis', 'embedded');
    const url = await daemonUrl(daemon);
    const call = (...words: readonly string[]) => desk.call(...words, '--url', url);
    const isShown = async (pattern: RegExp) => pattern.test((await call('status', 'reference')).out);
    const holdNumber = async () => /--hold (\d+)/.exec((await call('status', 'reference')).out)?.[1] ?? '';
    await until('the canary to be held', () => isShown(/^held /m));
    const held = await call('status', 'reference');
    // The lines that the guides explain.
    for (const line of ['failed', 'held', 'do']) expect(held.out).toMatch(new RegExp(`^${line} `, 'm'));
    const [list = []] = commandsBelow('Find the cause');
    const failed = await call(...list);
    const [, name = ''] = /^(\S+) +\d{9} /m.exec(failed.out) ?? [];
    expect((await call('explain', name)).out).toContain('Windows Server');
    for (const words of commandsBelow('Let the other collectors continue')) {
      // Without a terminal it can't ask.
      const hold = words[0] === 'resume' ? ['--hold', await holdNumber()] : [];
      const { code, all } = await call(...words, ...hold);
      expect([code, all]).toEqual([0, all]);
    }
    await until('the other collectors to continue', () => isShown(/\d set aside/));
    const [, goBack = []] = commandsBelow('Go back');
    const gone = await call(...goBack);
    expect([gone.code, gone.all]).toEqual([0, expect.stringMatching(/takes \d+ collectors? back/)]);
    await until('the rollback to be shown', async () =>
      /the rollback of reference-/.test((await call('list')).out),
    );
    daemon.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });
});
