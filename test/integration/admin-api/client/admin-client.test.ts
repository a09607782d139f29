import { describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../../../src/admin-api/admin-api.ts';
import { makeAdminClient } from '../../../../src/admin-api/client/admin-client.ts';
import { ending } from '../../../support/ending.ts';
import { aRolloutStatus, makeFakeOperations } from '../../../support/fake-operations.ts';
import { type Script, sendText, startScriptedServer } from '../../../support/network/scripted-server.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';

describe('makeAdminClient', () => {
  const setUp = async (parts: Partial<AdminApiParts> = {}, token = parts.token) => {
    const operations = makeFakeOperations({ rollouts: [aRolloutStatus(), aRolloutStatus({ id: 'old' })] });
    const api = ending(await startFakeAdminApi(operations, parts));
    return { client: clientOf(api.url, token), operations, api };
  };
  const clientOf = (baseUrl: string, token?: string) => ending(makeAdminClient({ baseUrl, token }));

  it('accepts a base URL with a slash at its end', async () => {
    const { api } = await setUp();
    expect(await clientOf(`${api.url}/`).listRollouts()).toHaveLength(2);
  });

  it('reports a wrong token, and shows it nowhere', async () => {
    const { client } = await setUp({ token: 'open-sesame' }, 'close-sesame');
    const error = await client.listRollouts().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ kind: 'unauthorized', message: 'the token is wrong' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('sesame');
  });

  it('reports a bug of the daemon', async () => {
    const { client, operations } = await setUp();
    operations.breakWith(new Error('a bug'));
    await expect(client.listRollouts()).rejects.toMatchObject({ kind: 'failed' });
  });

  it('reports that no daemon answers', async () => {
    const nobody = 'http://127.0.0.1:1';
    await expect(clientOf(nobody).listRollouts()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(nobody),
    });
  });

  it.each([
    ['JSON of another form', 200, 'application/json', '{"rollouts":[{"id":7}]}', /: it has another version/],
    ['a page', 200, 'text/html', '<h1>hello</h1>', / is not upwave's admin API: it answered 200 with HTML$/],
    ['a text', 200, 'text/plain', 'hello', / it answered 200 with a text that is not JSON$/],
    ['nothing', 404, 'text/plain', '', / it answered 404$/],
    ['a page of an unknown path', 404, 'text/html', '<h1>hello</h1>', / it answered 404 with HTML$/],
    [
      'an error of its own',
      404,
      'application/json',
      '{"error":"?"}',
      / it answered 404 with JSON of another/,
    ],
    [
      'a 401 of the service',
      401,
      'application/json',
      '{"status":401,"id":"A-1","code":"unauthorized","message":"the credential could not be verified"}',
      / is not upwave's admin API: it answered 401 with JSON of another form$/,
    ],
    [
      'a 401 of a third program',
      401,
      'application/json',
      '{"code":"NoKey","message":"API key missing"}',
      / it answered 401 with JSON of another form$/,
    ],
    ['a page of an error', 500, 'text/html', '<h1>hello</h1>', / it answered 500 with HTML$/],
  ])('reports that another program answers, with %s', async (_what, status, type, body, words) => {
    const other = ending(await startScriptedServer(aPage(status, type, body)));
    await expect(clientOf(other.url).listRollouts()).rejects.toMatchObject({
      kind: 'otherProgram',
      message: expect.stringMatching(words),
    });
  });

  it('reports that a proxy does not reach the daemon', async () => {
    const proxy = ending(await startScriptedServer(aPage(502, 'text/html', '<h1>Bad Gateway</h1>')));
    await expect(clientOf(proxy.url).listRollouts()).rejects.toMatchObject({
      kind: 'unreachable',
      message: `no upwave daemon answers at ${proxy.url}: a proxy before it answered 502 with HTML`,
    });
  });
});

function aPage(status: number, type: string, body: string): Script {
  return (_request, r) => sendText(r, status, body, { 'content-type': type });
}
