import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { aFolder } from '../../support/a-folder.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));

/** The two commands of the README, without their comments. */
const commands = (/^## Two commands\n.*?```sh\n(.*?)```/ms.exec(read('README.md'))?.[1] ?? '')
  .trim()
  .split('\n')
  .map((line) => line.replace(/ +#.*/, ''));

it('the two commands of the README are the demo and the tests', () => {
  expect(commands).toEqual(['npm run --silent demo', 'npm test']);
  expect(scripts['demo']).toBe('node dist/main.js demo');
  expect(scripts['test']).toContain('vitest run');
});

it('the demo of the README prints nothing of npm before it begins', () => {
  const folder = aFolder();
  // The package without dependencies, so that nothing is installed, and with a demo that only prints.
  const own = { ...scripts, build: 'exit 0', demo: 'echo demo' };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'readme', version: '1.0.0', scripts: own }),
  );
  const [command = ''] = commands;
  const out = execFileSync('sh', ['-c', `${command} 2>&1`], { cwd: folder }).toString();
  expect(out).toBe('Installing packages and building ...\ndemo\n');
});
