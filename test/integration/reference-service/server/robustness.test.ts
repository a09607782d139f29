import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectorManagementApi } from '../../../../src/contract/collector-management/api.ts';
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

describe('bodies', () => {
  const bodies: ReadonlyArray<readonly [string, string]> = [
    ['nothing', ''],
    ['cut-off JSON', '{"collector":'],
    ['no JSON', 'collector=1'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['a wrong type', '{"collector":[],"source":7,"collectorId":{}}'],
    ['a poisoned prototype', '{"__proto__":{"collector":{}},"constructor":{"prototype":{}}}'],
    ['endless nesting', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    [
      'endless nesting inside',
      `{"collector":{"collectorType":"Hosted","name":"d","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`,
    ],
    ['bytes that are no text', '\u0000\uFFFF\u0001'],
  ];
  const writing = collectorManagementApi.filter(
    ({ body, name }) => body !== null && name !== 'createSearchJob',
  );

  it.each(bodies)('%s: a clean 4xx in the documented form, for every operation', async (_what, body) => {
    for (const { name, method, path } of writing) {
      const answer = await setup.send(`/v1${path.replace(/\{\w+\}/g, '100000001')}`, {
        method,
        body,
        headers: { ...json, 'if-match': '"x"' },
      });
      expect([name, Math.floor(answer.status / 100)]).toEqual([name, 4]);
      expect(answer.body).toEqual({
        status: answer.status,
        id: expect.any(String),
        code: expect.any(String),
        message: expect.any(String),
      });
    }
  });

  it('too large: 413', async () => {
    const body = `{"collector":{"name":"${'x'.repeat(2 * 1024 * 1024)}"}}`;
    const answer = await setup.send('/v1/collectors', { method: 'POST', body, headers: json });
    expect(answer).toMatchObject({ status: 413, body: { status: 413 } });
  });

  it('made of anything at all: never a 5xx', async () => {
    const field = fc.constantFrom(
      'id',
      'name',
      'collectorType',
      'fields',
      'sourceType',
      'targetCpu',
      'links',
      'x',
    );
    const stated = fc.dictionary(
      field,
      fc.oneof(fc.jsonValue(), fc.constant('Hosted'), fc.constant('LocalFile')),
    );
    await fc.assert(
      fc.asyncProperty(stated, fc.constantFrom(...writing), async (value, { method, path }) => {
        const answer = await setup.send(`/v1${path.replace(/\{\w+\}/g, '100000001')}`, {
          method,
          body: { collector: value, source: value, collectorId: value['id'], toVersion: value['name'] },
          headers: { 'if-match': '"x"' },
        });
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: 150 },
    );
  });
});

describe('paths and methods', () => {
  it.each([
    ['GET', '/', 404],
    ['GET', '/v1', 404],
    ['GET', '/v2/collectors', 404],
    ['GET', '/v1/collectors/%E0%A4%A', 400],
    ['GET', '/v1/collectors/1.5', 400],
    ['GET', '/v1/collectors/1e3', 400],
    ['GET', '/v1/collectors/-1', 404],
    ['GET', '/v1/collectors/99999999999999999999', 400],
    ['GET', '/v1/collectors/9223372036854775807', 404],
    ['GET', '/v1/collectors/name/%00', 404],
    ['GET', '/v1/collectors?limit=1&limit=2', 400],
    ['GET', '/v1/collectors?offset=99999999999999999999', 400],
    ['GET', '/v1/collectors/upgrades', 405],
    ['PUT', '/v1/collectors/offline', 405],
    ['DELETE', '/v1/collectors/upgrades/targets', 405],
    ['PUT', '/v1/collectors', 405],
    ['DELETE', '/v1/search/jobs', 405],
  ] as const)('%s %s: %d', async (method, path, status) => {
    const answer = await setup.send(path, { method });
    expect(answer).toMatchObject({ status, body: { status, code: expect.any(String) } });
    if (status === 405) expect(answer.headers['allow']).toMatch(/^[A-Z, ]+$/);
  });

  it.each(['PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'])('answers 4xx to %s', async (method) => {
    const text = await sendBytes(head(`${method} /v1/collectors HTTP/1.1`, 'Connection: close'));
    expect([404, 405]).toContain(statusOf(text));
  });

  it('answers 400 to a name that no collector can have', async () => {
    expect((await setup.send(`/v1/collectors/name/${'x'.repeat(3_000)}`)).status).toBe(400);
  });

  it('answers HEAD as GET, without a body', async () => {
    const text = await sendBytes(head('HEAD /v1/collectors?limit=1 HTTP/1.1', 'Connection: close'));
    expect(statusOf(text)).toBe(200);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });
});

describe('connections', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['an unknown method', head('FETCH /v1/collectors HTTP/1.1'), 400],
    ['a header without a name', head('GET /v1/collectors HTTP/1.1', ': x'), 400],
    ['a length that is no number', head('POST /v1/collectors HTTP/1.1', 'Content-Length: x'), 400],
    [
      'a length and chunks',
      head('POST /v1/collectors HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      400,
    ],
    ['broken chunks', `${head('POST /v1/collectors HTTP/1.1', 'Transfer-Encoding: chunked')}zz\r\n`, 400],
    ['headers without end', head('GET /v1/collectors HTTP/1.1', `X: ${'x'.repeat(70_000)}`), 431],
  ])('%s: %3$d in the documented form', async (_what, bytes, status) => {
    const text = await sendBytes(bytes);
    expect(statusOf(text)).toBe(status);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({
      status,
      code: expect.any(String),
    });
  });

  it('answers a broken type of a body', async () => {
    for (const type of ['', ';;;', 'application', 'application/json; charset="']) {
      const bytes = head('POST /v1/collectors HTTP/1.1', `Content-Type: ${type}`, 'Content-Length: 2');
      expect(Math.floor(statusOf(await sendBytes(`${bytes}{}`)) / 100)).toBe(4);
    }
  });

  it('answers pipelined requests in their order', async () => {
    const get = (path: string) => head(`GET ${path} HTTP/1.1`);
    const text = await sendBytes(
      get('/v1/collectors?limit=1') + get('/v1/nothing') + get('/v1/collectors/upgrades/targets'),
      { answers: 3 },
    );
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '404',
      '200',
    ]);
  });

  it('answers a client that has closed its half', async () => {
    const text = await sendBytes(head('GET /v1/collectors/upgrades/targets HTTP/1.1'), { half: true });
    expect(statusOf(text)).toBe(200);
  });

  it('gives up a body that ends before its length, and serves the next client', async () => {
    const bytes = `${head('POST /v1/collectors HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 99')}{`;
    const text = await sendBytes(bytes, { half: true });
    expect(['', '400']).toContain(text === '' ? '' : String(statusOf(text)));
    expect((await setup.send('/v1/collectors')).status).toBe(200);
  });

  it('outlives clients that go away at once', async () => {
    const socket = connect({ port: setup.service.port, host: '127.0.0.1' });
    socket.write(head('GET /v1/collectors HTTP/1.1'));
    socket.destroy();
    expect((await setup.send('/v1/collectors')).status).toBe(200);
  });

  it.each(['Basic', 'Basic ????', 'Bearer x', `Basic ${'A'.repeat(9_000)}`, 'Basic Og=='])(
    'answers 401 to the authorization %j',
    async (authorization) => {
      expect((await setup.send('/v1/collectors', { headers: { authorization } })).status).toBe(401);
    },
  );

  it('ignores cookies that are none', async () => {
    for (const cookie of ['session', 'session=', ';;;', 'session=%00; session=x', 'x'.repeat(5_000)]) {
      expect((await setup.send('/v1/collectors?limit=1', { headers: { cookie } })).status).toBe(200);
    }
  });
});
