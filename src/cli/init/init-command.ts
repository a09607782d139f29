import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { isPlainHttpUrl } from '../../base/url-authority.ts';
import { withManagement } from '../inventory/with-management.ts';
import { CommandFailure, UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { fileFailure } from '../shell/write-lines.ts';
import { type Ask, askOn } from './ask.ts';
import { firstConfig } from './first-config.ts';

export interface InitOptions {
  /** The file to write. */
  readonly config: string;
  readonly baseUrl?: string;
  readonly accessId?: string;
  readonly yes: boolean;
  readonly check: boolean;
}

// The service throttles more sign-ins than this in a minute.
const askedMax = 3;

const tryAgain = 'Try again, or press Ctrl-C to stop.';
const exampleUrl = 'https://api.example.com/api';
const urlForm = `the base URL must be like ${exampleUrl}`;

interface Answers {
  readonly baseUrl: string;
  readonly accessId: string;
  readonly accessKey: string;
}

/** `upwave init`: asks three questions, tries the key, and writes a commented config. It overwrites nothing. */
export async function initCommand(
  options: InitOptions,
  output: ConsoleOutput,
  input: NodeJS.ReadStream = process.stdin,
): Promise<ExitCode> {
  const file = options.config;
  const keyFile = join(dirname(file), `${basename(file, extname(file))}.key`);
  for (const path of [file, keyFile]) {
    if (existsSync(path)) throw new UsageFailure(`${path} exists already; upwave init overwrites nothing`);
  }
  const ask = !options.yes && input.isTTY ? askOn(input, output.err) : undefined;
  let before: Answers | undefined;
  for (let asked = 1; ; asked += 1) {
    const answers = await readAnswers(options, { ask, output }, before);
    output.addSecrets?.([answers.accessKey]);
    const refusal = await writeBoth({ file, keyFile }, answers, options.check ? output : undefined);
    if (refusal === undefined) break;
    if (ask === undefined || asked >= askedMax) throw refusal;
    // A key that is not shown is easily mistyped. The other answers are kept.
    output.err.write(`upwave: ${refusal.message}\n\n${tryAgain}\n`);
    before = answers;
  }
  const at = file === 'upwave.yaml' ? '' : ` --config ${file}`;
  const commands = [
    [`upwave plan${at}`, 'shows what would happen; changes nothing'],
    [`upwave run${at}`, 'the daemon; its plan waits for your approval'],
    [`upwave run${at} --redis embedded`, 'the same, with an embedded Redis for a trial'],
  ] as const;
  const width = Math.max(...commands.map(([command]) => command.length));
  const next = [
    `wrote ${file}, and the key to ${keyFile} (only you can read it)`,
    ...commands.map(
      ([command, words], index) => `${index === 0 ? 'next:' : '     '} ${command.padEnd(width)}   ${words}`,
    ),
  ];
  output.out.write(`${next.join('\n')}\n`);
  return exitCodes.done;
}

/** Tries the key where it has an output, and writes both files. @returns why the key does not work; then no file was written */
async function writeBoth(
  { file, keyFile }: { readonly file: string; readonly keyFile: string },
  answers: Answers,
  output: ConsoleOutput | undefined,
): Promise<CommandFailure | undefined> {
  await writeNew(keyFile, `${answers.accessKey}\n`, 0o600);
  let refusal: CommandFailure | undefined;
  try {
    await writeNew(file, firstConfig({ ...answers, keyFile: basename(keyFile) }), 0o644);
    refusal = output === undefined ? undefined : await tryKey(file, output);
    if (refusal === undefined) return undefined;
  } catch (error) {
    await removeBoth(file, keyFile);
    throw error;
  }
  await removeBoth(file, keyFile);
  return refusal;
}

/** Neither was there before. */
async function removeBoth(...paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

/** @param before kept by an empty answer @throws CommandFailure where something is missing and nobody can be asked */
async function readAnswers(
  options: InitOptions,
  { ask, output }: { readonly ask: Ask | undefined; readonly output: ConsoleOutput },
  before: Answers | undefined,
): Promise<Answers> {
  const askPlain = async (question: string, example: string, kept: string | undefined) => {
    const hint = kept === undefined ? example : ` (Enter keeps ${kept})`;
    const answer = await ask?.plain(`${question}${hint}: `);
    return answer === '' ? kept : answer;
  };
  const { baseUrl: url, accessId: id } = options;
  const askUrl = async () =>
    (await askPlain('Base URL of the API', ` (${exampleUrl})`, before?.baseUrl)) ?? '';
  let typed = url ?? (await askUrl());
  const mayAsk = ask !== undefined && url === undefined;
  for (let asked = 1; mayAsk && asked < askedMax && !isPlainHttpUrl(typed); asked += 1) {
    output.err.write(`upwave: ${urlForm}\n\n${tryAgain}\n`);
    typed = await askUrl();
  }
  const baseUrl = checkedUrl(typed);
  const accessId = id ?? (await askPlain('Access id', '', before?.accessId)) ?? '';
  const accessKey = process.env['UPWAVE_ACCESS_KEY'] ?? (await ask?.secret('Access key (not shown): ')) ?? '';
  const missing = [
    ...(accessId === '' ? ['the access id (--access-id)'] : []),
    ...(accessKey === '' ? ['the access key (UPWAVE_ACCESS_KEY)'] : []),
  ];
  if (missing.length > 0) throw new UsageFailure(`missing: ${missing.join(' and ')}; no file was written`);
  return { baseUrl, accessId, accessKey };
}

function checkedUrl(text: string): string {
  if (isPlainHttpUrl(text)) return text.replace(/\/+$/, '');
  throw new UsageFailure(`${urlForm} (--base-url); no file was written`);
}

/** Requests the builds, as a plan does. @returns why the key does not work */
async function tryKey(config: string, output: ConsoleOutput): Promise<CommandFailure | undefined> {
  try {
    const builds = await withManagement({ config }, output, async ({ management, stop, orFail }) =>
      orFail(await management.upgrades.listTargets(stop)),
    );
    output.err.write(`the key works; available builds: ${builds.length}\n`);
    return undefined;
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    const message = `${error.message}\n  No file was written; --no-check skips this test of the key`;
    return new CommandFailure(error.exitCode, message, { cause: error });
  }
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  try {
    const file = await open(path, 'wx', mode);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileFailure(error, (why) => `cannot write ${path}: ${why}`);
  }
}
