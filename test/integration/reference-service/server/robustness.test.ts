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

/** Sends bytes as they are and reads until the service closes, or has answered so often. */
async function sendBytes(
  bytes: string,
  { answers = 1, half = false }: { answers?: number; half?: boolean } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: setup.service.port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
      if ((text.match(/HTTP\/1\.1 /g)?.length ?? 0) >= answers && text.endsWith('}')) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('end', () => socket.destroy());
    socket.on('error', reject);
    if (half) socket.end(bytes);
    else socket.write(bytes);
  });
}

const head = (line: string, ...headers: string[]) =>
  [line, 'Host: x', `Authorization: ${basic()}`, ...headers, '', ''].join('\r\n');
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);

// Hostile bodies, paths and headers are generated in the conformance suite's fuzz test.

describe('paths and methods', () => {
  it('are answered 404, 405 or 400 where they name nothing, in the documented form', async () => {
    for (const [method, path, status] of [
      ['GET', '/', 404],
      ['GET', '/v1', 404],
      ['GET', '/v2/collectors', 404],
      ['GET', '/v1/collectors/%E0%A4%A', 400],
      ['GET', '/v1/collectors/1.5', 400],
      ['GET', '/v1/collectors/-1', 404],
      ['GET', '/v1/collectors/99999999999999999999', 400],
      ['GET', '/v1/collectors/9223372036854775807', 404],
      ['GET', '/v1/collectors/name/%00', 404],
      ['GET', `/v1/collectors/name/${'x'.repeat(3_000)}`, 400],
      ['GET', '/v1/collectors?limit=1&limit=2', 400],
      ['GET', '/v1/collectors?limit=0', 400],
      ['GET', '/v1/collectors?offset=-1', 400],
      ['GET', '/v1/collectors/upgrades', 405],
      ['PUT', '/v1/collectors', 405],
    ] as const) {
      const answer = await setup.send(path, { method });
      expect([method, path, answer.status]).toEqual([method, path, status]);
      expect(answer.body).toMatchObject({ status, code: expect.any(String) });
      if (status === 405) expect(answer.headers['allow']).toMatch(/^[A-Z, ]+$/);
    }
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
  ])('is ended by %s with %i, in the documented form, and no other is', async (_what, status, bytes) => {
    const text = await sendBytes(bytes, { half: true });
    expect(statusOf(text)).toBe(status);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ status });
    expect((await setup.send('/v1/collectors')).status).toBe(200);
  });
});
