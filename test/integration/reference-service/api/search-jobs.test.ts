import { afterEach, describe, expect, it } from 'vitest';
import { aReferenceService, type ReferenceSetup } from '../../../support/reference-client.ts';

let open: ReferenceSetup | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

/** A service with a search job, and the cookie that its creation gave. */
async function aSearchJob(cookieBefore?: string) {
  open ??= await aReferenceService();
  const request = { query: '_sourceCategory=prod | count', from: '2026-11-21T00:00:00', madeUp: [1] };
  const created = await open.send('/v1/search/jobs', {
    method: 'POST',
    body: request,
    headers: cookieBefore === undefined ? {} : { cookie: cookieBefore },
  });
  const cookie = String(created.headers['set-cookie']).split(';')[0] ?? '';
  return { ...open, request, created, cookie, path: `/v1/search/jobs/${created.body.id}` };
}

describe('§4.5 search jobs', () => {
  it('are created with a session cookie and found with it', async () => {
    const { created, cookie, path, send, request, clock } = await aSearchJob();
    expect(created).toMatchObject({ status: 202, body: { id: expect.any(String), link: { href: path } } });
    expect(cookie).toMatch(/^session=.+/);
    const look = () => send(path, { headers: { cookie } });
    expect(await look()).toMatchObject({ status: 200, body: { state: 'GATHERING RESULTS', request } });
    clock.advance(5_000);
    expect(await look()).toMatchObject({ body: { state: 'DONE GATHERING RESULTS', resultCount: 250 } });
  });

  it('give the cookie also to a client that has one already', async () => {
    const first = await aSearchJob();
    const second = await aSearchJob(first.cookie);
    expect(second.cookie).toBe(first.cookie);
    expect((await first.send(first.path, { headers: { cookie: first.cookie } })).status).toBe(200);
    expect((await first.send(second.path, { headers: { cookie: first.cookie } })).status).toBe(200);
  });

  it('page their results by offset and limit', async () => {
    const { cookie, path, send, clock } = await aSearchJob();
    clock.advance(5_000);
    const page = async (query: string) =>
      (await send(`${path}/messages${query}`, { headers: { cookie } })).body;
    expect((await page('?offset=10&limit=2')).messages).toEqual([
      { map: { row: '10' } },
      { map: { row: '11' } },
    ]);
    expect((await page('')).messages).toHaveLength(100);
    expect((await page('?offset=200&limit=100')).messages).toHaveLength(50);
    expect((await page('?offset=9000')).messages).toEqual([]);
    expect((await send(`${path}/messages?limit=0`, { headers: { cookie } })).status).toBe(400);
  });

  it('want a JSON body', async () => {
    const { send } = await aSearchJob();
    const headers = { 'content-type': 'application/json' };
    expect(await send('/v1/search/jobs', { method: 'POST', body: '{"query"', headers })).toMatchObject({
      status: 400,
      body: { code: 'service.json.invalid' },
    });
    expect((await send('/v1/search/jobs', { method: 'POST' })).status).toBe(400);
  });
});

describe('§5.5 the cookie', () => {
  it('is mandatory: without it 500, with another one the job ID is invalid', async () => {
    const { path, send } = await aSearchJob();
    expect(await send(path)).toMatchObject({ status: 500, body: { status: 500, id: expect.any(String) } });
    expect((await send(`${path}/messages`)).status).toBe(500);
    const other = await aSearchJob();
    expect(await send(path, { headers: { cookie: other.cookie } })).toMatchObject({
      status: 404,
      body: { message: 'the job ID is invalid' },
    });
    expect((await send('/v1/search/jobs/none', { headers: { cookie: other.cookie } })).status).toBe(404);
  });
});
