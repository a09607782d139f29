import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { remoteNetwork, withoutMapping } from '../../src/admin-api/remote-network.ts';
import { makeWrongTokens } from '../../src/admin-api/wrong-tokens.ts';
import { toPrintable } from '../../src/base/printable.ts';
import { chooseRedis, secretsOf } from '../../src/cli/choose-redis.ts';
import { CommandFailure } from '../../src/cli/command-failure.ts';
import { retryAfterMsOf } from '../../src/collector-api/service-failure.ts';
import { isSlowPattern } from '../../src/config/slow-pattern.ts';
import { readJson } from '../../src/http/json-text.ts';
import { valueUnder } from '../../src/rollout/collector-key.ts';
import { compilePattern, compileSelector, parseRegularExpression } from '../../src/rollout/selector.ts';
import { aCollector } from '../support/builders.ts';
import { problemsOf, readConfig, withRollout, withSection } from '../support/config-fixtures.ts';
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
  const characters = fc.constantFrom('a', 'B', 'b', '*', '*', '?', '.', '\n', '😀', '\ud83d', 'ſ');

  it('matches what one expression would', () => {
    const texts = fc.array(characters, { maxLength: 9 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (glob, text) => {
        expect(compilePattern(glob)(text)).toBe(oracle(glob).test(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('of many stars is soon done with a long text', () => {
    const matches = compilePattern(`${'*a'.repeat(200)}*b`);
    const tookMs = cpuMsOf(() => {
      expect(matches('a'.repeat(mebibyte))).toBe(false);
      expect(matches(`${'a'.repeat(mebibyte)}b`)).toBe(true);
    });
    expect(tookMs).toBeLessThan(soonMs);
  });
});

describe('a regular expression of the config', () => {
  const isSlow = (pattern: string) => {
    const expression = parseRegularExpression(pattern);
    return expression !== undefined && isSlowPattern(expression);
  };

  it.each([
    '/^(a+)+$/',
    '/^(\\w+\\s?)*$/',
    '/(x+x+)+y/',
    '/(a|aa)+$/',
    '/^web-(\\d+)+$/',
    '/^(.*)*$/',
    '/^([^,]+)+,/',
    '/^(?:(?:ab|cd)+)+$/',
    '/^(?:(?:a\\d|b\\.)+)+$/',
    '/^(?:(?<x>[qr]s)+)+$/',
    '/-.*-.*-.*-db$/',
    '/(.*prod.*web.*eu.*)[0-9]$/',
  ])('is slow: %s', (pattern) => {
    expect(isSlow(pattern)).toBe(true);
  });

  it.each([
    '/^web-\\d+$/',
    '/^(prod|dev)-[a-z]+-\\d{1,3}$/',
    '/db/',
    '/^(?!db-).*\\.example\\.com$/',
    '/[😀-😎]+/',
    '//',
    '/.*prod.*web.*/',
    '/.*prod.*web.*eu.*/',
    '/-.*-db$/',
    '/(prod|dev).*(web|db).*[0-9]+$/',
    '/.*(prod|web).*[0-9]$/',
    '/[a-z]+-[a-z]+-\\d+$/i',
    '/\\w+\\.\\w+\\.example\\.com$/',
    '/^\\p{L}+ .*[0-9]$/',
  ])('is quick: %s', (pattern) => {
    expect(isSlow(pattern)).toBe(false);
  });

  it.each(['/.*prod.*web.*eu.*[0-9]$/', '/.*.*.*-db$/', '/.*?prod/', '/.*|x/', '/.*{2}x/', '/.*(?<=o)d/'])(
    'means the same without anything at its beginning, which would make it slow: %s',
    (pattern) => {
      const source = pattern.slice(1, -1);
      const texts = [
        '',
        'prod',
        'x',
        '\nprod-web-eu-1',
        'prod web\neu 9',
        'a-db',
        '-d',
        'od',
        'prodwebeu1\n',
      ];
      // `.*{2}` is none, here or there.
      const made = (make: () => RegExp | undefined) => {
        try {
          return texts.map((text) => make()?.test(text));
        } catch (error) {
          return error instanceof SyntaxError;
        }
      };
      expect(made(() => parseRegularExpression(pattern))).toEqual(made(() => new RegExp(source, 'u')));
    },
  );

  it('is soon done with the longest text of an inventory', () => {
    const matches = compilePattern('/.*prod.*web.*eu.*/');
    const tookMs = cpuMsOf(() => {
      for (let time = 0; time < 20; time += 1) expect(matches('prodwe'.repeat(171))).toBe(false);
    });
    expect(tookMs).toBeLessThan(soonMs);
  });

  it('is tried so quickly that thousands of them are no reason to wait', () => {
    const entries = Array.from({ length: 3_000 }, (_, index) => `"/^web-${index}[0-9]+$/"`);
    const text = withRollout(`select: { include: { name: [${entries.join()}] } }`);
    const tookMs = cpuMsOf(() => expect(problemsOf(() => readConfig(text))).toEqual([]));
    expect(tookMs).toBeLessThan(4 * soonMs);
  });

  it('that is slow is no reason to wait either, when there are many', () => {
    const entries = Array.from({ length: 500 }, (_, index) => `"/^(a+)+${index}$/"`);
    const text = withRollout(`select: { include: { name: [${entries.join()}] } }`);
    const tookMs = cpuMsOf(() => expect(problemsOf(() => readConfig(text)).length).toBe(5));
    expect(tookMs).toBeLessThan(4 * soonMs);
  });

  it('is looked at in every selector, and named as the file has it', () => {
    const rollout = withRollout(
      'select: { include: { fields: { team: "${SLOW}" } }, exclude: [{ name: x, hostName: ["/^(b+)+$/"] }] }\nwaves: [{ name: a, size: 1, match: { category: "/^(c+)+$/i" } }, { name: b }]',
    );
    const problems = problemsOf(() => readConfig(rollout, { SLOW: '/^(a+)+$/' })).join('\n');
    for (const words of [
      'select.include.fields.team: "${SLOW}" would take for ever',
      'select.exclude[0].hostName[0]: "/^(b+)+$/" would take for ever',
      'waves[0].match.category: "/^(c+)+$/i" would take for ever',
    ])
      expect(problems).toContain(words);
  });

  it('is refused when it would stop the process, with its place', () => {
    const problems = problemsOf(() => readConfig(withRollout('select: { include: { name: "/^(a+)+$/" } }')));
    expect(problems.join()).toMatch(/rollouts\[0\]\.select\.include\.name.*would take for ever/);
  });
});

describe('a config that is made to hurt', () => {
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
    const matches = compileSelector(config.rollouts[0]?.select.include ?? {});
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
