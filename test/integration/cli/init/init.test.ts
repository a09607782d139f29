import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { aConfigFolder, startUpwave } from '../../../support/night/upwave-process.ts';
import { aReferenceService } from '../../../support/reference-client.ts';
import { until } from '../../../support/until.ts';

const hasTerminal = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasTerminal).concurrent('init at a terminal (skipped where script is not installed)', () => {
  async function atTerminal({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
    const service = await aReferenceService({ fleet: { size: 3 } });
    onTestFinished(service.close);
    const folder = aConfigFolder(onTestFinished);
    const init = startUpwave({ args: ['init'], cwd: folder.path, atTerminal: true, env: { TERM: 'xterm' } });
    onTestFinished(() => init.kill('SIGKILL'));
    /** Waits for the question, so that nothing is typed before it is asked. */
    const answer = async (question: string, text: string) => {
      await until(question, () => init.out().includes(question));
      init.type(text);
    };
    const written = ['upwave.yaml', 'upwave.key'].map((name) => join(folder.path, name));
    return { baseUrl: service.service.baseUrl, init, answer, written };
  }

  it('asks for the address, the id and the key, shows no key, and writes a config that works', async (test) => {
    const { baseUrl, init, answer, written } = await atTerminal(test);
    await answer('Base URL of the API (https://api.example.com/api): ', `${baseUrl}/\r`);
    // A slip is taken back as at any prompt.
    await answer('Access id: ', 'anix\u007fd\r');
    await answer('Access key (not shown): ', 'akey\r');
    const { code, out } = await init.ended;
    expect(out).toMatch(/the key works; available builds: \d+/);
    expect(out).toContain('next: upwave plan ');
    // A daemon without a Redis would wait for one for ever.
    expect(out).toContain('upwave run --redis embedded');
    expect(out).not.toContain('akey');
    // Cursor movements of readline would stand as text between question and answer.
    expect(out).not.toContain('\\u00');
    expect(code).toBe(0);
    const [config = '', key = ''] = written;
    expect(readFileSync(config, 'utf8')).toContain(`baseUrl: "${baseUrl}"\n`);
    expect(readFileSync(config, 'utf8')).toContain('accessId: "anid"\n');
    expect(readFileSync(key, 'utf8')).toBe('akey\n');
    expect(statSync(key).mode & 0o777).toBe(0o600);
  });

  it('asks again where the service refuses the key, and keeps the other answers', async (test) => {
    const { baseUrl, init, answer, written } = await atTerminal(test);
    await answer('Base URL', `${baseUrl}\r`);
    await answer('Access id: ', 'anid\r');
    await answer('Access key (not shown): ', 'mistyped-key\r');
    await answer(`Base URL of the API (Enter keeps ${baseUrl}): `, '\r');
    await answer('Access id (Enter keeps anid): ', '\r');
    await until('the key to be asked for again', () => init.out().split('Access key').length === 3);
    init.type('akey\r');
    const { code, out } = await init.ended;
    expect(out).toContain('does not accept the access key');
    expect(out).not.toContain('mistyped-key');
    expect(code).toBe(0);
    expect(written.map((path) => existsSync(path))).toEqual([true, true]);
  });

  it('asks again for a malformed address, before the other questions', async (test) => {
    const { baseUrl, init, answer, written } = await atTerminal(test);
    await answer('Base URL', 'api.example.com/api\r');
    await until('a second question', () => init.out().split('Base URL').length === 3);
    init.type(`${baseUrl}\r`);
    expect(init.out()).toContain('upwave: the base URL must be like https://api.example.com/api');
    await answer('Access id: ', 'anid\r');
    await answer('Access key (not shown): ', 'akey\r');
    const { code, out } = await init.ended;
    expect(out.split('Base URL of the API (https://api.example.com/api): ')).toHaveLength(3);
    expect(out.split('Access id')).toHaveLength(2);
    expect(code).toBe(0);
    expect(written.map((path) => existsSync(path))).toEqual([true, true]);
  });

  it('gives up after three malformed addresses', async (test) => {
    const { init, written } = await atTerminal(test);
    for (const asked of [1, 2, 3]) {
      await until('the address to be asked for', () => init.out().split('Base URL').length === asked + 1);
      init.type('nonsense\r');
    }
    const { code, out } = await init.ended;
    expect(out).toContain('(--base-url); no file was written');
    expect(code).toBe(2);
    expect(written.map((path) => existsSync(path))).toEqual([false, false]);
  });

  it('writes nothing after Ctrl-C at the key, and reports that', async (test) => {
    const { baseUrl, init, answer, written } = await atTerminal(test);
    await answer('Base URL', `${baseUrl}\r`);
    await answer('Access id: ', 'anid\r');
    await answer('Access key', 'ake\u0003');
    const { code, out } = await init.ended;
    expect(out).toContain('upwave: no file was written');
    expect(out).not.toContain('ake');
    expect(code).toBe(2);
    expect(written.map((path) => existsSync(path))).toEqual([false, false]);
  });
});
