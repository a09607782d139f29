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
    ['a page', 200, 'text/html', '<h1>hello</h1>', /./],
    ['a page of an unknown path', 404, 'text/html', '<h1>hello</h1>', /./],
    ['a page of an error', 500, 'text/html', '<h1>hello</h1>', /./],
  ])('reports that another program answers, with %s', async (_what, status, type, body, words) => {
    const page: Script = (_request, r) => sendText(r, status, body, { 'content-type': type });
    const other = ending(await startScriptedServer(page));
    await expect(clientOf(other.url).listRollouts()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(words),
    });
  });
});
