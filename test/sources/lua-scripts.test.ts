import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { triedCommands } from '../../src/redis/connection/rights.ts';
import { allScripts, luaFiles } from '../support/redis/redis-scripts.ts';

const scripts = await allScripts();

// Fewer means that the search saw nothing, and would have praised us for it.
const scriptsMin = 10;

const keywords =
  'and break do else elseif end false for function if in local nil not or repeat return then true until while';
const globals =
  'redis cjson string math table tonumber tostring type ipairs pairs pcall unpack KEYS ARGV'.split(' ');

describe('the Lua scripts', () => {
  it('are found', () => {
    expect(scripts.size).toBeGreaterThanOrEqual(scriptsMin);
  });

  it('begin with a comment that says what they do, and name no key or argument by its position', () => {
    const sources = luaFiles().map((file) => ({ file, text: readFileSync(`src/redis/${file}`, 'utf8') }));
    expect(sources.filter(({ text }) => !/^-- [A-Z]/.test(text)).map(({ file }) => file)).toEqual([]);
    expect(sources.filter(({ text }) => /\b(KEYS|ARGV)\b/.test(text)).map(({ file }) => file)).toEqual([]);
  });

  it('are each run or included', () => {
    const definitions = [...scripts.values()].map(({ lua }) => lua).join('\n');
    const unused = luaFiles().filter((file) => {
      const [lines = ''] = readFileSync(`src/redis/${file}`, 'utf8').split('\n--@include');
      return !definitions.includes(lines);
    });
    expect(unused).toEqual([]);
  });

  it.each([...scripts])('use what they declare, and nothing else: %s', (_name, { lua, keys, args }) => {
    const names = namesIn(lua);
    const declared = [...keys.map((key) => `${key}Key`), ...Object.keys(args)];
    // Once where it is bound to its name.
    expect(declared.filter((name) => names.filter((used) => used === name).length < 2)).toEqual([]);
    const known = new Set([...keywords.split(' '), ...globals, ...boundIn(lua)]);
    expect([...new Set(names)].filter((name) => !known.has(name))).toEqual([]);
  });

  it.each([...scripts])('send commands that the check of rights tries: %s', (_name, { lua }) => {
    const sent = [...lua.matchAll(/redis\.p?call\(([^,)]+)/g)].map(([, command = '']) => command);
    const tried = new Set(triedCommands.map((command) => `'${command.toUpperCase()}'`));
    expect(sent.filter((command) => !tried.has(command))).toEqual([]);
  });
});

/** All names that a script uses, but for those of fields. */
function namesIn(lua: string): readonly string[] {
  const code = lua.replace(/--.*$|'[^'\n]*'/gm, ' ');
  return [...code.matchAll(/(?<![\w.])[a-zA-Z_]\w*(?!\w|\s*=[^=])|(?<=local )[a-zA-Z_]\w*/g)].map(
    ([name]) => name,
  );
}

/** The names that it binds: locals, parameters and those of loops. */
function boundIn(lua: string): readonly string[] {
  const code = lua.replace(/--.*$/gm, ' ');
  const lists = code.matchAll(
    /local (?!function)([\w, ]+)|for ([\w, ]+) (?:=|in )|function (\w*)\(([\w, ]*)\)/g,
  );
  return [...lists].flatMap(([, ...found]) => found.join(' ').split(/[\s,]+/));
}
