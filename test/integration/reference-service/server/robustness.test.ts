import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aReferenceService, basic, type ReferenceSetup } from '../../../support/reference-client.ts';

let setup: ReferenceSetup;
beforeAll(async () => {
  setup = await aReferenceService();
});
afterAll(async () => {
  await setup.close();
});

const json = { 'content-type': 'application/json' };

/** Sends bytes as they are and reads until the service closes, or has answered. */
async function sendBytes(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: setup.service.port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
      if (text.startsWith('HTTP/1.1 ') && text.endsWith('}')) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('end', () => socket.destroy());
    socket.on('error', reject);
    socket.end(bytes);
  });
}

const head = (line: string, ...headers: string[]) =>
  [line, 'Host: x', `Authorization: ${basic()}`, ...headers, '', ''].join('\r\n');
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);

// Hostile bodies, paths, methods and headers are generated in the conformance suite's fuzz test.

describe('paths', () => {
  it.each(['/v1/collectors/offline/', '/v1//collectors/offline', '//v1/collectors//offline/?limit=2'])(
    'may end with a slash, and contain double slashes: %s',
    async (path) => expect((await setup.send(path)).status).toBe(200),
  );

  it('are refused with the mistake: a wrong method, or an unreadable path', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/v1/collectors/', 'GET, POST'],
      // It is not taken for the update of a collector called `offline`.
      ['PUT', '/v1/collectors/offline', 'GET, DELETE'],
    ] as const)
      expect(await setup.send(path, { method })).toMatchObject({ status: 405, headers: { allow } });
    expect(await setup.send('/v1/collectors/%E0%A4%A')).toMatchObject({ status: 400 });
  });
});

describe('connections', () => {
  it('answers 413 to a body that is too large', async () => {
    const body = `{"collector":{"name":"${'x'.repeat(2 * 1024 * 1024)}"}}`;
    const answer = await setup.send('/v1/collectors', { method: 'POST', body, headers: json });
    expect(answer).toMatchObject({ status: 413, body: { status: 413 } });
  });

  it.each([
    ['no request', 400, 'GET\r\n\r\n'],
    ['a length that is none', 400, head('POST /v1/collectors HTTP/1.1', 'Content-Length: -1')],
    ['a header without end', 431, head('GET /v1/collectors HTTP/1.1', `Large: ${'x'.repeat(20_000)}`)],
    ['another protocol', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])(
    'with %s is closed with %i in the documented form, and no other connection is closed',
    async (_what, status, bytes) => {
      const text = await sendBytes(bytes);
      expect(statusOf(text)).toBe(status);
      expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ status });
      expect((await setup.send('/v1/collectors')).status).toBe(200);
    },
  );
});
