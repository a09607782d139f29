import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withManagement } from '../inventory/with-management.ts';
import { CommandFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { isFileError } from '../shell/write-lines.ts';
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

interface Answers {
  readonly baseUrl: string;
  readonly accessId: string;
  readonly accessKey: string;
}

/** `upwave init`: three questions, a try of the key, a config with comments. It overwrites nothing. */
export async function initCommand(
  options: InitOptions,
  output: ConsoleOutput,
  input: NodeJS.ReadStream = process.stdin,
): Promise<ExitCode> {
  const file = options.config;
  const keyFile = join(dirname(file), 'upwave.key');
  for (const path of [file, keyFile]) {
    if (existsSync(path))
      throw new CommandFailure(exitCodes.usageOrConfig, `${path} is there already; it is not overwritten`);
  }
  const isAsked = !options.yes && input.isTTY;
  const answers = await readAnswers(options, isAsked ? askOn(input, output.err) : undefined);
  output.hide?.([answers.accessKey]);
  await writeNew(keyFile, `${answers.accessKey}\n`, 0o600);
  try {
    await writeNew(file, firstConfig({ ...answers, keyFile: basename(keyFile) }), 0o644);
    if (options.check) await tryKey(file, output);
  } catch (error) {
    // Neither was there before.
    await rm(file, { force: true });
    await rm(keyFile, { force: true });
    throw error;
  }
  const at = file === 'upwave.yaml' ? '' : ` --config ${file}`;
  output.out.write(
    `wrote ${file}, and the key into ${keyFile} (readable by you alone)\nnext: upwave plan${at}   shows what would happen; nothing is changed\n      upwave run${at}    starts the daemon; its plan waits for your approval\n`,
  );
  return exitCodes.done;
}

/** @throws CommandFailure where something is missing and nobody can be asked */
async function readAnswers(options: InitOptions, ask: Ask | undefined): Promise<Answers> {
  const baseUrl = checkedUrl(
    options.baseUrl ?? (await ask?.plain('Base URL of the API (https://api.example.com/api): ')) ?? '',
  );
  const accessId = options.accessId ?? (await ask?.plain('Access id: ')) ?? '';
  const accessKey = process.env['UPWAVE_ACCESS_KEY'] ?? (await ask?.secret('Access key (not shown): ')) ?? '';
  const missing = [
    ...(accessId === '' ? ['the access id (--access-id)'] : []),
    ...(accessKey === '' ? ['the access key (UPWAVE_ACCESS_KEY)'] : []),
  ];
  if (missing.length > 0)
    throw new CommandFailure(
      exitCodes.usageOrConfig,
      `missing: ${missing.join(' and ')}; nothing is written`,
    );
  return { baseUrl, accessId, accessKey };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url !== undefined && isHttp && `${url.username}${url.password}${url.search}${url.hash}` === '')
    return text.replace(/\/+$/, '');
  const words = 'the base URL must be like https://api.example.com/api (--base-url); nothing is written';
  throw new CommandFailure(exitCodes.usageOrConfig, words);
}

/** Asks for the builds, as a plan would. @throws CommandFailure where the key does not work */
async function tryKey(config: string, output: ConsoleOutput): Promise<void> {
  const builds = await withManagement({ config, output }, async ({ management, stop, orFail }) =>
    orFail(await management.upgrades.listTargets(stop)),
  ).catch((error: unknown) => {
    if (!(error instanceof CommandFailure)) throw error;
    const message = `${error.message}\n  Nothing is written; --no-check writes it without a try`;
    throw new CommandFailure(error.exitCode, message, { cause: error });
  });
  output.err.write(`the key works; builds on offer: ${builds.length}\n`);
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
    if (!isFileError(error)) throw error;
    throw new CommandFailure(
      exitCodes.usageOrConfig,
      `cannot write ${path}: ${error.code ?? error.message}`,
      {
        cause: error,
      },
    );
  }
}
