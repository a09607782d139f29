import { describe, expect, it } from 'vitest';
import {
  problemsOf,
  readConfig,
  withRollout,
  withSection,
  withService,
} from '../../../support/config-fixtures.ts';

const secret = 'Hunter2-the-secret';
const withAt = 'Hunter2@the-secret';
const url = 'baseUrl: https://api.example.com';

/** What reading this complains about, in one text. */
const told = (text: string, environment = {}) => problemsOf(() => readConfig(text, environment)).join('\n');

describe('a config error (P12)', () => {
  it.each([
    [
      'a key that lacks its blank',
      withService(`service: { ${url}, accessId: id, accessKey:${secret} }`),
      'service["accessKey…"]: unknown key "accessKey…"; write "accessKey: …", with a blank after the colon',
    ],
    [
      'a URL whose key lacks its blank',
      withSection(`redis: { url:redis://:${secret}@h }`),
      'redis["url…"]: unknown key "url…"; write "url: …", with a blank after the colon',
    ],
    [
      'a key with an equals sign',
      withService(`service: { ${url}, accessId: id, accessKey=${secret} }`),
      'unknown key "accessKey…"; did you mean "accessKey"?',
    ],
    [
      'a key without a colon',
      withService(`service: { ${url}, accessId: id, accessKey ${secret} }`),
      'unknown key "accessKey…"; did you mean "accessKey"?',
    ],
    [
      'a key that stands there twice',
      withService(`service: { ${url}, accessKey:${secret}, accessKey:${secret} }`),
      'the key "accessKey…" is given twice',
    ],
    [
      'the path of what is below such a key',
      withRollout(`select: { include: { fields: { token:${secret} } } }`),
      'rollouts[0].select.include.fields["token…"]: must be text or a list',
    ],
    ['an allowed host', withHosts(`u:${withAt}@h.example.com:1x`), '"…@h.example.com:1x" is no host'],
    ['an allowed host with a query', withHosts(`h.example.com?key=${secret}`), '"h.example.com…" is no host'],
    [
      'a sentinel',
      withSection(`redis: { sentinels: ["redis://:${withAt}@h:1"], name: n }`),
      '"…@h:1" is no address',
    ],
    ['a node of a cluster', withSection(`redis: { cluster: [":${secret}@h:1"] }`), '"…@h:1" is no address'],
    ['a node that is a variable', withSection('redis: { cluster: ["${T}"] }'), '"${T}" is no address'],
    [
      'a caFile that is a variable',
      withSection('redis: { url: "rediss://h", caFile: "${T}" }'),
      'from "${T}": there is no such file',
    ],
    ['a directive', `%${secret}\n---\n${withSection('')}`, 'config.yaml:1:1: a line that starts with "%"'],
  ])('tells of %s, and not what may be a secret in it', (_name, text, words) => {
    const message = told(text, { T: withAt });
    expect(message.includes(words) ? '' : message.replaceAll(/hunter2|the-secret/gi, '***')).toBe('');
    expect(/hunter2|the-secret/i.test(message)).toBe(false);
  });
});

function withHosts(host: string): string {
  return withService(
    `service: { ${url}, accessId: id, accessKey: key, allowedHosts: [${JSON.stringify(host)}] }`,
  );
}
