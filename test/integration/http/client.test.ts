import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineOperation, integerText, readAsList } from '../../../src/contract/operation.ts';
import { type HttpClient, type HttpClientParts, makeHttpClient } from '../../../src/http/client.ts';
import { HttpFault } from '../../../src/http/fault.ts';
import { ending } from '../../support/ending.ts';
import {
  type Script,
  type ScriptedServer,
  sendJson,
  startScriptedServer,
} from '../../support/network/scripted-server.ts';

const getThing = defineOperation({
  name: 'getThing',
  route: 'GET /things/{name}/parts/{number}',
  params: z.object({ name: z.string(), number: integerText() }),
  query: z.object({ filter: z.string().optional(), limit: integerText().default(10) }),
  answer: { status: 200, body: z.looseObject({ id: z.union([z.string(), z.number()]) }) },
  idempotent: true,
  source: 'a test',
});

const makeThing = defineOperation({
  name: 'makeThing',
  route: 'POST /things',
  body: z.object({ name: z.string() }),
  answer: { status: 202, body: z.looseObject({ id: z.string() }) },
  idempotent: false,
  source: 'a test',
});

const listThings = readAsList(
  defineOperation({
    name: 'listThings',
    route: 'GET /things',
    answer: { status: 200, body: z.looseObject({}) },
    source: 'a test',
  }),
  'rows',
  z.object({ id: z.union([z.string(), z.number()]), name: z.string() }),
);

const thing = { params: { name: 'a', number: 1 } };

describe('makeHttpClient', () => {
  async function setup(
    script: Script,
    parts: Partial<HttpClientParts> = {},
  ): Promise<{ server: ScriptedServer; client: HttpClient }> {
    const server = ending(await startScriptedServer(script));
    const baseUrl = `${server.url}/base/`;
    return { server, client: ending(makeHttpClient({ baseUrl, timeouts: { totalMs: 5_000 }, ...parts })) };
  }

  async function faultOf(call: Promise<unknown>): Promise<HttpFault> {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof HttpFault)) throw new Error('expected an HttpFault', { cause: error });
    return error;
  }

  it('encodes segments and query, sends JSON both ways, and keeps unknown fields of the answer', async () => {
    const { server, client } = await setup(
      (_request, response) => sendJson(response, 200, { id: 1, extra: true }),
      {
        hooks: { headers: ({ name }) => ({ authorization: `for ${name}` }) },
      },
    );
    const answer = await client.call(getThing, {
      params: { name: 'a/b c%ü?', number: 7 },
      query: { filter: 'x&y' },
    });
    expect(answer.body).toEqual({ id: 1, extra: true });
    const [request] = server.requests;
    expect(request?.url).toBe('/base/things/a%2Fb%20c%25%C3%BC%3F/parts/7?filter=x%26y');
    expect(request?.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: 'for getThing',
    });
    expect(request?.text).toBe('');
  });

  it('reports a refusal with its status, headers and parsed body, but without the cookie', async () => {
    const { client } = await setup((_request, response) =>
      sendJson(response, 400, { code: 'no' }, { 'x-a': 'b', 'set-cookie': 'session=secret' }),
    );
    const fault = await faultOf(client.call(getThing, thing));
    expect(fault).toMatchObject({
      kind: 'status',
      sent: true,
      status: 400,
      body: { code: 'no' },
      isJson: true,
    });
    expect(fault.headers['x-a']).toBe('b');
    expect(JSON.stringify(fault.headers)).not.toContain('secret');
  });

  it('reads a list row by row, with every digit of a 64-bit id, and characters that are cut in two', async () => {
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
    const body = Buffer.from(`{"rows":[{"id":9223372036854775807,"name":"Kölñ 😀"},7,${deep}],"x":${deep}}`);
    const cutAt = body.indexOf('😀') + 2;
    const { client } = await setup((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(body.subarray(0, cutAt), () => response.end(body.subarray(cutAt)));
    });
    const { body: page } = await client.call(listThings, {});
    expect(page.rows).toEqual([{ id: '9223372036854775807', name: 'Kölñ 😀' }, null, null]);
  });

  it.each([
    ['{"rows":{}}', 'undecodable'],
    ['[1]', 'undecodable'],
    ['', 'undecodable'],
    ['<html>', 'undecodable'],
    ['{"rows":[1', 'undecodable'],
    ['{"rows":[1]}}', 'undecodable'],
    ['{"rows":[1,,2]}', 'undecodable'],
    ['{"rows":[{"id":1]]}', 'undecodable'],
    ['{"rows":[1},"other":[2]}', 'undecodable'],
    [`{"rows":[],"x":"${'x'.repeat(1024 * 1024)}"}`, 'undecodable'],
    [`{"rows":[${'0,'.repeat(10_000)}0]}`, 'tooLarge'],
    [`{"rows":["${'x'.repeat(17 * 1024 * 1024)}"]}`, 'tooLarge'],
  ])('refuses a body that holds no list, or too much of it: case %#', async (body, kind) => {
    const { client } = await setup((_request, response) => void response.end(body));
    expect(await faultOf(client.call(listThings, {}))).toMatchObject({ kind, sent: true });
  });

  it('gives up when the total time is over, before and inside the answer', async () => {
    // Long enough to leave on a machine that has other work to do.
    const { server, client } = await setup(() => {}, { timeouts: { totalMs: 500 } });
    expect(await faultOf(client.call(getThing, thing))).toMatchObject({ kind: 'timeout', sent: true });
    server.follow((_request, response) => {
      response.writeHead(200, { 'content-length': '500' });
      response.write('{');
    });
    expect(await faultOf(client.call(getThing, thing))).toMatchObject({ kind: 'timeout', sent: true });
  });

  it('sends nothing for a call that was given up while it waited for a connection', async () => {
    const { server, client } = await setup(() => {}, { connections: 1, timeouts: { totalMs: 5_000 } });
    const first = faultOf(client.call(getThing, thing));
    const giveUp = new AbortController();
    const second = faultOf(client.call(makeThing, { body: { name: 'x' } }, { signal: giveUp.signal }));
    giveUp.abort();
    expect(await second).toMatchObject({ kind: 'aborted', sent: false });
    await client.close();
    expect(await first).toMatchObject({ kind: 'aborted' });
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(0);
  });

  it('ends at once when its signal is aborted, and reports whether it had been sent', async () => {
    const giveUp = new AbortController();
    const { client } = await setup(() => giveUp.abort());
    for (const sent of [true, false])
      expect(await faultOf(client.call(getThing, thing, { signal: giveUp.signal }))).toMatchObject({
        kind: 'aborted',
        sent,
      });
  });

  it('throws a bug unchanged', async () => {
    const { client } = await setup(() => {}, { hooks: { headers: () => ({ authorization: 'two\nlines' }) } });
    const error: unknown = await client.call(getThing, thing).catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(HttpFault);
    expect(error).toBeInstanceOf(Error);
  });

  it('refuses a base URL with credentials, without repeating it', () => {
    const make = () =>
      makeHttpClient({ baseUrl: 'https://user:hunter22@example.com', timeouts: { totalMs: 1 } });
    expect(make).toThrow('must not carry credentials');
    expect(make).not.toThrow('hunter22');
  });
});
