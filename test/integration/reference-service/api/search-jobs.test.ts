import { describe, expect, it } from 'vitest';
import { openReferenceService } from '../../../support/reference-client.ts';

describe('§4.5 search jobs of the reference service', () => {
  it('give the cookie also to a client that has one, gather for a while, and page their results', async () => {
    const { send, clock } = await openReferenceService();
    const create = (headers: Readonly<Record<string, string>> = {}) =>
      send('/v1/search/jobs', { method: 'POST', body: { query: '*' }, headers });
    const created = await create();
    const cookie = String(created.headers['set-cookie']).split(';')[0] ?? '';
    expect(String((await create({ cookie })).headers['set-cookie'])).toContain(cookie);
    const path = `/v1/search/jobs/${created.body.id}`;
    const get = async (part = '') => (await send(`${path}${part}`, { headers: { cookie } })).body;
    expect(await get()).toMatchObject({ state: 'GATHERING RESULTS', request: { query: '*' } });
    clock.advance(5_000);
    expect(await get()).toMatchObject({ state: 'DONE GATHERING RESULTS', resultCount: 250 });
    expect((await get('/messages?offset=10&limit=2')).messages).toEqual([
      { map: { row: '10' } },
      { map: { row: '11' } },
    ]);
    expect((await get('/messages')).messages).toHaveLength(100);
    expect((await get('/messages?offset=200&limit=100')).messages).toHaveLength(50);
    expect(await get('/messages?limit=0')).toMatchObject({ status: 400 });
    expect((await send(path, { method: 'DELETE', headers: { cookie } })).status).toBe(200);
    expect(await get()).toMatchObject({ status: 404, code: 'jobid.invalid' });
  });
});
