import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePatterns, foldCase } from '../../../src/base/text-pattern.ts';
import { compileMatch } from '../../../src/rollout/planning/selector.ts';
import { aCollector } from '../../support/builders.ts';
import { problemsIn, withRollout } from '../../support/config-fixtures.ts';

// What is not linear takes minutes with the longest texts, or for ever: longer than a test may.
const mebibyte = 1024 * 1024;

describe('a glob', () => {
  /** What a glob means, as one expression; it may take for ever on long texts. */
  const oracle = (glob: string) => {
    const escaped = glob.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&');
    return new RegExp(`^${escaped.replaceAll(/\*+/g, '.*').replaceAll('?', '.')}$`, 'isu');
  };
  const characters = fc.constantFrom('a', 'B', 'b', '*', '*', '?', '.', '\n', '😀', 'ſ');

  it('matches like one regular expression', () => {
    const texts = fc.array(characters, { maxLength: 9 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (glob, text) => {
        expect(compilePatterns([glob])(text)).toBe(oracle(glob).test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('with many stars is fast on a long text', () => {
    const matches = compilePatterns([`${'*a'.repeat(200)}*b`]);
    expect(matches('a'.repeat(mebibyte))).toBe(false);
    expect(matches(`${'a'.repeat(mebibyte)}b`)).toBe(true);
  });
});

describe('a name without "*" and "?"', () => {
  it('ignores case, exactly like a regular expression with the flags iu', () => {
    const cased = /[\p{CWCF}\p{CWL}\p{CWU}\p{CWT}]/u;
    const characters = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => cased.test(character),
    );
    expect(characters.length).toBeGreaterThan(2_000);
    const all = characters.join('');
    const alikeOf = new Map<string, string[]>();
    for (const character of characters) {
      const folded = foldCase(character);
      alikeOf.set(folded, [...(alikeOf.get(folded) ?? []), character]);
    }
    for (const [folded, alike] of alikeOf)
      expect([...new Set(all.match(new RegExp(folded, 'giu')))].sort(), folded).toEqual(alike.sort());
  });

  it('costs the same among ten thousand of them, for each of ten thousand collectors', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `web-${index}.example.com`);
    const matches = compileMatch({ name: names, fields: { team: names } });
    const collectors = names.map((name, index) =>
      aCollector({ id: index, name: name.toUpperCase(), fields: { team: index % 2 === 0 ? name : 'other' } }),
    );
    expect(collectors.filter(matches).length).toBe(5_000);
  });
});

describe('a regular expression of the config', () => {
  it.each([
    ...['/^x\\d+y([a-z]+)+$/', '/^(a+)+$/', '/^(\\w+\\s?)*$/', '/(x+x+)+y/', '/(a|aa)+$/', '/^(.*)*z$/'],
    ...['/-.*-.*-.*-.*-.*-db$/', '/(.*prod.*web.*eu.*)[0-9]$/', '/^((a|ab)*(c|d)?)*$/i'],
  ])('is fast on the longest texts of an inventory: %s', (pattern) => {
    expect(problemsIn(withRollout(`select: { include: { name: '${pattern}' } }`))).toEqual([]);
    const matches = compilePatterns([pattern]);
    const texts = ['x1yaaaa', 'a', 'aA0_-. ', 'xx', 'prodwebeu', '-', 'ab'].map(
      (unit) => `x1y${unit.repeat(1_024).slice(0, 1_020)}\n\u{10ffff}`,
    );
    for (const text of texts) expect(matches(text)).toBe(false);
  });

  it.each([
    ['/^(?!db-).*$/', 'lookahead and lookbehind ("(?="'],
    ['/a(?=b)/', 'lookahead and lookbehind ("(?="'],
    ['/(a)\\1/', 'backreferences (\\1) are not supported'],
    ['/(?<n>a)\\k<n>/', 'backreferences (\\k) are not supported'],
    ['/(a/', 'missing closing )'],
    ['/a{2,3000}/', '{2,3000} repeats more than 1,000 times'],
    ['/(a{0,1000}b){2}/', '{2} repeats more than 1,000 times, or is inside another repetition'],
    ['/(ab|cd?){1,600}/', 'it repeats too much; write smaller counts'],
  ])('is refused with its line where it cannot run in linear time: %s', (pattern, words) => {
    const text = withRollout(`select:\n  include:\n    name: [ok, '${pattern}']`);
    const line = 1 + text.split('\n').findIndex((each) => each.includes(pattern));
    const [problem, ...others] = problemsIn(text);
    expect(others).toEqual([]);
    expect(problem).toContain(`:${line}:`);
    expect(problem).toContain('select.include.name[1]');
    expect(problem).toContain(words);
  });

  it.each([
    ['select: { include: { fields: { team: "${ODD}" } } }', 'select.include.fields.team: "${ODD}"'],
    ['select: { exclude: [{ name: x, hostName: ["/(?=b)/"] }] }', 'select.exclude[0].hostName[0]: "/(?=b)/"'],
    [
      'waves: [{ name: a, size: 1, match: { category: "/(?=c)/i" } }, { name: b }]',
      'waves[0].match.category: "/(?=c)/i"',
    ],
  ])('is refused in every selector, and named as the file has it: %s', (yaml, place) => {
    const problems = problemsIn(withRollout(yaml), { ODD: '/(?=a)/' });
    expect(problems.join()).toContain(`${place} is not a regular expression`);
  });

  it('is case-sensitive unless it ends with i, and a glob never is', () => {
    const of = (pattern: string) => ['prod-1', 'PROD-1'].map(compilePatterns([pattern]));
    expect(of('/^prod-\\d$/')).toEqual([true, false]);
    expect(of('/^prod-\\d$/i')).toEqual([true, true]);
    expect(of('Prod-*')).toEqual([true, true]);
    expect(of('Prod-1')).toEqual([true, true]);
    expect(of('*OD-?')).toEqual([true, true]);
  });

  it('may be one of many, up to the number that can be tested on a whole fleet', () => {
    const some = (count: number, write: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => `'${write(index)}'`).join();
    const expressions = (count: number) => some(count, (index) => `/^web-${index}[0-9]+$/`);
    const globs = (count: number) => some(count, (index) => `web-${index}-*`);
    const problemsWith = (name: string, match: string) => {
      const waves = `waves: [{ name: a, size: 1, match: { hostName: [${match}] } }, { name: b }]`;
      const select = `select: { include: { name: [${name}] }, exclude: [] }`;
      return problemsIn(withRollout(`${select}\n${waves}`));
    };
    expect(problemsWith(expressions(60), expressions(40))).toEqual([]);
    expect(problemsWith(expressions(60), expressions(41)).join()).toContain(
      'the policy has 101 regular expressions, and at most 100 are allowed',
    );
    expect(problemsWith(globs(600), globs(400))).toEqual([]);
    expect(problemsWith(globs(600), globs(401)).join()).toContain('the policy has 1001 globs');
  });
});
