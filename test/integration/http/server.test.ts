import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineOperation, integerText } from '../../../src/contract/operation.ts';
import { mountOperations } from '../../../src/http/operation-handlers.ts';
import { type RunningHttpServer, startHttpServer } from '../../../src/http/server.ts';
import { aRawClient } from '../../support/reference-client.ts';

const frame = { method: 'GET', idempotent: true, source: 'test' } as const;
const readThing = defineOperation({
  ...frame,
  name: 'readThing',
  path: '/things/{id}',
  params: z.object({ id: integerText({ min: 1 }) }),
  query: z.object({ depth: integerText({ min: 0 }).default(2) }),
  answer: { status: 200, body: z.object({ id: z.number(), depth: z.number() }) },
});
const listThings = defineOperation({
  ...frame,
  name: 'listThings',
  path: '/things/all',
  answer: { status: 200, body: z.object({ things: z.array(z.number()) }) },
});
const makeThing = defineOperation({
  ...frame,
  name: 'makeThing',
  method: 'POST',
  path: '/things',
  body: z.object({ name: z.string() }),
  answer: { status: 201, body: z.object({ name: z.string() }) },
});
const readPage = defineOperation({
  ...frame,
  name: 'readPage',
  path: '/',
  answer: { status: 200, body: z.string() },
});
const breakThing = defineOperation({
  ...frame,
  name: 'breakThing',
  path: '/broken',
  answer: { status: 200, body: z.object({}) },
});

describe('startHttpServer', () => {
  let server: RunningHttpServer;
  let client: ReturnType<typeof aRawClient>;
  const seen: string[] = [];

  beforeEach(async () => {
    seen.length = 0;
    server = await startHttpServer({
      host: '127.0.0.1',
      port: 0,
      bodyBytesMax: 200,
      operations: mountOperations([readThing, listThings, makeThing, readPage, breakThing], {
        prefix: '/v1',
        handlers: {
          readThing: async ({ params, query }) => ({ body: { id: params.id, depth: query.depth } }),
          listThings: async () => ({ headers: { 'x-count': '1' }, body: { things: [1] } }),
          makeThing: async ({ body }) => ({ body: { name: body.name } }),
          readPage: async () => ({ headers: { 'content-type': 'text/html' }, body: '<p>hello</p>' }),
          breakThing: async () => {
            throw new Error('broken on purpose');
          },
        },
      }),
      around: async (request, next) => {
        seen.push(`${request.method} ${request.path} ${request.operation?.name ?? '-'}`);
        if (request.headers['x-cut'] === 'before') return { cutOff: 'beforeHeaders' };
        if (request.headers['x-cut'] === 'mid') return { cutOff: 'midBody' };
        return next();
      },
      answerFailure: (failure) => ({
        status:
          { unknownRoute: 404, wrongMethod: 405, handlerError: 500, bodyTooLarge: 413 }[
            failure.kind as string
          ] ?? 400,
        body: {
          kind: failure.kind,
          ...(failure.kind === 'wrongMethod' ? { allowed: failure.allowed } : {}),
          ...(failure.kind === 'invalidInput' ? { part: failure.part, path: failure.issues[0]?.path } : {}),
        },
      }),
    });
    client = aRawClient(server.url);
  });
  afterEach(async () => {
    await client.close();
    await server.close();
  });

  it('parses params and query, and fills defaults', async () => {
    expect((await client.send('/v1/things/7')).body).toEqual({ id: 7, depth: 2 });
    expect((await client.send('/v1/things/7?depth=5')).body).toEqual({ id: 7, depth: 5 });
  });

  it('prefers a fixed path to a parameter, and sends the headers of the handler', async () => {
    const answer = await client.send('/v1/things/all');
    expect(answer.body).toEqual({ things: [1] });
    expect(answer.headers['x-count']).toBe('1');
    expect(answer.headers['content-type']).toContain('application/json');
  });

  it('answers with the status of the contract unless the handler names one', async () => {
    const answer = await client.send('/v1/things', { method: 'POST', body: { name: 'a' } });
    expect(answer).toMatchObject({ status: 201, body: { name: 'a' } });
  });

  it('sends a text with a type of its own as it is', async () => {
    const answer = await client.send('/v1/');
    expect(answer.text).toBe('<p>hello</p>');
    expect(answer.headers['content-type']).toContain('text/html');
  });

  it.each(['/v1/things/7/', '/v1//things/7', '//v1/things//7/', '/v1/things/7/?depth=2'])(
    'accepts a trailing slash and doubled ones: %s',
    async (path) => {
      expect(await client.send(path)).toMatchObject({ status: 200, body: { id: 7, depth: 2 } });
      expect(seen).toEqual(['GET /v1/things/7 readThing']);
    },
  );

  it('tells invalid params, query and body apart', async () => {
    expect((await client.send('/v1/things/x')).body).toMatchObject({ part: 'params', path: ['id'] });
    expect((await client.send('/v1/things/7?depth=-1')).body).toMatchObject({
      part: 'query',
      path: ['depth'],
    });
    expect((await client.send('/v1/things/7?depth=1&depth=2')).body).toMatchObject({ part: 'query' });
    const body = await client.send('/v1/things', { method: 'POST', body: { name: 1 } });
    expect(body.body).toMatchObject({ part: 'body', path: ['name'] });
  });

  it('judges an absent body with the schema, and malformed JSON as such', async () => {
    expect((await client.send('/v1/things', { method: 'POST' })).body).toMatchObject({
      kind: 'invalidInput',
    });
    const malformed = await client.send('/v1/things', { method: 'POST', body: '{"name":' });
    expect(malformed.body).toEqual({ kind: 'malformedJson' });
  });

  it('refuses a body above the limit', async () => {
    const answer = await client.send('/v1/things', { method: 'POST', body: { name: 'x'.repeat(300) } });
    expect(answer).toMatchObject({ status: 413, body: { kind: 'bodyTooLarge' } });
  });

  it('tells an unknown route from a wrong method, inside around', async () => {
    expect(await client.send('/v1/nothing')).toMatchObject({ status: 404, body: { kind: 'unknownRoute' } });
    const wrong = await client.send('/v1/things/', { method: 'DELETE' });
    expect(wrong).toMatchObject({ status: 405, body: { kind: 'wrongMethod', allowed: ['POST'] } });
    expect(seen).toEqual(['GET /v1/nothing -', 'DELETE /v1/things -']);
  });

  it('lets the owner answer an error of a handler and a URL that cannot be read', async () => {
    expect(await client.send('/v1/broken')).toMatchObject({ status: 500, body: { kind: 'handlerError' } });
    expect(await client.send('/v1/things/%E0%A4%A')).toMatchObject({
      status: 400,
      body: { kind: 'malformedUrl' },
    });
  });

  it.each(['before', 'mid'])('cuts the connection when told to: %s', async (when) => {
    await expect(client.send('/v1/things/7', { headers: { 'x-cut': when } })).rejects.toThrow();
    expect((await client.send('/v1/things/7')).status).toBe(200);
  });

  it('closes at once although a connection is open', async () => {
    await client.send('/v1/things/7');
    await server.close();
    await expect(client.send('/v1/things/7')).rejects.toThrow();
  });
});

describe('mountOperations', () => {
  it('refuses an API of which an operation has no handler, when compiled and when run', () => {
    // @ts-expect-error readThing has no handler
    expect(() => mountOperations([readThing], { prefix: '', handlers: {} })).toThrow(/readThing/);
  });
});
