import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fixedValues, valueKinds } from '../../../src/cli/completion/value-kinds.ts';
import { makeProgram } from '../../../src/cli/program.ts';
import { makeSafeStreams } from '../../../src/cli/shell/console-output.ts';
import { exitCodes } from '../../../src/cli/shell/exit-codes.ts';
import { commandsOf } from '../../../src/cli/shell/program-help.ts';
import { guideGroups } from '../../../src/docs/guide-list.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { aFolder } from '../../support/a-folder.ts';
import { callUpwave } from '../../support/night/upwave-call.ts';

// The README's commands run where node, npm and sh are all there is.
const hasShell = (shell: string) => spawnSync(shell, ['--version']).status === 0;

describe('help', () => {
  it('has the commands in groups, and examples, environment and exit codes on each of them', async () => {
    const { out } = await callUpwave('help');
    for (const group of ['Run:', 'Show:', 'Act (each takes --reason):', 'Before:', 'Inventory:', 'Other:'])
      expect(out).toContain(`\n${group}\n`);
    const status = (await callUpwave('status', '--help')).out;
    expect(status).toMatch(/Examples:\n {2}\$ upwave status\n.*UPWAVE_URL .*Exit codes:\n {2}0 {2}done/s);
  });

  it('has no line of more than 80 columns in a pipe', async () => {
    const program = makeProgram(makeSafeStreams(process), false, () => undefined);
    const lines: string[] = [];
    for (const { words } of commandsOf(program))
      lines.push(...(await callUpwave(...words, '--help')).out.split('\n'));
    expect(lines.length).toBeGreaterThan(500);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('for a command of several words is the help of that command', async () => {
    expect(await callUpwave('help', 'config', 'check')).toMatchObject({
      code: exitCodes.done,
      out: expect.stringMatching(/^Usage: upwave config check /),
    });
    expect(await callUpwave('help', 'config', 'chekc')).toMatchObject({
      code: exitCodes.usageOrConfig,
      err: expect.stringContaining("unknown command 'config chekc'"),
    });
  });
});

describe('help for a guide', () => {
  it('lists the guides, and prints one for a terminal', async () => {
    const { out } = await callUpwave('help');
    expect(out).toContain('\nGuides (upwave help GUIDE prints one, and the daemon serves them at /docs/):\n');
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    for (const { name, answers } of guideGroups.flatMap(({ guides }) => guides))
      expect(out).toMatch(new RegExp(`^ {2}${name} {2,}${answers.slice(0, 10)}`, 'm'));
    const redis = await callUpwave('help', 'redis');
    expect(redis).toMatchObject({ code: exitCodes.done, err: '' });
    expect(redis.out).toMatch(/^Run Redis for upwave\n=+\n/);
    expect(redis.out).toContain('    ACL SETUSER upwave reset on >CHANGE_ME');
  });

  it.each([['UpwaveNoProgress'], ['alerts', 'UpwaveNoProgress'], ['alerts#upwavenoprogress']])(
    'prints one section: %s %s',
    async (...words) => {
      const { code, out } = await callUpwave('help', ...words);
      expect([code, out.startsWith('UpwaveNoProgress\n---')]).toEqual([exitCodes.done, true]);
      expect(out).not.toContain('UpwaveGateUnanswered');
    },
  );

  it('is shown below the help of a command of the same name', async () => {
    const { out } = await callUpwave('help', 'reload');
    expect(out).toMatch(/^Usage: upwave reload .*\nChange the config while upwave runs\n===/s);
  });

  it('suggests the nearest name', async () => {
    for (const [typed, meant] of [
      ['instal', 'install'],
      ['notificatons', 'notifications'],
      ['staus', 'status'],
      ['respond', 'respond-to-a-hold'],
      ['UpwaveNoProgres', 'UpwaveNoProgress'],
      ['redis backup-redis', 'redis back-up-redis'],
      ['upwaveredisdwon', 'UpwaveRedisDown'],
    ] as const)
      expect(await callUpwave('help', ...typed.split(' '))).toMatchObject({
        code: exitCodes.usageOrConfig,
        err: expect.stringContaining(
          `unknown command '${typed}', and no guide or alert has this name\n(Did you mean ${meant}?)`,
        ),
      });
    expect((await callUpwave('help', 'redis', 'no-such')).code).toBe(exitCodes.usageOrConfig);
  });
});

describe('an empty argument, as of a shell variable that is not set', () => {
  const program = makeProgram(makeSafeStreams(process), false, () => undefined);
  const taking = commandsOf(program).filter(({ command }) => command.registeredArguments.length > 0);
  const cases = taking.flatMap(({ command, words }) =>
    command.registeredArguments.map((_argument, at, all) => [words.join(' '), at, all.length] as const),
  );

  it('is tried with every command', () => expect(cases.length).toBeGreaterThan(30));

  it.each(cases)('%s refuses as argument %i of %i', async (words, at, size) => {
    const given = Array.from({ length: size }, (_text, index) => (index === at ? '' : '1'));
    const { code, err } = await callUpwave(...words.split(' '), ...given);
    expect(err).toMatch(/is empty|is invalid|unknown command ''/);
    expect(code).toBe(exitCodes.usageOrConfig);
  });
});

describe('an empty option value, as of a shell variable that is not set', () => {
  const program = makeProgram(makeSafeStreams(process), false, () => undefined);
  const all = [{ command: program, words: [] }, ...commandsOf(program)];
  const cases = all.flatMap(({ command, words }) =>
    command.options
      .filter(({ required, optional }) => required || optional)
      .map(({ long, flags }) => [words.join(' '), flags, long ?? ''] as const),
  );

  it('is tried with every command', () => expect(cases.length).toBeGreaterThan(60));

  it.each(cases)('%s refuses as %s', async (words, _flags, long) => {
    const before = words.split(' ').filter((word) => word !== '');
    for (const given of [[long, ''], [`${long}=`]]) {
      const { code, err } = await callUpwave(...before, ...given);
      expect(err).toMatch(/^error: option '.*' (is empty|argument missing|.*is invalid)/);
      expect(code).toBe(exitCodes.usageOrConfig);
    }
  });
});

describe('completion', () => {
  const offered = async (shell: string, ...words: readonly string[]) =>
    (await callUpwave('completion', shell, '--', ...words)).out.trim().split('\n');

  it('offers commands, their own commands, options and known values', async () => {
    expect(await offered('bash', 'sta')).toEqual(expect.arrayContaining(['status', 'start', 'run']));
    expect(await offered('bash', 'config', '.')).toEqual(['check']);
    expect(await offered('bash', 'upgrades', 'production', '--st')).toEqual(
      expect.arrayContaining(['--state', '--stratum', '--config', '--help']),
    );
    expect(await offered('bash', 'report', '--format', '.')).toEqual(['html', 'md']);
    expect(await offered('bash', 'upgrades', '--state', '.')).toContain('timedOut');
    expect(await offered('bash', 'retry', '--cause', '=', 'ti')).toContain('timedOut');
    expect(await offered('bash', 'audit', '--type', '.')).toContain('rollout.aborted');
    for (const words of [
      ['--config', '.'],
      ['status', '--config', '=', 'up'],
      ['upgrades', '.'],
      ['--config', 'x', 'upgrades', '.'],
    ])
      expect(await offered('bash', ...words)).toEqual(['']);
  });

  it('knows values only of options and arguments that exist', () => {
    const program = makeProgram(makeSafeStreams(process), false, () => undefined);
    const keys = commandsOf(program).flatMap(({ command }) => [
      ...command.options.map(({ flags }) => flags),
      ...command.registeredArguments.flatMap((each) => [each.name(), `${command.name()} ${each.name()}`]),
    ]);
    const known = [...Object.keys(valueKinds), ...Object.keys(fixedValues)];
    expect(known.filter((key) => !keys.includes(key))).toEqual([]);
  });

  it('offers commands, guides and alerts for the first word behind `help`', async () => {
    const offers = await offered('bash', 'help', '.');
    expect(offers).toEqual(expect.arrayContaining(['status', 'config', 'install', 'UpwaveNoProgress']));
    for (const { name } of guideGroups.flatMap(({ guides }) => guides)) expect(offers).toContain(name);
    expect(offers.filter((name) => name.startsWith('Upwave')).length).toBeGreaterThan(20);
    expect(await offered('zsh', 'help', 'Upw')).toContain('UpwaveNoProgress:an alert');
    expect(await offered('bash', 'help', '--')).not.toContain('install');
    expect(await offered('bash', 'help', 'install', '.')).toEqual(['']);
    expect(await offered('bash', 'hold', 'help', '.')).not.toContain('install');
  });

  it('offers the help of each in zsh and fish', async () => {
    const help =
      'report every error in the config file, each with its line and column; with --json, as a list';
    expect(await offered('zsh', 'config', '.')).toEqual([`check:${help}`]);
    expect(await offered('fish', 'config', '.')).toEqual([`check\t${help}`]);
  });

  /** A shell with an `upwave` that shows its arguments, and offers two commands for all words but `none`. */
  const shown = async (shell: string, options: readonly string[], body: string) => {
    const { out } = await callUpwave('completion', shell);
    const text = execFileSync(shell, [...options, '-c', body.replace('SCRIPT', () => out)]).toString();
    return text.trim().split('\n');
  };

  it.skipIf(!hasShell('bash'))('asks for what was typed, in bash', async () => {
    const upwave = `upwave() { case "$*" in *none*) ;; *) echo "$*" >&3; printf '%s\\n' check status ;; esac; }`;
    const ask = (...words: readonly string[]) =>
      shown(
        'bash',
        [],
        `exec 3>&1; ${upwave}\nSCRIPT\nCOMP_WORDS=(upwave ${words.join(' ')}); COMP_CWORD=${words.length}; _upwave; echo "\${COMPREPLY[@]}"`,
      );
    expect(await ask('config', 'ch')).toEqual(['completion bash -- config ch', 'check']);
    expect(await ask('config', "''")).toEqual(['completion bash -- config .', 'check status']);
    expect(await ask('--state', '=')).toEqual(['completion bash -- --state .', 'check status']);
    expect(await ask("'$(echo x)'", '-')).toEqual(['completion bash -- $(echo x) -']);
    expect(await ask('none', 'ch')).toEqual(['']);
    // The quoted word as bash passes it, and a value that would be a command.
    const labels = (offered: string, typed: string) =>
      shown(
        'bash',
        [],
        `upwave() { printf '%s\\n' ${offered}; }\nSCRIPT\nCOMP_WORDS=(upwave hold ${typed}); COMP_CWORD=2; _upwave; echo "\${COMPREPLY[@]}"`,
      );
    expect(await labels("'Linux / amd64' 'AIX'", 'Lin')).toEqual(['Linux\\ /\\ amd64']);
    expect(await labels("'Linux / amd64' 'AIX'", "'Linux\\ /'")).toEqual(['Linux\\ /\\ amd64']);
    expect(await labels("'Linux / amd64' 'AIX'", `'"Lin'`)).toEqual(['Linux / amd64']);
    expect(await labels(`'x$(echo y)'`, 'x')).toEqual(['x\\$\\(echo\\ y\\)']);
  });

  it.skipIf(!hasShell('zsh'))('asks for what was typed, in zsh', async () => {
    const upwave = `upwave() { case "$*" in *none*) ;; *) echo "$*" >&3; printf '%s\\n' check:c status:s ;; esac; }`;
    // What zsh does with them is its own: the function is called as by a completion, and lists what it offers.
    const ask = (prefix: string, ...words: readonly string[]) =>
      shown(
        'zsh',
        ['-f'],
        `compdef() {}; _describe() { print -rl -- "\${(@P)4}" }; _files() { print files }\n${upwave}\nexec 3>&1\nSCRIPT\nwords=(upwave ${words.join(' ')} x) CURRENT=${words.length + 2} PREFIX=${prefix} _upwave`,
      );
    expect(await ask('ch', 'config')).toEqual(['completion zsh -- config ch', 'check:c', 'status:s']);
    expect(await ask('', "'$(echo x)'")).toEqual(['completion zsh -- $(echo x) .', 'check:c', 'status:s']);
    expect(await ask('', 'none')).toEqual(['files']);
  });

  it.skipIf(!hasShell('fish'))('asks for what was typed, in fish', async () => {
    const upwave = `function upwave; string match -q '*none*' "$argv"; or printf '%s\\n' check\\tc status\\ts; end`;
    const ask = async (line: string) =>
      (await shown('fish', ['--no-config'], `${upwave}\nSCRIPT\ncomplete -C'${line}'`)).toSorted();
    expect(await ask('upwave config ch')).toEqual(['check\tc']);
    expect(await ask('upwave config ')).toEqual(['check\tc', 'status\ts']);
  });

  it('exists for no other shell', async () => {
    expect((await callUpwave('completion', 'tcsh')).code).toBe(exitCodes.usageOrConfig);
  });
});

describe('init', () => {
  afterEach(() => void vi.unstubAllEnvs());

  async function setUp() {
    const folder = aFolder();
    const credentials = [{ accessId: 'init-id', accessKey: 'init-key-of-this-test' }];
    const service = await startReferenceService({ host: '127.0.0.1', port: 0, credentials });
    onTestFinished(() => service.close());
    const file = join(folder, 'upwave.yaml');
    const given = ['--config', file, '--yes', '--base-url', service.baseUrl, '--access-id', 'init-id'];
    const init = (...more: readonly string[]) => callUpwave('init', ...given, ...more);
    return { file, keyFile: join(folder, 'upwave.key'), init };
  }

  it('tries the key, and writes a valid config, with the key in a file of its own', async () => {
    const { file, keyFile, init } = await setUp();
    vi.stubEnv('UPWAVE_ACCESS_KEY', 'init-key-of-this-test');
    expect(await init()).toMatchObject({
      code: exitCodes.done,
      err: expect.stringMatching(/^the key works; available builds: \d+\n$/),
    });
    expect(readFileSync(keyFile, 'utf8')).toBe('init-key-of-this-test\n');
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('init-key-of-this-test');
    expect((await callUpwave('config', 'check', '--config', file)).code).toBe(exitCodes.done);
    const again = await init();
    expect(again).toMatchObject({
      code: exitCodes.usageOrConfig,
      err: expect.stringContaining('overwrites nothing'),
    });
  });

  it('names the key file after the config, beside another config', async () => {
    const { file, keyFile, init } = await setUp();
    vi.stubEnv('UPWAVE_ACCESS_KEY', 'init-key-of-this-test');
    expect((await init()).code).toBe(exitCodes.done);
    const other = file.replace('upwave.yaml', 'other.yaml');
    expect((await init('--config', other)).code).toBe(exitCodes.done);
    expect(readFileSync(keyFile.replace('upwave.key', 'other.key'), 'utf8')).toBe('init-key-of-this-test\n');
    expect((await callUpwave('config', 'check', '--config', other)).code).toBe(exitCodes.done);
  });

  it('writes nothing with a wrong key, and shows no key', async () => {
    const { file, keyFile, init } = await setUp();
    vi.stubEnv('UPWAVE_ACCESS_KEY', 'a-wrong-key-of-this-test');
    const { code, err } = await init();
    expect(code).toBe(exitCodes.usageOrConfig);
    expect(err).toContain('No file was written');
    expect(err).not.toContain('a-wrong-key-of-this-test');
    expect([existsSync(file), existsSync(keyFile)]).toEqual([false, false]);
    expect((await init('--no-check')).code).toBe(exitCodes.done);
  });

  it('names missing values where it cannot ask', async () => {
    const { init } = await setUp();
    vi.stubEnv('UPWAVE_ACCESS_KEY', undefined);
    expect((await init()).err).toContain('missing: the access key (UPWAVE_ACCESS_KEY)');
  });
});
