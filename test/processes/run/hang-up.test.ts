import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../support/a-folder.ts';
import { useNights } from '../../support/night/nights.ts';
import { daemonUrl } from '../../support/night/upwave-process.ts';
import { until } from '../../support/until.ts';

const nights = useNights();

/** Options of Node with which a process gets a SIGHUP at the moment in which it begins to load this library. */
function hangUpWhenLoading(library: string): string {
  const folder = aFolder();
  const hooks = join(folder, 'hooks.mjs');
  const preload = join(folder, 'preload.mjs');
  writeFileSync(
    hooks,
    `let sent = false;
    export async function load(url, context, next) {
      if (!sent && url.includes('/node_modules/${library}/')) {
        sent = true;
        process.kill(process.pid, 'SIGHUP');
      }
      return next(url, context);
    }`,
  );
  const register = `import { register } from 'node:module'; register('${pathToFileURL(hooks).href}');`;
  writeFileSync(preload, register);
  return `--import=${preload}`;
}

describe('SIGHUP while upwave starts', () => {
  it.each([
    ['the command line is loaded', 'commander'],
    ['the daemon is loaded', 'bullmq'],
  ])(
    'does not end the daemon: %s. The config is read again once the daemon is there',
    async (_when, library) => {
      const { desk } = await nights.aNightDesk(
        { onTestFinished },
        { scenario: { fleet: { size: 2 } }, env: { NODE_OPTIONS: hangUpWhenLoading(library) } },
      );
      const daemon = desk.start('run');
      await daemonUrl(daemon);
      await until('the reload', () => daemon.out().includes('"event":"config.reloaded"'));
      daemon.kill('SIGTERM');
      expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
    },
  );

  it('ends every other command', async () => {
    const { desk } = await nights.aNightDesk(
      { onTestFinished },
      { scenario: { fleet: { size: 2 } }, env: { NODE_OPTIONS: hangUpWhenLoading('commander') } },
    );
    for (const args of [
      ['run', '--once'],
      ['config', 'check'],
    ])
      expect(await desk.run(...args)).toMatchObject({ signal: 'SIGHUP' });
  });
});
