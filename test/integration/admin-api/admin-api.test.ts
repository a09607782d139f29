import { readdir, readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { type AdminApiParts, type RunningAdminApi, startAdminApi } from '../../../src/admin-api/admin-api.ts';
import { AdminErrorBody, adminApi } from '../../../src/contract/admin/api.ts';
import { CollectorExplanationBody } from '../../../src/contract/admin/collector-explanation.ts';
import { HeldThingsBody, HoldAnswerBody } from '../../../src/contract/admin/holds.ts';
import { RolloutStatusBody, UpgradeBody } from '../../../src/contract/admin/rollout-status.ts';
import { makeMetrics } from '../../../src/observability/metrics.ts';
import { isRedisSilence } from '../../../src/redis/connection/redis-errors.ts';
import { anUpgrade, because, startedAt } from '../../support/builders.ts';
import {
  anExplanation,
  aRolloutEvent,
  aRolloutStatus,
  countsOf,
  makeFakeOperations,
} from '../../support/fake-operations.ts';
import { askRaw as ask } from '../../support/network/ask-raw.ts';

const running = 'production-20260302-1';
const ended = 'production-20260201-1';
/** Names come from machines: this one would leave its place in a path, were it not encoded. */
const oddName = '../a//b c?%2F#ü';
const word = { by: 'alice', reason: 'its disk is full', at: startedAt };
const token = 'correct-horse-battery-staple';

function someOperations() {
  return makeFakeOperations({
    rollouts: [
      aRolloutStatus({ planned: 4, counts: countsOf({ succeeded: 1, upgrading: 1, pending: 1, failed: 1 }) }),
      aRolloutStatus({ id: ended, state: 'succeeded', endedAt: startedAt }),
    ],
    upgrades: [
      anUpgrade({
        state: 'succeeded',
        endedAt: startedAt,
        reason: because('on the build and alive'),
        weight: 0,
        lost: false,
      }),
      anUpgrade(
        {
          state: 'upgrading',
          taskId: '99',
          startedAt,
          polledAt: startedAt,
          deadlineAt: startedAt + 1,
          dueAt: startedAt + 30_000,
          ending: null,
        },
        { collectorId: 2, collectorName: '<b>two</b>', order: 2, attempts: 1, firstStartedAt: startedAt },
      ),
      anUpgrade({ state: 'pending' }, { collectorId: 3, order: 3, wave: 1 }),
      anUpgrade(
        {
          state: 'failed',
          endedAt: startedAt,
          reason: because('no space left'),
          weight: 1,
          lost: false,
          failureClass: 'retry',
        },
        { collectorId: 4, order: 4, wave: 1 },
      ),
    ],
    events: [aRolloutEvent(), aRolloutEvent({ event: 'wave.opened', wave: 'canary' })],
    held: {
      builds: [{ build: '19.536-4', ...word }],
      collectors: [{ collectorId: 7, ...word }],
      strata: [{ policy: 'production', isEnded: false, rolloutId: running, label: 'Linux / amd64', ...word }],
    },
    audit: [
      { event: 'collector.held', subject: '7', ...word },
      { event: 'build.held', subject: '19.536-4', ...word },
    ],
    holdResults: {
      '19.536-4': { kind: 'done', subject: { kind: 'build', build: '19.536-4' } },
      'web-7': { kind: 'unchanged', subject: { kind: 'collector', collectorId: 7, name: 'web-7' } },
      'Linux / amd64': {
        kind: 'done',
        subject: { kind: 'stratum', label: 'Linux / amd64', rolloutId: running },
      },
      'web-8': { kind: 'unavailable', reason: 'the service does not answer' },
    },
    explanations: {
      [oddName]: {
        kind: 'explained',
        collectorId: 7,
        collectorName: oddName,
        build: '19.441-2',
        explanations: [anExplanation({ rollout: running, reason: 'the window is closed', until: startedAt })],
        history: [],
      },
      'web-8': { kind: 'unavailable', reason: 'the service does not answer' },
    },
  });
}

const segments = ['pause', 'resume', 'approve', 'skip-soak', 'abort', 'rollback', 'retry'] as const;

describe('startAdminApi', () => {
  let api: RunningAdminApi | undefined;
  let now = startedAt;
  let operations = someOperations();
  const told: unknown[] = [];

  const start = async (parts: Partial<AdminApiParts> = {}) => {
    now = startedAt;
    told.length = 0;
    operations = someOperations();
    api = await startAdminApi({
      host: '127.0.0.1',
      port: 0,
      token: undefined,
      operations,
      metrics: makeMetrics({ version: '1', policies: ['production'], sharedState: async () => null }),
      readiness: async () => ({ redis: { ok: true, reason: 'answers' } }),
      version: '0.1.0',
      clock: { now: () => now },
      reportError: (error) => void told.push(error),
      ...parts,
    });
    const v1 = `${api.url}/api/v1`;
    const send = (method: string) => (path: string, body?: object | string) =>
      ask(`${v1}${path}`, {
        method,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
    return { url: api.url, v1, get: (path: string) => ask(`${v1}${path}`), post: send('POST'), send };
  };
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const nothingDone = () => {
    expect(operations.requests).toEqual([]);
    expect(operations.holdRequests).toEqual([]);
  };

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  describe('health', () => {
    it.each([
      [async () => ({ redis: { ok: true, reason: 'answers' } }), 200, '"ready":true'],
      [async () => ({ redis: { ok: false, reason: 'ECONNREFUSED' } }), 503, 'ECONNREFUSED'],
      [() => Promise.reject(new Error('secret inside')), 503, '"ready":false'],
    ])(
      'is alive whatever the checks say, and ready when they all do: %#',
      async (readiness, status, words) => {
        const { url } = await start({ readiness });
        const alive = await ask(`${url}/healthz`);
        expect([alive.status, alive.json()]).toEqual([200, { alive: true, version: '0.1.0' }]);
        const ready = await ask(`${url}/readyz`);
        expect([ready.status, ready.text]).toEqual([status, expect.stringContaining(words)]);
        expect(ready.text).not.toContain('secret inside');
      },
    );
  });

  describe('metrics', () => {
    it('are served in the text format of Prometheus', async () => {
      const { url } = await start();
      const answer = await ask(`${url}/metrics`);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(answer.text).toMatch(/^upwave_leader 0$/m);
    });
  });

  describe('reads', () => {
    it('pages through all rollouts that are kept, with what to ask for next', async () => {
      const { get } = await start();
      const pageOf = async (query: string) => {
        const answer = await get(`/rollouts${query}`);
        const { rollouts, next } = answer.json() as { rollouts: unknown[]; next: string | null };
        return { ids: rollouts.map((rollout) => RolloutStatusBody.parse(rollout).id), next };
      };
      expect(await pageOf('')).toEqual({ ids: [running, ended], next: running });
      expect(await pageOf('?limit=1')).toEqual({ ids: [running], next: running });
      expect(await pageOf(`?limit=1&before=${running}`)).toEqual({ ids: [ended], next: null });
      expect(await pageOf(`?before=${ended}`)).toEqual({ ids: [], next: null });
      expect((await get('/rollouts?before=unknown-20260101-1')).status).toBe(404);
      expect((await get('/rollouts?limit=101')).status).toBe(400);
    });

    it('shows one rollout, its legal verbs, its latest events, and its collectors by page and state', async () => {
      const { get } = await start();
      const read = async (part: string) => (await get(`/rollouts/${running}${part}`)).json();
      expect(RolloutStatusBody.parse(await read(''))).toMatchObject({ id: running, state: 'running' });
      expect(await read('/verbs')).toEqual({ verbs: ['pause', 'abort', 'rollback'] });
      expect(await read('/events?limit=1')).toEqual({ events: [aRolloutEvent()] });
      const { collectors, total, next } = (await read('/collectors?limit=2&after=1')) as Record<
        string,
        unknown
      > & { collectors: unknown[] };
      expect([total, next]).toEqual([4, '3']);
      expect(collectors.map((collector) => UpgradeBody.parse(collector))).toEqual([
        {
          collectorId: 2,
          collectorName: '<b>two</b>',
          wave: 'canary',
          stratum: '',
          order: 2,
          state: 'upgrading',
          reason: null,
          reasonKind: null,
          fromBuild: '19.441-2',
          toBuild: '19.536-4',
          attempts: 1,
          taskId: '99',
          startedAt,
          dueAt: startedAt + 30_000,
          endedAt: null,
          failureClass: null,
        },
        expect.objectContaining({ collectorId: 3, wave: 'rest', state: 'pending' }),
      ]);
      expect(await read('/collectors?state=failed')).toMatchObject({
        collectors: [{ state: 'failed', failureClass: 'retry' }],
        total: 1,
      });
    });

    it('searches collectors by words and wave, and says of a wave that it does not know it', async () => {
      const { get } = await start();
      const found = await get(`/rollouts/${running}/collectors?match=TWO&wave=canary&state=queued,upgrading`);
      expect(found.json()).toMatchObject({ collectors: [{ collectorId: 2 }], total: null, next: null });
      expect((await get(`/rollouts/${running}/collectors?wave=nightly`)).status).toBe(404);
    });

    it('answers 404 for what is not there, and 400 for a page that cannot be, naming what is wrong', async () => {
      const { get } = await start();
      const unknown = ['', '/collectors', '/events', '/verbs'].map((part) => `/rollouts/no-such${part}`);
      for (const path of [...unknown, '/nothing/here']) {
        const answer = await get(path);
        expect([path, answer.status, AdminErrorBody.parse(answer.json()).code]).toEqual([
          path,
          404,
          'notFound',
        ]);
      }
      for (const query of ['limit=0', 'limit=100000', 'after=-1', 'limit=x', 'state=sleeping']) {
        const answer = await get(`/rollouts/${running}/collectors?${query}`);
        expect(answer.status).toBe(400);
        expect(AdminErrorBody.parse(answer.json()).message).toContain(`query.${query.split('=')[0]}`);
      }
    });
  });

  describe('verbs', () => {
    /** What each verb names (P15). */
    const bodies: Readonly<Record<string, object>> = {
      resume: { hold: 17 },
      approve: { wave: 'rest' },
      'skip-soak': { wave: 'canary' },
      retry: { failed: 3 },
    };
    const stated = (segment: string) => ({ reason: 'looks odd', by: 'alice', ...bodies[segment] });

    it.each([
      ['pause', 'pause', 'paused'],
      ['resume', 'resume', 'running'],
      ['approve', 'approve', 'running'],
      ['skip-soak', 'skipSoak', 'running'],
      ['abort', 'abort', 'aborted'],
      ['rollback', 'rollback', 'rollingBack'],
      ['retry', 'retry', 'running'],
    ])('%s answers with the rollout as it is now', async (segment, verb, state) => {
      const { post, send } = await start();
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'])
        expect([404, 405]).toContain((await send(method)(`/rollouts/${running}/${segment}`)).status);
      const unknown = await post(`/rollouts/no-such/${segment}`, stated(segment));
      expect(unknown.status).toBe(404);
      const refused = await post(`/rollouts/${ended}/${segment}`, stated(segment));
      expect(refused.status).toBe(409);
      expect(refused.json()).toEqual({ code: 'refused', message: 'it has ended: succeeded' });
      const answer = await post(`/rollouts/${running}/${segment}`, stated(segment));
      expect(answer.status).toBe(200);
      expect(RolloutStatusBody.parse(answer.json()).state).toBe(state);
      expect(operations.requests.at(-1)).toEqual({ rolloutId: running, verb, ...stated(segment) });
    });

    it.each([
      ['resume', 'name the hold that is meant: `hold` of GET /rollouts/{id}'],
      ['approve', 'name what is approved: `wave`, or the `planHash` of a plan, and not both'],
      ['skip-soak', 'name the `wave` that is meant'],
      ['retry', 'state how many had `failed` when you decided'],
    ])('%s that names nothing is refused, with what to name (P15)', async (segment, message) => {
      const { post } = await start();
      for (const body of [undefined, { reason: 'x' }]) {
        const answer = await post(`/rollouts/${running}/${segment}`, body);
        expect(answer.status).toBe(400);
        expect(AdminErrorBody.parse(answer.json()).message).toContain(message);
      }
      nothingDone();
    });

    it('pause, abort and rollback need no body: the brake works in a hurry', async () => {
      for (const segment of ['pause', 'abort', 'rollback']) {
        const { post } = await start();
        expect((await post(`/rollouts/${running}/${segment}`)).status).toBe(200);
        expect(operations.requests).toEqual([
          { rolloutId: running, verb: expect.any(String), by: 'operator', reason: 'no reason given' },
        ]);
        await api?.close();
      }
    });

    it('approve the plan that was seen, and retry only failures of the kind that is named', async () => {
      const { post } = await start();
      await post(`/rollouts/${running}/approve`, { planHash: '7f3a' });
      await post(`/rollouts/${running}/retry`, { failureClass: 'timedOut', failed: 2 });
      expect(operations.requests).toMatchObject([
        { verb: 'approve', planHash: '7f3a' },
        { verb: 'retry', failureClass: 'timedOut' },
      ]);
    });

    it('with a body that is not as described are refused before they are done', async () => {
      const { post } = await start();
      for (const [segment, body, status] of [
        ['approve', { planHash: '' }, 400],
        ['approve', { planHash: 5 }, 400],
        ['approve', { planHash: '7f3a', wave: 'rest' }, 400],
        ['retry', { failed: 2, failureClass: 7 }, 400],
        ['retry', { failed: -1 }, 400],
        ['pause', '{"reason":', 400],
        ['pause', { reason: 5 }, 400],
        // The daemon's own name.
        ['pause', { by: 'daemon' }, 400],
        ['pause', { reason: 'x'.repeat(501) }, 400],
        ['pause', { reason: 'x'.repeat(20_000) }, 413],
      ] as const) {
        const answer = await post(`/rollouts/${running}/${segment}`, body);
        expect([segment, body, answer.status]).toEqual([segment, body, status]);
        AdminErrorBody.parse(answer.json());
      }
      nothingDone();
    });

    it('are done from our own page, and refused from a page of any other origin', async () => {
      const { url, v1 } = await start();
      const pauseFrom = (origin: string) =>
        ask(`${v1}/rollouts/${running}/pause`, { method: 'POST', headers: { origin } });
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', 'no url'])
        expect((await pauseFrom(origin)).status).toBe(403);
      nothingDone();
      expect((await pauseFrom(url)).status).toBe(200);
    });
  });

  describe('holds', () => {
    it.each([
      ['holds', 'hold'],
      ['releases', 'release'],
    ])('are changed by a POST to /%s, which says what the word was found to name', async (path, did) => {
      const { post } = await start();
      const by = 'alice';
      const reason = 'its disk is full';
      const build = await post(`/${path}`, { subject: ' 19.536-4 ', by, reason });
      expect(build.status).toBe(200);
      expect(HoldAnswerBody.parse(build.json())).toEqual({
        kind: 'done',
        subject: { kind: 'build', build: '19.536-4' },
      });
      expect((await post(`/${path}`, { subject: 'web-7' })).json()).toEqual({
        kind: 'unchanged',
        subject: { kind: 'collector', collectorId: 7, name: 'web-7' },
      });
      expect((await post(`/${path}`, { subject: 'Linux / amd64' })).json()).toMatchObject({
        subject: { kind: 'stratum', rolloutId: running },
      });
      expect(operations.holdRequests).toEqual([
        { did, subject: '19.536-4', by, reason },
        { did, subject: 'web-7', by: 'operator', reason: 'no reason given' },
        { did, subject: 'Linux / amd64', by: 'operator', reason: 'no reason given' },
      ]);
    });

    it.each(['/holds', '/releases'])('at %s are refused with the reason', async (path) => {
      const { post } = await start();
      const unknown = await post(path, { subject: 'no-such' });
      expect([unknown.status, unknown.json()]).toEqual([
        404,
        { code: 'notFound', message: 'nothing is called no-such' },
      ]);
      const unavailable = await post(path, { subject: 'web-8' });
      expect([unavailable.status, unavailable.json()]).toEqual([
        503,
        { code: 'unavailable', message: 'the service does not answer' },
      ]);
      const asked = [...operations.holdRequests];
      const bad = [
        '',
        '{}',
        '{"subject":""}',
        '{"subject":7}',
        '{"subject":"web-7","by":"daemon"}',
        '{"subject":',
      ];
      for (const body of bad) {
        const answer = await post(path, body);
        expect([body, answer.status]).toEqual([body, 400]);
        AdminErrorBody.parse(answer.json());
      }
      expect(operations.holdRequests).toEqual(asked);
    });

    it('are listed with who and why, and leave a trace that can be read back', async () => {
      const { get, send } = await start();
      expect(HeldThingsBody.parse((await get('/holds')).json())).toEqual({
        builds: [{ build: '19.536-4', ...word }],
        collectors: [{ collectorId: 7, ...word }],
        strata: [
          { policy: 'production', isEnded: false, rolloutId: running, label: 'Linux / amd64', ...word },
        ],
      });
      expect((await get('/audit?limit=1')).json()).toEqual({
        entries: [{ event: 'collector.held', subject: '7', ...word }],
      });
      expect((await get('/audit')).json()).toMatchObject({ entries: [{}, {}] });
      for (const limit of ['0', '1001', 'x']) expect((await get(`/audit?limit=${limit}`)).status).toBe(400);
      expect((await get('/releases')).status).toBe(405);
      expect((await get('/holds?subject=web-7')).status).toBe(200);
      expect((await send('DELETE')('/holds')).status).toBe(405);
      nothingDone();
    });
  });

  describe('explanations', () => {
    it('say where a collector stands, whatever its name holds, or why that is not known', async () => {
      const { get } = await start();
      const explain = (name: string) => get(`/collectors/${encodeURIComponent(name)}/explanation`);
      const answer = await explain(oddName);
      expect(answer.status).toBe(200);
      expect(CollectorExplanationBody.parse(answer.json())).toEqual({
        collectorId: 7,
        collectorName: oddName,
        build: '19.441-2',
        explanations: [anExplanation({ rollout: running, reason: 'the window is closed', until: startedAt })],
        history: [],
      });
      const unknown = await explain('no-such');
      expect([unknown.status, unknown.json()]).toEqual([
        404,
        { code: 'notFound', message: 'no installed collector no-such; did you mean "web-7", "web-8"?' },
      ]);
      const unavailable = await explain('web-8');
      expect([unavailable.status, unavailable.json()]).toEqual([
        503,
        { code: 'unavailable', message: 'the service does not answer' },
      ]);
    });
  });

  describe('what takes long', () => {
    it('is waited for beyond the time of a read, but not for ever, and longest where the fleet is read', async () => {
      const parts = { readWithinMs: 1, actWithinMs: 40, approveWithinMs: 80 };
      const { get, post } = await start(parts);
      operations.hang();
      for (const [withinMs, answering] of [
        [40, post(`/rollouts/${running}/pause`)],
        [40, post('/holds', { subject: 'web-7' })],
        [40, post('/releases', { subject: 'web-7' })],
        [40, get('/collectors/7/explanation')],
        [80, post(`/rollouts/${running}/approve`, { wave: 'rest' })],
      ] as const) {
        const answer = await answering;
        expect(answer.status).toBe(503);
        expect(AdminErrorBody.parse(answer.json()).message).toContain(`no end within ${withinMs}ms`);
      }
      expect((await get('/rollouts')).status).toBe(503);
    });
  });

  describe('without Redis', () => {
    const away = async () => ({ redis: { ok: false, reason: 'ECONNREFUSED' } });

    it('answers 503 for every read, and calls it no bug', async () => {
      const { get } = await start({ readiness: away });
      operations.breakWith(new Error('Connection is closed.'));
      const ofRollout = ['', '/events', '/verbs'].map((part) => `/rollouts/${running}${part}`);
      for (const path of ['/rollouts', ...ofRollout, '/holds', '/audit', '/collectors/7/explanation']) {
        const answer = await get(path);
        expect([path, answer.status, AdminErrorBody.parse(answer.json()).code]).toEqual([
          path,
          503,
          'unavailable',
        ]);
      }
      expect(told).toEqual([]);
    });

    it('answers 503 for a verb and a hold at once, without waiting for Redis to come back', async () => {
      const { post } = await start({ readiness: away });
      operations.hang();
      for (const path of [`/rollouts/${running}/pause`, '/holds', '/releases']) {
        const answer = await post(path, path.startsWith('/rollouts') ? undefined : { subject: 'web-7' });
        expect(answer.status).toBe(503);
        expect(AdminErrorBody.parse(answer.json()).message).toContain('Redis does not answer');
      }
      nothingDone();
    });

    it('says that it is not known whether a verb holds that Redis did not answer', async () => {
      const { get, post } = await start({ isUnavailable: isRedisSilence });
      operations.breakWith(new Error('Command timed out'));
      for (const verb of ['pause', 'approve']) {
        const answer = await post(`/rollouts/${running}/${verb}`, { wave: 'rest' });
        expect([answer.status, AdminErrorBody.parse(answer.json()).message]).toEqual([
          503,
          'Redis does not answer; whether this was stored is unknown: repeat it',
        ]);
      }
      const read = await get('/rollouts');
      expect([read.status, AdminErrorBody.parse(read.json()).message]).toEqual([
        503,
        expect.stringContaining('Redis does not answer, so the state is unknown'),
      ]);
    });

    it('answers 500 for a bug, tells it to the log and not to the asker', async () => {
      const { get } = await start();
      operations.breakWith(new Error('undefined is not a function'));
      const answer = await get('/rollouts');
      expect(answer.status).toBe(500);
      expect(answer.text).not.toContain('undefined is not');
      expect(told).toEqual([new Error('undefined is not a function')]);
    });
  });

  describe('with a token', () => {
    it('serves all but the page and health only to its bearer, and shows it in no answer', async () => {
      const { url } = await start({ token });
      const asWhom = async (path: string, headers?: Record<string, string>) => {
        const answer = await ask(`${url}${path}`, { headers: headers ?? {} });
        expect(answer.text + JSON.stringify(answer.headers)).not.toContain(token);
        return answer.status;
      };
      const reads = ['rollouts', 'holds', 'audit', 'openapi.json'].map((path) => `/api/v1/${path}`);
      for (const path of ['/metrics', ...reads, '/nothing']) {
        for (const headers of [{}, bearer('wrong'), { authorization: `Basic ${token}` }])
          expect([path, await asWhom(path, headers)]).toEqual([path, 401]);
        expect([path, await asWhom(path, bearer(token))]).toEqual([path, path === '/nothing' ? 404 : 200]);
      }
      for (const path of ['/', '/healthz', '/readyz']) expect(await asWhom(path)).toBe(200);
    });

    it('names no host at /readyz to who has none: whether, what kind and since when', async () => {
      const since = startedAt;
      const redis = {
        ok: false,
        kind: 'away',
        since,
        reason: 'no connection to redis://db.internal',
      } as const;
      const { url } = await start({ token, readiness: async () => ({ redis }) });
      const checks = { redis: { ok: false, kind: 'away', since } };
      for (const headers of [{}, bearer('wrong')]) {
        const answer = await ask(`${url}/readyz`, { headers });
        expect([answer.status, answer.json()]).toEqual([503, { ready: false, checks }]);
      }
      const shown = await ask(`${url}/readyz`, { headers: bearer(token) });
      expect(shown.json()).toEqual({ ready: false, checks: { redis } });
    });

    it('does no verb without it', async () => {
      const { get, post } = await start({ token });
      for (const segment of segments)
        expect((await post(`/rollouts/${running}/${segment}`)).status).toBe(401);
      for (const path of ['/holds', '/releases'])
        expect((await post(path, { subject: 'web-7' })).status).toBe(401);
      expect((await get('/collectors/7/explanation')).status).toBe(401);
      nothingDone();
    });

    it('serves requests that name another host or came through a proxy', async () => {
      const { v1 } = await start({ token });
      const headers = { ...bearer(token), host: 'upwave.example.com', 'x-forwarded-for': '203.0.113.7' };
      expect((await ask(`${v1}/rollouts`, { headers })).status).toBe(200);
    });

    it('tells an address to wait for a minute after many wrong tokens, and lets the right one pass (P4)', async () => {
      const { v1, get } = await start({ token });
      const guess = (value: string) => ask(`${v1}/rollouts`, { headers: bearer(value) });
      // Without a token nothing is guessed.
      for (let count = 0; count < 30; count += 1) await get('/rollouts');
      for (let count = 0; count < 20; count += 1) expect((await guess(`guess-${count}`)).status).toBe(401);
      expect(await guess('guess-21')).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
      expect((await guess(token)).status).toBe(200);
      now += 60_000;
      expect((await guess('guess-22')).status).toBe(401);
    });
  });

  describe('with named tokens and a trusted proxy', () => {
    const tokenOf = (name: string) => `token-of-${name}-0123456789`;
    const tokens = (['viewer', 'operator', 'metrics'] as const).map((role) => ({
      ...{ name: `mia-${role}`, role, token: tokenOf(role) },
    }));
    const pauseBy = (base: string, headers: Record<string, string>) =>
      ask(`${base}/rollouts/${running}/pause`, { method: 'POST', headers, body: '{"by":"somebody else"}' });

    it('does a verb in the name of its token, whatever name the request gives itself', async () => {
      const { v1 } = await start({ tokens });
      expect((await pauseBy(v1, bearer(tokenOf('operator')))).status).toBe(200);
      expect(operations.requests).toMatchObject([{ verb: 'pause', by: 'mia-operator' }]);
      expect((await ask(`${v1}/me`, { headers: bearer(tokenOf('operator')) })).json()).toEqual({
        ...{ name: 'mia-operator', role: 'operator' },
      });
    });

    it('lets a viewer read, and refuses every verb in words', async () => {
      const { v1 } = await start({ tokens });
      const headers = bearer(tokenOf('viewer'));
      expect((await ask(`${v1}/rollouts`, { headers })).status).toBe(200);
      for (const segment of [...segments, 'repair']) {
        const answer = await ask(`${v1}/rollouts/${running}/${segment}`, { method: 'POST', headers });
        expect([segment, answer.status]).toEqual([segment, 403]);
        expect(AdminErrorBody.parse(answer.json()).message).toBe(
          'mia-viewer is a viewer and may change nothing; an operator can do this',
        );
      }
      for (const path of ['holds', 'releases', 'reload', 'policies/production/start'])
        expect((await ask(`${v1}/${path}`, { method: 'POST', headers })).status).toBe(403);
      // It reads the whole fleet.
      expect((await ask(`${v1}/policies/production/start-preview`, { headers })).status).toBe(403);
      expect(operations.requests).toEqual([]);
    });

    it('lets a scraper read the metrics alone', async () => {
      const { url, v1 } = await start({ tokens });
      const headers = bearer(tokenOf('metrics'));
      expect((await ask(`${url}/metrics`, { headers })).status).toBe(200);
      expect((await ask(`${v1}/rollouts`, { headers })).status).toBe(403);
      expect((await pauseBy(v1, headers)).status).toBe(403);
    });

    it('believes the user header of a proxy from its addresses, and from no other', async () => {
      const proxy = { userHeader: 'X-Forwarded-User', role: 'operator' } as const;
      const headers = { 'x-forwarded-user': 'alice@example.com', 'x-forwarded-for': '203.0.113.7' };
      const trusted = await start({ tokens, trustedProxy: { ...proxy, addresses: ['127.0.0.0/8'] } });
      expect((await pauseBy(trusted.v1, headers)).status).toBe(200);
      expect(operations.requests).toMatchObject([{ by: 'alice@example.com' }]);
      expect((await pauseBy(trusted.v1, { 'x-forwarded-user': 'a b' })).status).toBe(401);
      const strange = await start({ tokens, trustedProxy: { ...proxy, addresses: ['10.0.0.7'] } });
      expect((await pauseBy(strange.v1, headers)).status).toBe(401);
      const alone = await start({ trustedProxy: { ...proxy, addresses: ['10.0.0.7', '2001:db8::/32'] } });
      expect((await pauseBy(alone.v1, headers)).status).toBe(403);
    });
  });

  describe('without a token', () => {
    const outer = Object.values(networkInterfaces())
      .flat()
      .find((address) => address !== undefined && address.family === 'IPv4' && !address.internal)?.address;

    it.skipIf(outer === undefined)(
      'refuses connections that do not come from this machine itself (skipped without a network)',
      async () => {
        const { url } = await start({ host: '0.0.0.0' });
        const { port } = new URL(url);
        for (const path of ['/', '/healthz', '/metrics', '/api/v1/rollouts']) {
          const answer = await ask(`http://${outer}:${port}${path}`);
          expect(answer.status).toBe(403);
        }
        expect((await ask(`http://127.0.0.1:${port}/api/v1/rollouts`)).status).toBe(200);
      },
    );

    it('takes IPv4 inside IPv6 for what it is', async () => {
      const { url } = await start({ host: '::' }).catch(() => ({ url: '' }));
      if (url === '') return; // This machine has no IPv6.
      expect((await ask(`http://127.0.0.1:${new URL(url).port}/healthz`)).status).toBe(200);
    });

    it('serves its own names, and refuses others, and what a proxy passed on', async () => {
      const { v1 } = await start();
      const status = async (headers: Record<string, string>, method = 'GET') =>
        (
          await ask(method === 'GET' ? `${v1}/rollouts` : `${v1}/rollouts/${running}/pause`, {
            method,
            headers,
          })
        ).status;
      for (const host of ['localhost:9464', '127.0.0.1', '[::1]:9464', 'LOCALHOST'])
        expect([host, await status({ host })]).toEqual([host, 200]);
      // A stranger may have pointed its name here.
      for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io:9464', ''])
        expect([400, 403]).toContain(await status({ host, origin: `http://${host}` }, 'POST'));
      for (const header of ['x-forwarded-for', 'forwarded'])
        expect(await status({ [header]: '203.0.113.7' })).toBe(403);
      nothingDone();
    });
  });

  describe('the OpenAPI document', () => {
    it('describes every operation of the contract, with nothing left dangling', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/openapi.json`);
      expect(answer.headers['content-type']).toContain('application/json');
      const document = answer.json() as {
        openapi: string;
        paths: Record<
          string,
          Record<string, { operationId: string; responses: object; requestBody?: object }>
        >;
        components: { schemas: Record<string, object> };
      };
      expect(document.openapi).toBe('3.1.0');
      for (const { name, method, path } of adminApi) {
        expect(document.paths[path]?.[method.toLowerCase()]?.operationId).toBe(name);
      }
      const described = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
      expect(described).toHaveLength(adminApi.length);
      const references = [...answer.text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target ?? '');
      expect(references.length).toBeGreaterThan(5);
      for (const target of references) {
        expect(target).toMatch(/^#\/components\/schemas\//);
        expect(document.components.schemas).toHaveProperty(target.split('/').at(-1) ?? '');
      }
      const pause = document.paths['/rollouts/{id}/pause']?.['post'];
      expect(Object.keys(pause?.responses ?? {})).toEqual(['200', '404', '409', '503', 'default']);
      expect(pause?.requestBody).toMatchObject({ required: false });
      const holds = document.paths['/holds']?.['post'];
      expect(Object.keys(holds?.responses ?? {})).toEqual(['200', '404', '503', 'default']);
      expect(holds?.requestBody).toMatchObject({ required: true });
    });
  });

  describe('the page', () => {
    it('lets only its own style and script run', async () => {
      const { url } = await start();
      const { headers, text } = await ask(`${url}/`);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      const policy = String(headers['content-security-policy']);
      const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? 'none';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(text.split(`nonce="${nonce}"`)).toHaveLength(3);
      expect(text.match(/<(script|style)\b/g)).toHaveLength(2);
    });

    it('gets a new nonce each time', async () => {
      const { url } = await start();
      const policies = await Promise.all([ask(`${url}/`), ask(`${url}/`)]);
      const [one, two] = policies.map(({ headers }) => headers['content-security-policy']);
      expect(one).not.toBe(two);
    });

    it('holds no inline handler, no markup made from data and nothing from elsewhere', async () => {
      const { url } = await start();
      const { text, headers } = await ask(`${url}/`);
      const markup = text.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '');
      expect(markup).not.toMatch(/\son\w+\s*=/i);
      expect(markup).not.toMatch(/\sstyle\s*=/i);
      // The framework could make markup of a text: the page never asks it to, and the browser would refuse it.
      expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
      const page = new URL('../../../src/admin-api/page/', import.meta.url);
      const sources = (await readdir(page)).filter((name) => /\.tsx?$/.test(name));
      expect(sources.length).toBeGreaterThan(10);
      for (const name of sources)
        expect(await readFile(new URL(name, page), 'utf8')).not.toMatch(
          /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/i,
        );
      expect(text).not.toMatch(/outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
      expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/(src|href)="?(https?:)?\/\//);
    });

    it('has a script that parses', async () => {
      const { url } = await start();
      const { text } = await ask(`${url}/`);
      const script = /<script[^>]*>([\s\S]*)<\/script>/.exec(text)?.[1] ?? '';
      expect(script.length).toBeGreaterThan(1_000);
      expect(() => runInNewContext(`(function () {${script}})`)).not.toThrow();
    });
  });

  it('forbids browsers to guess, frame, cache or pass on anything', async () => {
    const { url } = await start();
    for (const path of ['/', '/healthz', '/api/v1/rollouts', '/nothing']) {
      const { headers } = await ask(`${url}${path}`);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(String(headers['content-security-policy'])).toContain("default-src 'none'");
    }
  });

  it('closes at once, also while a request waits', async () => {
    const { v1 } = await start();
    operations.hang();
    const waiting = ask(`${v1}/rollouts`).catch((error: Error) => error);
    await new Promise((resolve) => setImmediate(resolve));
    await api?.close();
    expect(await waiting).toBeDefined();
  });
});
