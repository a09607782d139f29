import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { parseScenario } from '../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../src/reference-service/server/start-reference-service.ts';
import { callUpwave } from '../support/night/upwave-call.ts';
import { aConfigFolder } from '../support/night/upwave-process.ts';
import { testSecrets } from '../support/test-secrets.ts';

const guide = readFileSync(new URL('../../src/docs/guides/policy-recipes.md', import.meta.url), 'utf8');
/** The YAML files of the guide. The first line of each is a comment with its name. */
const files = [...guide.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => ({
  name,
  text,
}));
const configs = files.filter(({ text }) => /^(service|accounts):/m.test(text)).map(({ name }) => name);
/** The commands whose output the guide shows. */
const outputs = [...guide.matchAll(/^```\n\$ upwave (.*)\n([\s\S]*?)^```$/gm)].map(
  ([, command = '', text = '']) => ({ command, lines: text.trimEnd().split('\n') }),
);

describe('the guide to policy recipes', () => {
  const folder = { path: '' };
  beforeAll(async () => {
    const credentials = testSecrets.commandLine;
    // The sizes of the fleets that the guide starts. The calls here follow each other faster than a person's.
    const [eu, us] = await Promise.all(
      [1_200, 300].map((size) => {
        const scenario = parseScenario({ fleet: { size }, limits: { requestsPerSecond: 100 } });
        return startReferenceService({ credentials: [credentials], scenario });
      }),
    );
    const ends: Array<() => unknown> = [() => eu?.close(), () => us?.close(), () => vi.unstubAllEnvs()];
    const variables = {
      SERVICE_URL: eu?.baseUrl,
      EU_SERVICE_URL: eu?.baseUrl,
      US_SERVICE_URL: us?.baseUrl,
      UPWAVE_ACCESS_ID: credentials.accessId,
      UPWAVE_ACCESS_KEY: credentials.accessKey,
    };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const { path, write } = aConfigFolder((work) => void ends.push(work));
    for (const { name, text } of files) write(name, text);
    folder.path = path;
    return async () => {
      for (const end of ends) await end();
    };
  });
  const inFolder = (name: string) => join(folder.path, name);
  const call = (command: string) =>
    callUpwave(...command.split(' ').map((word) => (word.endsWith('.yaml') ? inFolder(word) : word)));
  const planOf = async (command: string) => {
    const { out } = await call(`plan --json --members --config ${command}`);
    return JSON.parse(out).plans[0];
  };

  it('has five complete configs, and outputs for each of them', () => {
    expect(configs).toHaveLength(5);
    for (const name of configs) expect(outputs.map(({ command }) => command).join()).toContain(name);
  });

  it.concurrent.each(configs)('has a valid config: %s', async (name) => {
    expect(await call(`config check --config ${name}`)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('is valid: '),
    });
  });

  const showsOutput = async ({ command, lines }: (typeof outputs)[number]) => {
    const { out, all } = await call(command);
    const printed = out.split('\n');
    for (const line of lines) {
      if (line === '…') continue;
      const at = printed.findIndex((text) => patternOf(line).test(text));
      expect(at, `${line}\nis not in\n${all}`).toBeGreaterThanOrEqual(0);
      printed.splice(0, at + 1);
    }
  };
  // All rehearse together, so that each may take as long as all of them.
  it.concurrent.each(outputs)('shows what is printed by `upwave $command`', showsOutput, 400_000);

  it('names the canaries of each operating system, also where 2% are too few', async () => {
    const [, ...counts] =
      /the (\d+) canaries: (\d+) on Linux, (\d+) on Windows Server 2008 R2, and (\d+) on each of four/.exec(
        guide,
      ) ?? [];
    const [canary] = (await planOf('canary.yaml')).waves;
    const strata: readonly string[] = canary.members.map(
      ({ stratum }: { readonly stratum: string }) => stratum,
    );
    const first = ['Linux', 'Windows Server 2008 R2'];
    const sizes = [...new Set([...first, ...strata])].map(
      (name) => strata.filter((other) => other === name).length,
    );
    const [all, onLinux, onOld, onNewer] = counts.map(Number);
    expect([canary.size, ...sizes]).toEqual([all, onLinux, onOld, onNewer, onNewer, onNewer, onNewer]);

    vi.stubEnv('SERVICE_URL', process.env['US_SERVICE_URL']);
    const few = await planOf('canary.yaml');
    vi.stubEnv('SERVICE_URL', process.env['EU_SERVICE_URL']);
    const [, ...stated] =
      /2% of (\d+) collectors are (\d+)\. `plan` shows `strata (\d+)\/(\d+)`/.exec(guide) ?? [];
    expect([few.planned, few.waves[0].size, few.waves[0].strata, few.strata.total]).toEqual(
      stated.map(Number),
    );
  });
});

/** A line of the guide, where `…` stands for anything. */
function patternOf(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
