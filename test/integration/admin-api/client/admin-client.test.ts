import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../../../src/admin-api/admin-api.ts';
import { makeAdminClient } from '../../../../src/admin-api/client/admin-client.ts';
import { rolloutVerbs } from '../../../../src/rollout/verbs/verbs.ts';
import { anUpgrade, startedAt } from '../../../support/builders.ts';
import { aRolloutEvent, aRolloutStatus, makeFakeOperations } from '../../../support/fake-operations.ts';
import { namingNothing } from '../../../support/night/as-shown.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';

const running = 'production-20260302-1';
const word = { by: 'alice', reason: 'its disk is full' };
const verb = { rolloutId: running, verb: 'pause', by: 'alice', reason: 'looks odd' } as const;

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

  it('reads what the daemon tells', async () => {
    const { client } = await setUp({ token: 'open-sesame' });
    expect(await client.listRollouts()).toEqual([
      aRolloutStatus(),
      aRolloutStatus({ id: 'old', state: 'succeeded', endedAt: startedAt }),
    ]);
    expect(await client.pageRollouts({ limit: 1 })).toEqual({ rollouts: [aRolloutStatus()], next: running });
    expect((await client.pageRollouts({ before: running, limit: 1 })).next).toBeNull();
    expect(await client.rolloutStatus(running)).toEqual(aRolloutStatus());
    const search = { after: '1', limit: 5, state: ['pending' as const], match: 'web' };
    const { collectors, total } = await client.searchUpgrades(running, search);
    expect([collectors.map(({ collectorId }) => collectorId), total]).toEqual([[2], null]);
    expect(await client.readEvents(running, { limit: 1 })).toEqual([aRolloutEvent()]);
  });

  it.each(rolloutVerbs)('passes %s on as what it is', async (each) => {
    const { client, operations } = await setUp();
    const request = { ...verb, ...namingNothing[each] };
    await client.apply(request);
    expect(operations.requests).toEqual([request]);
  });

  it('passes on which plan is approved, and what is retried', async () => {
    const { client, operations } = await setUp();
    const approve = { ...verb, verb: 'approve', planHash: '7f3a' } as const;
    const retry = { ...verb, verb: 'retry', failed: 2, failureClass: 'timedOut' } as const;
    await client.apply(approve);
    await client.apply(retry);
    expect(operations.requests).toEqual([approve, retry]);
  });

  it('holds and releases, and tells what the word was found to name', async () => {
    const { client, operations } = await setUp();
    const request = { subject: 'Linux / amd64', ...word };
    const answer = { kind: 'done', subject: { kind: 'stratum', label: 'Linux', rolloutId: running } };
    expect(await client.hold(request)).toEqual(answer);
    expect(await client.release(request)).toEqual(answer);
    expect(operations.holdRequests).toEqual([
      { did: 'hold', ...request },
      { did: 'release', ...request },
    ]);
    await expect(client.hold({ subject: 'no-such', ...word })).rejects.toMatchObject({
      kind: 'notFound',
      message: 'nothing is called no-such',
    });
    await expect(client.release({ subject: 'web-8', ...word })).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the service does not answer',
    });
  });

  it('reads what is held, and who said so', async () => {
    const { client } = await setUp({ token: 'open-sesame' });
    const { collectors } = await client.listHolds();
    expect(collectors).toEqual([{ collectorId: 7, ...word, at: startedAt }]);
    expect(await client.readAudit(1)).toEqual([
      { event: 'collector.held', subject: '7', ...word, at: startedAt },
    ]);
  });

  it('asks where a collector stands, whatever its name holds', async () => {
    const { client } = await setUp();
    expect(await client.explain('../a/b')).toEqual({
      collectorId: 7,
      collectorName: '../a/b',
      build: '19.441-2',
      explanations: [],
      history: [],
    });
    await expect(client.explain('no-such')).rejects.toMatchObject({
      kind: 'notFound',
      message: 'no installed collector no-such; did you mean "web-7", "web-8"?',
    });
  });

  it('accepts a base URL with a slash at its end', async () => {
    const { api } = await setUp();
    expect(await clientOf(`${api.url}/`).listRollouts()).toHaveLength(2);
  });

  it('tells a refused verb, with the reason of the daemon', async () => {
    const { client } = await setUp();
    await expect(client.apply({ ...verb, rolloutId: 'old' })).rejects.toMatchObject({
      kind: 'refused',
      message: 'it has ended: succeeded',
    });
  });

  it('tells an unknown rollout', async () => {
    const { client } = await setUp();
    await expect(client.rolloutStatus('no/such one')).rejects.toMatchObject({
      kind: 'notFound',
      message: 'no rollout no/such one',
    });
  });

  it('tells a wrong token, and shows it nowhere', async () => {
    const { client } = await setUp({ token: 'open-sesame' }, 'close-sesame');
    const error = await client.listRollouts().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ kind: 'unauthorized', message: 'the token is wrong' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('sesame');
  });

  it('tells that Redis is away', async () => {
    const { client } = await setUp({ readiness: async () => ({ redis: { ok: false, reason: 'away' } }) });
    await expect(client.apply(verb)).rejects.toMatchObject({ kind: 'unavailable' });
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
