import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseYaml, readYaml } from '../../../../src/config/source/yaml-source.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { problemsIn, problemsOf } from '../../../support/config-fixtures.ts';

const parse = (text: string) => parseYaml(text, 'f.yaml');

describe('parseYaml', () => {
  it('returns plain data with the place of each part', () => {
    const source = parse('a:\n  - b: 1\n  - c:\n      d: x\n');
    expect(source.value).toEqual({ a: [{ b: 1 }, { c: { d: 'x' } }] });
    expect(source.locate(['a', 1, 'c', 'd'])).toEqual({ line: 4, column: 10 });
    expect(source.locate(['a', 1, 'c', 'd'], 'key')).toEqual({ line: 4, column: 7 });
    expect(source.locate(['a', 1, 'missing', 'deeper'])).toEqual({ line: 3, column: 5 });
    expect(source.locate([])).toEqual({ line: 1, column: 1 });
  });

  it('finds its way through an alias', () => {
    const source = parse('a: &x\n  b: 1\nc: *x\n');
    expect(source.value).toEqual({ a: { b: 1 }, c: { b: 1 } });
    expect(source.locate(['c', 'b'])).toEqual({ line: 2, column: 6 });
  });

  it('gives null for a file without anything', () => {
    expect(parse('').value).toBeNull();
    expect(parse('# only a comment\n').value).toBeNull();
  });

  it.each([
    ['a: 1\na: 2', '2:1: a: the key "a" is given twice, first on line 1; keep one'],
    ['{ a: 1, "a": 2 }', '1:9: a: the key "a" is given twice, first on line 1; keep one'],
    ['a:\n  __proto__: { b: 1 }', '2:3: __proto__: the key "__proto__" is not allowed; remove it'],
    ['a: &x { b: 1 }\nc:\n  <<: *x', '3:3: merge keys (<<) are not supported; write the keys out'],
    ['a: *b', '1:4: this alias (*…) has no anchor (&…) before it; a text that starts with "*"'],
    ['schedule: */15 * * * *', '1:16: not valid YAML: Unexpected alias at node end'],
    ['a: &x [ *x ]', '1:9: this alias (*…) is inside its own anchor (&…), so it would never end'],
    ['a: !!set { b }', '1:4: YAML tags (!…) are not supported; write the plain value, in quotes'],
    ['a: !foo b', '1:4: YAML tags (!…) are not supported; write the plain value, in quotes'],
    ['? [a]\n: 1', '1:3: a key must be plain text'],
    ['a: 1\n---\nb: 2', '2:1: a second YAML document starts here; keep one document in one file'],
    ['a:\n\t- b', '2:1: a tab is used as indentation; use spaces'],
    ['a:\n  - b: 1\n\tc: 2\n    d: 3\ne: 4', '3:1: a tab is used as indentation; use spaces'],
    ['a:\n  b: 1\n c: 2\n d: 3', '3:1: this line is not indented like its neighbours; indent the keys'],
    ['a:\n  b: 1\n    c: 2\n  d: 3', '3:1: this line is not indented like its neighbours'],
    ['a:\n  - b: 1\n   c: 2\n    d: 3', '3:1: this line is not indented like its neighbours'],
    ['a: b: c', '1:4: not valid YAML: Nested mappings are not allowed in compact mappings; put a text'],
    ['a: [1, 2', '1:9: '],
    [
      'a:\n  - t: { v: latest\n    c: 4',
      '3:5: a { or [ before this line is not closed; close it with } or ]',
    ],
    ['a: >=19.1', '1:5: not valid YAML: Block scalar header includes extra characters; put a text that'],
    ['a: "/^x-\\d+$/"', '1:9: no escape that double quotes know; write \\\\ for a backslash, or use'],
    ['a: "x', '1:4: this quote is never closed; close it'],
    ["a: { b: 'x, c: 1 }\nd: 2\n", '1:9: this quote is never closed; close it'],
  ])('refuses %j', (text, problem) => {
    const [first = '', ...others] = problemsOf(() => parse(text));
    expect(first.slice(0, `f.yaml:${problem}`.length)).toBe(`f.yaml:${problem}`);
    expect(others).toEqual([]);
  });

  it.each([
    ...['key: "hunter2" hunter2', 'key: >hunter2', 'key: [hunter2', 'key: *hunter2', 'key: !hunter2'],
    ...["key: 'hunter2", 'key: hunter2: x', 'key: @hunter2', '}hunter2'],
  ])('does not repeat the text of a broken line, which may hold a secret: case %#', (text) => {
    const problems = problemsOf(() => parse(text));
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('shows the first problems alone, because the others follow from them', () => {
    const waves = Array.from({ length: 9 }, (_, wave) => `  - name: w${wave}\n    : { size: ]`).join('\n');
    expect(problemsOf(() => parse(`waves:\n${waves}`))).toHaveLength(3);
  });

  it('bounds what aliases expand to', () => {
    const bomb = [
      'a0: &a0 [x, x]',
      ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`),
    ].join('\n');
    expect(problemsOf(() => parse(bomb))[0]).toContain('expand more than 100 times');
    const wide = `${Array.from({ length: 99 }, () => '- *a').join('\n')}`;
    expect(problemsIn(`x: &a [${'1, '.repeat(10_000)}]\ny:\n${wide}`).join()).toContain(
      'more than 200000 values',
    );
  });

  it.each([
    ['flow lists', '['.repeat(100_000)],
    ['flow mappings', '{a: '.repeat(10_000)],
    ['closed lists', `${'['.repeat(500)}${']'.repeat(500)}`],
    ['block lists', '- '.repeat(5_000)],
  ])('bounds the nesting of %s', (_name, text) => {
    expect(problemsOf(() => parse(text))).not.toEqual([]);
  });

  it('reads twenty thousand keys, which is no reason to wait', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`);
    expect(Object.keys(Object(parse(keys.join('\n')).value))).toHaveLength(20_000);
  });
});

describe('readYaml', () => {
  let folder: string;
  beforeEach(() => {
    folder = aFolder();
  });
  const write = (content: string | Buffer) => {
    const path = join(folder, 'f.yaml');
    writeFileSync(path, content);
    return path;
  };

  it('reads UTF-8, with or without a byte order mark', () => {
    expect(readYaml(write('\uFEFFa: ü')).value).toEqual({ a: 'ü' });
  });

  const tooLarge = 'the file is larger than 1048576 bytes, the most that is read';
  const notUtf8 = 'the file is not UTF-8 text; save it as UTF-8';
  it.each([
    ['a missing file', () => join(folder, 'nowhere.yaml'), 'there is no such file'],
    ['a directory', () => folder, 'this is a directory; name a file in it'],
    ['UTF-16', () => write(Buffer.from('\uFEFFa: 1', 'utf16le')), notUtf8],
    ['Latin-1', () => write(Buffer.from('a: ü', 'latin1')), notUtf8],
    ['more than 1 MiB', () => write('#'.repeat(1024 * 1024 + 1)), tooLarge],
    ['a name with a zero byte', () => 'a\0b', 'this is not a usable file name'],
  ])('refuses %s', (_name, path, sentence) => {
    const file = path();
    expect(problemsOf(() => readYaml(file))).toEqual([`${file}: ${sentence}`]);
  });

  it('takes a smaller bound', () => {
    const path = write('a: 12345');
    expect(problemsOf(() => readYaml(path, 5))[0]).toContain('larger than 5 bytes');
  });

  it('an empty file is no config', () => {
    expect(problemsIn('# nothing\n')).toEqual([
      'config.yaml: the file is empty; give at least service and rollouts',
    ]);
  });
});
