import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import type { RedisCommands } from './connection.ts';

/** The kinds of arguments with their types. In Lua a `null` is nil, and `json` is a table. */
interface ArgTypes {
  text: string;
  'text?': string | null;
  number: number;
  'number?': number | null;
  /** A list or an object without any `null`, which Lua would take for true. */
  json: object;
}

type ArgKinds = Readonly<Record<string, keyof ArgTypes>>;

/** A Lua script that Redis runs as one atomic step. */
export interface Script<Key extends string, Args extends ArgKinds, Result> {
  /** The source that Redis gets. */
  readonly lua: string;
  readonly sha1: string;
  readonly keys: readonly Key[];
  readonly args: Args;
  readonly result: z.ZodType<Result>;
}

/**
 * Reads a script from its `.lua` file. There the key `events` is the local `eventsKey`, and an argument is a local of the
 * same name. A line `--@include NAME` includes the file `NAME.lua`, relative to the including file.
 * @throws when a file is missing
 */
export function defineScript<const Key extends string, const Args extends ArgKinds, Result>(definition: {
  readonly file: URL;
  readonly keys: readonly Key[];
  readonly args: Args;
  readonly result: z.ZodType<Result>;
}): Script<Key, Args, Result> {
  const { file, keys, args, result } = definition;
  const lua = `${preludeOf(keys, args)}\n${readSource(file, new Set())}`;
  return { lua, sha1: createHash('sha1').update(lua).digest('hex'), keys, args, result };
}

/**
 * Runs a script. All keys share one hash tag, so that it works on a Cluster.
 * @throws ZodError when the reply is not as defined, which is a bug
 */
export async function runScript<Key extends string, Args extends ArgKinds, Result>(
  commands: RedisCommands,
  script: Script<Key, Args, Result>,
  call: {
    readonly keys: Readonly<Record<Key, string>>;
    readonly args: { readonly [Name in keyof Args]: ArgTypes[Args[Name]] };
  },
): Promise<Result> {
  const keys = script.keys.map((name) => call.keys[name]);
  const args = Object.keys(script.args).map((name) => encodeArg(call.args[name]));
  return script.result.parse(await evaluate(commands, script, { keys, args }));
}

async function evaluate(
  commands: RedisCommands,
  script: { readonly lua: string; readonly sha1: string },
  { keys, args }: { readonly keys: readonly string[]; readonly args: readonly string[] },
): Promise<unknown> {
  try {
    return await commands.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    // A server that restarted or was promoted has no script cache.
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return commands.eval(script.lua, keys.length, ...keys, ...args);
  }
}

function encodeArg(value: ArgTypes[keyof ArgTypes] | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? encodeJson(value) : String(value);
}

/** An escape in JSON. The group matches an escaped lone surrogate; complete characters are not escaped. */
const escapes = /\\(?:(ud[89a-f][\da-f]{2})|.)/g;

/**
 * JSON that scripts can parse. An operator's text or a collector's name may contain a lone surrogate, which JSON allows but
 * Lua's decoder refuses. It is replaced by U+FFFD.
 */
export function encodeJson(value: object): string {
  const json = JSON.stringify(value);
  if (!json.includes('\\ud')) return json;
  return json.replace(escapes, (written, half?: string) => (half === undefined ? written : '\ufffd'));
}

const inLua: { readonly [Kind in keyof ArgTypes]: (arg: string) => string } = {
  text: (arg) => arg,
  'text?': (arg) => `${arg} ~= '' and ${arg} or nil`,
  number: (arg) => `tonumber(${arg})`,
  'number?': (arg) => `tonumber(${arg})`,
  json: (arg) => `cjson.decode(${arg})`,
};

/** Binds keys and arguments to their names. */
function preludeOf(keys: readonly string[], args: ArgKinds): string {
  return [
    ...keys.map((name, index) => `local ${name}Key = KEYS[${index + 1}]`),
    ...Object.entries(args).map(
      ([name, kind], index) => `local ${name} = ${inLua[kind](`ARGV[${index + 1}]`)}`,
    ),
  ].join('\n');
}

/** @param included files that are already part of this script */
function readSource(file: URL, included: Set<string>): string {
  if (included.has(file.href)) return '';
  included.add(file.href);
  return readFileSync(file, 'utf8').replace(/^--@include (\S+)$/gm, (_line, name: string) =>
    readSource(new URL(`${name}.lua`, file), included),
  );
}
