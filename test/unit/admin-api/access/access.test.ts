import { describe, expect, it } from 'vitest';
import { makeAccess } from '../../../../src/admin-api/access/access.ts';
import { makeCallers } from '../../../../src/admin-api/access/identify-callers.ts';
import type { HttpRequest } from '../../../../src/http/operation-handlers.ts';

const host = '127.0.0.1:9464';

/** Whether a daemon without a token serves a request from this machine with these headers. */
function isServed(method: string, headers: HttpRequest['headers']): boolean {
  const callers = makeCallers({ token: undefined, tokens: [], trustedProxy: undefined, docs: 'token' });
  const answer = makeAccess({ callers, clock: { now: () => 0 } })({
    ...{
      method,
      path: '/api/v1/rollouts/r/pause',
      url: '/api/v1/rollouts/r/pause',
      headers: { host, ...headers },
    },
    ...{ remoteAddress: '127.0.0.1', httpVersion: '1.1', hasBody: false, body: '', operation: undefined },
  });
  return 'caller' in answer;
}

describe('access without a token', () => {
  it.each([
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, false],
    [{ 'sec-fetch-site': 'same-origin', origin: `http://${host}` }, true],
    [{ 'sec-fetch-site': 'cross-site', origin: `http://${host}` }, false],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'null' }, false],
    [{ origin: '' }, false],
    [{ origin: 'http://127.0.0.1:1' }, false],
    [{ origin: `http://evil@${host}` }, false],
    [{ origin: `http://${host}/path` }, false],
    [{ origin: `http://${host}, https://evil.example` }, false],
  ])('judges a POST by the site and the origin of its page: %j', (headers, served) => {
    expect(isServed('POST', headers)).toBe(served);
    expect(isServed('PUT', headers)).toBe(served);
  });

  it.each([
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, false],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, false],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, true],
  ])('judges a read by the site of its page, and lets links be followed: %j', (headers, served) => {
    expect(isServed('GET', headers)).toBe(served);
  });

  it.each([
    ...['localhost', 'localhost:9464', 'LOCALHOST', 'upwave.localhost', 'a.b-c.localhost:80'],
    ...['127.0.0.1', '127.1.2.3:9464', '[::1]', '[::1]:9464', '[::ffff:127.0.0.1]:80'],
  ])('serves the host %s', (name) => {
    expect(isServed('GET', { host: name })).toBe(true);
  });

  it.each([
    ...['evil.com#.localhost', 'evil.com/.localhost', 'evil.com?.localhost', 'evil.com\\.localhost'],
    ...['user@x.localhost', 'user:localhost', 'evil.com:80.localhost', 'evil.com .localhost', '.localhost'],
    ...['localhost.', 'x.localhost.', '127.0.0.1.', 'x..localhost', 'localhost.evil.com', 'notlocalhost', ''],
    ...[
      '127.1',
      '0x7f.1',
      '2130706433',
      '0.0.0.0',
      '[::]',
      '::1',
      '[::1',
      '[localhost]',
      '[127.0.0.1]',
      '[::1%lo]',
    ],
    ...['localhost:', 'localhost:x', 'localhost:123456', '127.0.0.1:80:80', '127.0.0.1.nip.io', '10.0.0.7'],
  ])('refuses the host %j', (name) => {
    expect(isServed('GET', { host: name })).toBe(false);
  });
});
