import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseScenario } from '../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../src/reference-service/server/start-reference-service.ts';
import { callUpwave } from '../support/night/upwave-call.ts';
import { aConfigFolder } from '../support/night/upwave-process.ts';
import { testSecrets } from '../support/test-secrets.ts';

const guide = readFileSync(
  new URL('../../src/docs/guides/review-policies-in-ci.md', import.meta.url),
  'utf8',
);
const Pipeline = z.object({
  jobs: z.object({ rehearse: z.object({ steps: z.array(z.object({ run: z.string().optional() })) }) }),
});

it('the pipeline of the guide runs without a secret, and fails for a build that breaks too much', async (test) => {
  const { path, write } = aConfigFolder((work) => test.onTestFinished(work));
  const credentials = testSecrets.commandLine;
  const scenario = parseScenario({ fleet: { size: 60 }, builds: ['19.533-5', '19.540-2'] });
  const service = await startReferenceService({ credentials: [credentials], scenario });
  test.onTestFinished(service.close);
  const inFolder = (name: string) => `${path}/${name}`;
  const call = (words: readonly string[]) =>
    callUpwave(...words.map((word) => (/\.(json|yaml|html)$/.test(word) ? inFolder(word) : word)));

  // The snapshot, on the machine that has the key.
  write('key.yaml', { service: { baseUrl: service.baseUrl, ...credentials }, rollouts: [{ name: 'all' }] });
  const [, snapshot = ''] = /^upwave (.*) > fleet\.json$/m.exec(guide) ?? [];
  write('fleet.json', (await call([...snapshot.split(' '), '--config', 'key.yaml'])).out);

  const secretFile = '/run/credentials/upwave.service/access';
  write('upwave.yaml', {
    service: { baseUrl: 'https://api.example.com', accessIdFile: secretFile, accessKeyFile: secretFile },
    rollouts: [{ name: 'production', timeZone: 'UTC' }],
  });
  const steps = Pipeline.parse(parse(/^```yaml\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? '')).jobs.rehearse.steps;
  const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [wordsOf(run)]));
  expect(commands.map(([command]) => command)).toEqual(['config', 'rehearse']);
  const runs = async (breaks: string) => {
    write('what-if.yaml', breaks);
    const codes: Array<number | null> = [];
    for (const words of commands) {
      const seeds = words[0] === 'rehearse' ? ['--seeds', '3'] : [];
      codes.push((await call([...words, ...seeds, '--config', 'upwave.yaml'])).code);
    }
    return codes;
  };
  expect(await runs('failures: { once: 0%, always: 0% }')).toEqual([0, 0]);
  expect(await runs('breaks: [{ match: { osName: "*" } }]')).toEqual([0, 1]);
  expect(readFileSync(inFolder('rehearsal.html'), 'utf8')).toContain('<html');
});

/** The words behind `node /app/dist/main.js`. */
function wordsOf(run: string): readonly string[] {
  const [, line = ''] = /^node \/app\/dist\/main\.js (.*)$/m.exec(run.replaceAll(/\\\n\s*/g, ' ')) ?? [];
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
}
