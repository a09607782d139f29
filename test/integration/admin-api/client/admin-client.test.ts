import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../../../src/admin-api/admin-api.ts';
import { makeAdminClient } from '../../../../src/admin-api/client/admin-client.ts';
import { anUpgrade, startedAt } from '../../../support/builders.ts';
import { aRolloutEvent, aRolloutStatus, makeFakeOperations } from '../../../support/fake-operations.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';

const running = 'production-20260302-1';
const word = { by: 'alice', reason: 'its disk is full' };

describe('makeAdminClient', () => {
  const closers: (() => Promise<unknown>)[] = [];

  const setUp = async (parts: Partial<AdminApiParts> = {}, token = parts.token) => {
    const operations = makeFakeOperations({
      rollouts: [aRolloutStatus(), aRolloutStatus({ id: 'old', state: 'succeeded', endedAt: startedAt })],
      upgrades: [
        anUpgrade({ state: 'pending' }),
        anUpgrade({ state: 'pending' }, { collectorId: 2, order: 2 }),
      ],
      events: [aRolloutEvent(), aRolloutEvent({ event: 'wave.opened' })],
      held: { builds: [], collectors: [{ collectorId: 7, ...word, at: startedAt }], strata: [] },
      audit: [
        { event: 'collector.held', subject: '7', ...word, at: startedAt },
        { event: 'build.held', subject: '19.536-4', ...word, at: startedAt },
      ],
      holdResults: {
        'Linux / amd64': { kind: 'done', subject: { kind: 'stratum', label: 'Linux', rolloutId: running } },
        'web-8': { kind: 'unavailable', reason: 'the service does not answer' },
      },
      explanations: {
        '../a/b': {
          kind: 'explained',
          collectorId: 7,
          collectorName: '../a/b',
          build: '19.441-2',
          explanations: [],
          history: [],
        },
      },
    });
    const api = await startFakeAdminApi(operations, parts);
    const client = clientOf(api.url, token);
    closers.push(() => api.close());
    return { client, operations, api };
  };
  const clientOf = (baseUrl: string, token?: string) => {
    const client = makeAdminClient({ baseUrl, token });
    closers.push(() => client.close());
    return client;
  };

  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  it('accepts a base URL with a slash at its end', async () => {
    const { api } = await setUp();
    expect(await clientOf(`${api.url}/`).listRollouts()).toHaveLength(2);
  });

  it('tells a wrong token, and shows it nowhere', async () => {
    const { client } = await setUp({ token: 'open-sesame' }, 'close-sesame');
    const error = await client.listRollouts().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ kind: 'unauthorized', message: 'the token is wrong' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('sesame');
  });

  it('tells a bug of the daemon', async () => {
    const { client, operations } = await setUp();
    operations.breakWith(new Error('a bug'));
    await expect(client.listRollouts()).rejects.toMatchObject({ kind: 'failed' });
  });

  it('tells that nobody answers', async () => {
    const nobody = 'http://127.0.0.1:1';
    await expect(clientOf(nobody).listRollouts()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(nobody),
    });
  });

  it('tells that another version answers there, with JSON of another form', async () => {
    const other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"rollouts":[{"id":7}]}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    closers.push(async () => other.close());
    const client = clientOf(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    await expect(client.listRollouts()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(
        /another form than this version of upwave expects .*: it is another version/,
      ),
    });
  });

  it.each([200, 404, 500])(
    'tells that somebody else answers there, with a page of status %d',
    async (status) => {
      const other = createServer((_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>hello</h1>');
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      closers.push(async () => other.close());
      const client = clientOf(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
      await expect(client.listRollouts()).rejects.toMatchObject({ kind: 'unreachable' });
    },
  );

  it("gives up with its caller's reason", async () => {
    const { client, operations } = await setUp();
    operations.hang();
    const caller = new AbortController();
    const answer = client.listRollouts(caller.signal);
    caller.abort(new Error('the operator pressed Ctrl-C'));
    await expect(answer).rejects.toThrow('the operator pressed Ctrl-C');
  });
});
