import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineScript, runScript } from '../../../../src/redis/connection/script.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();

/** Writes these files, and gives the place of the first. */
async function luaFiles(files: Readonly<Record<string, string>>): Promise<URL> {
  const folder = aFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return pathToFileURL(join(folder, Object.keys(files)[0] ?? ''));
}

describe('a Lua script', () => {
  it('gets its keys and arguments by name, each in its own type', async () => {
    const { commands, keyPrefix } = redis.place();
    const file = await luaFiles({
      'all.lua':
        "return { pastKey, futureKey, type(text), type(none), number + 1, type(nothing), list[2], '' .. #list }",
    });
    const script = defineScript({
      file,
      keys: ['past', 'future'],
      args: { text: 'text', none: 'text?', number: 'number', nothing: 'number?', list: 'json' },
      result: z.array(z.union([z.string(), z.number()])),
    });
    const keys = { future: `{${keyPrefix}}:b`, past: `{${keyPrefix}}:a` };
    const args = { list: ['x', 'lone \ud83d'], nothing: null, number: 1e12, none: null, text: 'ä "quoted"' };
    expect(await runScript(commands, script, { keys, args })).toEqual([
      ...[keys.past, keys.future, 'string', 'nil', 1e12 + 1, 'nil', 'lone \ufffd', '2'],
    ]);
  });

  it('contains each included file once, even where two others include it', async () => {
    const { commands } = redis.connect();
    const file = await luaFiles({
      'main.lua': '--@include one\n--@include two\nreturn count',
      'one.lua': '--@include base\ncount = add(count)\n',
      'two.lua': '--@include base\ncount = add(count)\n',
      'base.lua': 'local count = 0\nlocal function add(number) return number + 1 end\n',
    });
    const script = defineScript({ file, keys: ['any'], args: {}, result: z.number() });
    expect(await runScript(commands, script, { keys: { any: redis.config().keyPrefix }, args: {} })).toBe(2);
  });

  it('is refused where its file or an included file is missing', async () => {
    const file = await luaFiles({ 'main.lua': '--@include gone\nreturn 1' });
    expect(() => defineScript({ file, keys: [], args: {}, result: z.number() })).toThrow('gone.lua');
  });

  it('fails when it returns an unexpected value', async () => {
    const { commands } = redis.connect();
    const file = await luaFiles({ 'main.lua': "return 'saved'" });
    const script = defineScript({ file, keys: ['any'], args: {}, result: z.enum(['stale']) });
    const call = { keys: { any: redis.config().keyPrefix }, args: {} };
    await expect(runScript(commands, script, call)).rejects.toThrow(z.ZodError);
  });
});
