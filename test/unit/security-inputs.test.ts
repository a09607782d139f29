import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { remoteNetwork, withoutMapping } from '../../src/admin-api/access/remote-network.ts';
import { makeWrongTokens } from '../../src/admin-api/access/wrong-tokens.ts';
import { toPrintable } from '../../src/base/safe-text.ts';
import { compilePatterns, foldCase } from '../../src/base/text-pattern.ts';
import { chooseRedis, secretsOf } from '../../src/cli/shell/choose-redis.ts';
import { CommandFailure } from '../../src/cli/shell/command.ts';
import { retryAfterMsOf } from '../../src/collector-api/wire/service-failure.ts';
import { readJson } from '../../src/http/json-text.ts';
import { valueUnder } from '../../src/rollout/model/collector.ts';
import { compileMatch, compileSelection } from '../../src/rollout/planning/selector.ts';
import { aCollector } from '../support/builders.ts';
import { problemsOf, readConfig, withRollout, withSection, withService } from '../support/config-fixtures.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

/** Inputs that are larger or odder than anybody would write. What is slow with them takes minutes, or for ever. */
const soonMs = 5_000;
const mebibyte = 1024 * 1024;

describe('a glob', () => {
  /** What a glob means, as one expression; it may take for ever on long texts. */
  const oracle = (glob: string) => {
    const escaped = glob.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&');
    return new RegExp(`^${escaped.replaceAll(/\*+/g, '.*').replaceAll('?', '.')}$`, 'isu');
  };
  const characters = fc.constantFrom('a', 'B', 'b', '*', '*', '?', '.', '\n', '😀', 'ſ');

  it('matches what one expression would', () => {
    const texts = fc.array(characters, { maxLength: 9 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (glob, text) => {
        expect(compilePatterns([glob])(text)).toBe(oracle(glob).test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('of many stars is soon done with a long text', () => {
    const matches = compilePatterns([`${'*a'.repeat(200)}*b`]);
    const tookMs = cpuMsOf(() => {
      expect(matches('a'.repeat(mebibyte))).toBe(false);
      expect(matches(`${'a'.repeat(mebibyte)}b`)).toBe(true);
    });
    expect(tookMs).toBeLessThan(soonMs);
  });
});

describe('a name without "*" and "?"', () => {
  it('matches in any case, exactly as a regular expression with the flags iu does', () => {
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
    const tookMs = cpuMsOf(() => expect(collectors.filter(matches).length).toBe(5_000));
    expect(tookMs).toBeLessThan(soonMs);
  });
});

describe('a regular expression of the config', () => {
  it.each([
    '/^x\\d+y([a-z]+)+$/',
    '/^(a+)+$/',
    '/^(\\w+\\s?)*$/',
    '/(x+x+)+y/',
    '/(a|aa)+$/',
    '/^(.*)*z$/',
    '/-.*-.*-.*-.*-.*-db$/',
    '/(.*prod.*web.*eu.*)[0-9]$/',
    '/^((a|ab)*(c|d)?)*$/i',
  ])('is soon done with the longest texts of an inventory: %s', (pattern) => {
    expect(problemsOf(() => readConfig(withRollout(`select: { include: { name: '${pattern}' } }`)))).toEqual(
      [],
    );
    const matches = compilePatterns([pattern]);
    const texts = ['x1yaaaa', 'a', 'aA0_-. ', 'xx', 'prodwebeu', '-', 'ab'].map(
      (unit) => `x1y${unit.repeat(1_024).slice(0, 1_020)}\n\u{10ffff}`,
    );
    const tookMs = cpuMsOf(() => {
      for (const text of texts) expect(matches(text)).toBe(false);
    });
    expect(tookMs).toBeLessThan(soonMs);
  });

  it.each([
    ['/^(?!db-).*$/', 'lookahead and lookbehind ("(?="'],
    ['/a(?=b)/', 'lookahead and lookbehind ("(?="'],
    ['/(?<=a)b/', 'lookahead and lookbehind ("(?="'],
    ['/(?<!a)b/', 'lookahead and lookbehind ("(?="'],
    ['/(a)\\1/', 'backreferences (\\1) are not supported'],
    ['/(?<n>a)\\k<n>/', 'backreferences (\\k) are not supported'],
    ['/(a/', 'missing closing )'],
    ['/a{2,3000}/', '{2,3000} repeats more than 1,000 times'],
    ['/(a{0,1000}b){2}/', '{2} repeats more than 1,000 times, or does inside another repetition'],
    ['/(ab|cd?){1,600}/', 'it repeats too much; write smaller counts'],
  ])('is refused with its line where it can not run in linear time: %s', (pattern, words) => {
    const text = withRollout(`select:\n  include:\n    name: [ok, '${pattern}']`);
    const line = 1 + text.split('\n').findIndex((each) => each.includes(pattern));
    const [problem, ...others] = problemsOf(() => readConfig(text));
    expect(others).toEqual([]);
    expect(problem).toContain(`:${line}:`);
    expect(problem).toContain('select.include.name[1]');
    expect(problem).toContain(words);
  });

  it('is refused in every selector, and named as the file has it', () => {
    const rollout = withRollout(
      'select: { include: { fields: { team: "${ODD}" } }, exclude: [{ name: x, hostName: ["/(?=b)/"] }] }\nwaves: [{ name: a, size: 1, match: { category: "/(?=c)/i" } }, { name: b }]',
    );
    const problems = problemsOf(() => readConfig(rollout, { ODD: '/(?=a)/' })).join('\n');
    for (const words of [
      'select.include.fields.team: "${ODD}" is no regular expression',
      'select.exclude[0].hostName[0]: "/(?=b)/" is no regular expression',
      'waves[0].match.category: "/(?=c)/i" is no regular expression',
    ])
      expect(problems).toContain(words);
  });

  it('is case-sensitive unless it ends with i, and a glob never is', () => {
    const of = (pattern: string) => ['prod-1', 'PROD-1'].map(compilePatterns([pattern]));
    expect(of('/^prod-\\d$/')).toEqual([true, false]);
    expect(of('/^prod-\\d$/i')).toEqual([true, true]);
    expect(of('Prod-*')).toEqual([true, true]);
    expect(of('Prod-1')).toEqual([true, true]);
    expect(of('*OD-?')).toEqual([true, true]);
  });

  it('may stand beside others, as many as can be tried on a whole fleet', () => {
    const some = (count: number, write: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => `'${write(index)}'`).join();
    const expressions = (count: number) => some(count, (index) => `/^web-${index}[0-9]+$/`);
    const globs = (count: number) => some(count, (index) => `web-${index}-*`);
    const problemsWith = (name: string, match: string) =>
      problemsOf(() =>
        readConfig(
          withRollout(
            `select: { include: { name: [${name}] }, exclude: [] }\nwaves: [{ name: a, size: 1, match: { hostName: [${match}] } }, { name: b }]`,
          ),
        ),
      );
    expect(problemsWith(expressions(60), expressions(40))).toEqual([]);
    expect(problemsWith(expressions(60), expressions(41)).join()).toContain(
      'the policy has 101 regular expressions, at most 100 are tried',
    );
    expect(problemsWith(globs(600), globs(400))).toEqual([]);
    expect(problemsWith(globs(600), globs(401)).join()).toContain('the policy has 1001 globs');
  });

  it('that an earlier version took and this one refuses selects nobody, and excludes everybody', () => {
    const odd = { name: ['/^(?!db-)/'] };
    const collector = aCollector({ name: 'web-1' });
    expect(compileSelection({ include: odd, exclude: [] })(collector)).toBe('notSelected');
    expect(compileSelection({ include: {}, exclude: [{ name: ['x'] }, odd] })(collector)).toBe('excluded');
    expect(compileMatch(odd)(collector)).toBe(false);
  });
});

describe('a config that is made to hurt', () => {
  const many = (count: number, write: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => write(index));

  it.each([
    ['unknown keys', withSection(many(20_000, (index) => `unknown${index}: 1`).join('\n')), 20_000],
    [
      'unknown keys that aliases repeat',
      withSection(
        `x: &x { ${many(1_000, (index) => `u${index}: 1`).join()} }\nhttp: *x\nlog: *x\nredis: *x\nservice2: *x`,
      ),
      3_000,
    ],
  ])('is soon refused for its %s, of which it shows the first ones', (_, text, least) => {
    const tookMs = cpuMsOf(() => {
      const problems = problemsOf(() => readConfig(text));
      expect(problems.length).toBe(51);
      const [, more] = /^and (\d+) more$/.exec(problems.at(-1) ?? '') ?? [];
      expect(Number(more)).toBeGreaterThanOrEqual(least - 50);
    });
    expect(tookMs).toBeLessThan(2 * soonMs);
  });

  it('is refused for times and rates that no timer can hold', () => {
    const problemsWith = (yaml: string) => problemsOf(() => readConfig(yaml)).join();
    const service = (more: string) =>
      withService(`service: { baseUrl: https://h, accessId: id, accessKey: key, ${more} }`);
    expect(problemsWith(service('requestTimeout: 30d'))).toContain('must be at most 10m');
    expect(problemsWith(service('requestTimeout: 0s'))).toContain('must be at least 100ms');
    expect(problemsWith(service('requestsPerSecond: 1e-9'))).toContain('must be at least 0.1');
    expect(problemsWith(service('budgetShare: 0.0001%'))).toContain('from 1% to 100%');
    expect(problemsWith(withRollout('upgrade: { deadline: 400d }'))).toContain('must be at most 366d');
  });

  it('is refused for keys that mean something to JavaScript, at any depth', () => {
    const texts = [
      withSection('__proto__: { x: 1 }'),
      withRollout('select: { include: { fields: { __proto__: x } } }'),
      withRollout('select: { exclude: [{ __proto__: { name: "*" } }] }'),
      withRollout('"__proto__": { approval: true }'),
      withRollout('maxInFlightPer: { __proto__: 1 }'),
    ];
    for (const text of texts) expect(problemsOf(() => readConfig(text)).join()).toContain('__proto__');
    expect(problemsOf(() => readConfig(withRollout('constructor: 1'))).join()).toContain('constructor');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('may select by a field of any name, which only collectors that have it match', () => {
    const config = readConfig(
      withRollout(
        'select: { include: { fields: { constructor: x } } }\nspreadBy: [fields.constructor]\nmaxInFlightPer: { fields.toString: 1 }',
      ),
    );
    const matches = compileMatch(config.rollouts[0]?.select.include ?? {});
    expect(matches(aCollector({ fields: {} }))).toBe(false);
    expect(matches(aCollector({ fields: { constructor: 'x' } }))).toBe(true);
    for (const key of ['fields.constructor', 'fields.__proto__', 'fields.toString'] as const)
      expect(valueUnder(aCollector({ fields: {} }), key)).toBe('');
  });

  it('is refused for a password in the query of a Redis URL, which is not repeated', () => {
    const problems = problemsOf(() =>
      readConfig(withSection('redis: { url: "redis://db.example.com?password=Rr-thePassword" }')),
    );
    expect(problems.join()).toContain('must not hold a password in its query');
    expect(problems.join()).not.toContain('Rr-thePassword');
  });
});

describe('another Redis on the command line', () => {
  it("is reached by the config's own authorities, as it has no option for them", () => {
    const { redis, ...config } = readConfig(withSection('redis: { url: "rediss://a", keyPrefix: mine }'));
    const own = redis && { ...redis, ca: 'PEM' };
    expect(chooseRedis({ ...config, redis: own }, 'rediss://b:1')).toEqual({
      keyPrefix: 'mine',
      url: 'rediss://b:1',
      ca: 'PEM',
    });
  });
});

describe('a password for Redis', () => {
  const config = readConfig(withSection('redis: { keyPrefix: mine }'.replace('{', '{ url: "redis://a",')));

  it('is refused on the command line, where the process list shows it', () => {
    const choose = () => chooseRedis(config, 'redis://:Rr-thePassword@db');
    expect(choose).toThrow(CommandFailure);
    expect(choose).not.toThrow(/Rr-thePassword/);
    expect(chooseRedis(config, 'redis://db:1')).toEqual({ keyPrefix: 'mine', url: 'redis://db:1' });
  });

  it.each([
    'redis://h?password=Rr-thePassword',
    '/run/redis.sock?password=Rr-thePassword',
    'redis://h?sentinel%50assword=Rr-thePassword',
    ':Rr-thePassword@db',
    '//:Rr-thePassword@db',
    'redis://a:1/Rr-thePassword@db',
    'redis://a:1#Rr-thePassword@db',
  ])('is refused there wherever the client would take it from, and not repeated: case %#', (url) => {
    const choose = () => chooseRedis(config, url);
    expect(choose).toThrow(CommandFailure);
    expect(choose).not.toThrow(/Rr-thePassword/);
  });

  it.each([
    ['p%40ss-word', ['p%40ss-word', 'p@ss-word']],
    ['100%-sure', ['100%-sure']],
  ])('is kept out of the log as it is written and as it is meant: %s', (written, secrets) => {
    const known = secretsOf(config, { keyPrefix: 'x', url: `redis://u:${written}@db` });
    expect(known).toEqual(expect.arrayContaining(secrets));
  });
});

describe('readJson', () => {
  const id = '12345678901234567';

  it.each([
    ['a long string', `{"n":${id},"x":"${'y'.repeat(4 * mebibyte)}"}`, 'json'],
    ['a long string of escapes', `{"n":${id},"x":"${'\\"'.repeat(4 * mebibyte)}"}`, 'json'],
    ['a long string that is cut off', `{"n":${id},"x":"${'y'.repeat(4 * mebibyte)}`, 'other'],
    ['escapes that are cut off', `{"n":${id},"x":"${'\\"'.repeat(4 * mebibyte)}`, 'other'],
    ['many quotes', `${id}${'"'.repeat(mebibyte)}`, 'other'],
    ['many digits', `[${'1'.repeat(4 * mebibyte)}]`, 'json'],
  ] as const)('is soon done with %s', (_name, text, kind) => {
    expect(cpuMsOf(() => expect(readJson(text).kind).toBe(kind))).toBeLessThan(soonMs);
  });

  it('keeps each digit of ids, and leaves what looks like one inside a string alone', () => {
    const text = `{"a":${id},"b":"${id}","c":"\\\\","d":"\\"${id},","e":[-${id}, ${id}.5, 1234567890123456]}`;
    expect(readJson(text)).toEqual({
      kind: 'json',
      value: {
        a: id,
        b: id,
        c: '\\',
        d: `"${id},`,
        e: [`-${id}`, Number(`${id}.5`), 1_234_567_890_123_456],
      },
    });
  });

  it('leaves the digits of a fraction alone, however many a number has', () => {
    const text = `{"a":0.9931234567890123,"b":-0.30000000000000004,"c":1.2345678901234566e-7,"d":${id}}`;
    expect(readJson(text)).toEqual({
      kind: 'json',
      value: { a: 0.9931234567890123, b: -0.30000000000000004, c: 1.2345678901234566e-7, d: id },
    });
  });

  it('reads whatever JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // A number beyond 2^53 becomes a text, which is the point of it.
        const text = JSON.stringify(['0'.repeat(20), value], (_key, part: unknown) =>
          Number.isInteger(part) && !Number.isSafeInteger(part) ? 1 : part,
        );
        expect(readJson(text)).toEqual({ kind: 'json', value: JSON.parse(text) });
      }),
    );
  });
});

describe('toPrintable', () => {
  it.each([
    ['an escape', '\u001b[2J', '\\u001b[2J'],
    ['a C1 control', '\u009b31m', '\\u009b31m'],
    ['the mark for Arabic letters', 'a\u061cb', 'a\\u061cb'],
    ['overrides and isolates', '\u202e\u2066', '\\u202e\\u2066'],
    ['what has no width', 'web\u200b-1\ufeff\u00ad', 'web\\u200b-1\\ufeff\\u00ad'],
    ['hidden tags', '\u{e0041}', '\\udb40\\udc41'],
    ['separators of lines', '\u2028\u2029', '\\u2028\\u2029'],
  ])('shows %s as what it is', (_name, text, shown) => {
    expect(toPrintable(text)).toBe(shown);
    // In JSON the escape means the very same text.
    expect(JSON.parse(toPrintable(JSON.stringify(text)))).toBe(text);
  });

  it('leaves texts of any script and emoji alone', () => {
    for (const text of ['grün ✓', '東京-web-01', 'نمی‌خواهم', '👨‍👩‍👧', 'e\u0301'])
      expect(toPrintable(text)).toBe(text);
  });
});

describe('retryAfterMsOf', () => {
  it.each([
    ['7', 7_000],
    [' 7 ', 7_000],
    ['999999999', 999_999_999_000],
    ['99999999999999999999', 1e23],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
    ['-5', null],
    ['1e9', null],
    ['soon', null],
    ['foo 3000', null],
    ['3000', 3_000_000],
    ['2026-11-21T00:00:20Z', null],
    ['Sat, 21 Nov 2026 00:00:20 GMT', 20_000],
    ['Saturday, 21-Nov-26 00:00:20 GMT', 20_000],
    ['Sat Nov 21 00:00:20 2026', 20_000],
    ['Tue Dec  1 00:00:00 2026', 864_000_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Sat, 21 Nov 2026 00:00:20 +0100', null],
    ['Sat, 21 Foo 2026 00:00:20 GMT', null],
    ['Tue, 31 Feb 2027 00:00:00 GMT', null],
    ['Sat, 21 Nov 2026 24:00:00 GMT', null],
    // A leap second, which only ends of months have.
    ['Thu, 31 Dec 2026 23:59:60 GMT', 41 * 86_400_000],
  ])('reads %s', (text, expected) => {
    expect(retryAfterMsOf({ 'retry-after': text }, Date.UTC(2026, 10, 21))).toBe(expected);
  });
});

describe('wrong tokens', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('of %s count for %s', (address, network) => {
    expect(remoteNetwork(address)).toBe(network);
  });

  it('takes nothing for an IPv4 address that is none', () => {
    expect(withoutMapping('::ffff:1')).toBe('::ffff:1');
  });

  it('are counted over a whole IPv6 network, where each guess may come from another address', () => {
    const tokens = makeWrongTokens({ now: () => 0 });
    for (let guess = 0; guess < 20; guess += 1) tokens.count(`2001:db8:1:2::${guess.toString(16)}`);
    expect(tokens.refusedForMs('2001:db8:1:2:ffff::1')).toBe(60_000);
    expect(tokens.refusedForMs('2001:db8:1:3::1')).toBe(0);
  });
});
