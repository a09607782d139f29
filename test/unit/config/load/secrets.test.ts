import { describe, expect, it } from 'vitest';
import { problemsIn, withRollout, withSection, withService } from '../../../support/config-fixtures.ts';

const secret = 'Hunter2-the-secret';
const withAt = 'Hunter2@the-secret';
const url = 'baseUrl: https://api.example.com';

const withCredentials = (more: string) => withService(`service: { ${url}, ${more} }`);
const withRedis = (more: string) => withSection(`redis: { ${more} }`);

describe('a config error (P12)', () => {
  it.each([
    [
      withCredentials(`accessId: id, accessKey:${secret}`),
      'write "accessKey: …", with a blank after the colon',
    ],
    [
      withRedis(`url:redis://:${secret}@h`),
      'unknown key "url…"; write "url: …", with a blank after the colon',
    ],
    // With an equals sign, and without a colon.
    [
      withCredentials(`accessId: id, accessKey=${secret}`),
      'unknown key "accessKey…"; did you mean "accessKey"?',
    ],
    [
      withCredentials(`accessId: id, accessKey ${secret}`),
      'unknown key "accessKey…"; did you mean "accessKey"?',
    ],
    [withCredentials(`accessKey:${secret}, accessKey:${secret}`), 'the key "accessKey…" is given twice'],
    // The path of what is below such a key.
    [
      withRollout(`select: { include: { fields: { token:${secret} } } }`),
      'fields["token…"]: must be text or a list',
    ],
    [withHosts(`u:${withAt}@h.example.com:1x`), '"…@h.example.com:1x" is not a host'],
    [withHosts(`h.example.com?key=${secret}`), '"h.example.com…" is not a host'],
    [withRedis(`sentinels: ["redis://:${withAt}@h:1"], name: n`), '"…@h:1" is not an address'],
    [withRedis(`cluster: [":${secret}@h:1"]`), '"…@h:1" is not an address'],
    [withRedis('cluster: ["${T}"]'), '"${T}" is not an address'],
    [withRedis('url: "rediss://h", caFile: "${T}"'), 'from "${T}": there is no such file'],
    [`%${secret}\n---\n${withSection('')}`, 'config.yaml:1:1: a line that starts with "%"'],
  ])('names a mistake, and not what may be a secret in it: case %#', (text, words) => {
    const message = problemsIn(text, { T: withAt }).join('\n');
    expect(message.includes(words) ? '' : message.replaceAll(/hunter2|the-secret/gi, '***')).toBe('');
    expect(/hunter2|the-secret/i.test(message)).toBe(false);
  });
});

function withHosts(host: string): string {
  return withCredentials(`accessId: id, accessKey: key, allowedHosts: [${JSON.stringify(host)}]`);
}
