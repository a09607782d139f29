import { spawnSync } from 'node:child_process';
import { request as httpRequest } from 'node:http';
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
import { anUpgrade, aScanEntry, startedAt } from '../../support/builders.ts';
import {
  anExplanation,
  aRolloutEvent,
  aRolloutStatus,
  countsOf,
  makeFakeOperations,
} from '../../support/fake-operations.ts';

const running = 'production-20260302-1';
const ended = 'production-20260201-1';
/** Names come from machines: this one would leave its place in a path, were it not encoded. */
const oddName = '../a//b c?%2F#ü';
const word = { by: 'alice', reason: 'its disk is full', at: startedAt };
const token = 'correct-horse-battery-staple';

function someOperations() {
  return makeFakeOperations({
    rollouts: [
      aRolloutStatus({ planned: 3, counts: countsOf({ succeeded: 1, upgrading: 1, pending: 1 }) }),
      aRolloutStatus({ id: ended, state: 'succeeded', endedAt: startedAt }),
    ],
    upgrades: [
      anUpgrade({
        state: 'succeeded',
        endedAt: startedAt,
        reason: 'on the build and alive',
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

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly localAddress?: string;
}

/** Raw HTTP: a browser's `fetch` would not let a test state Host and Origin. */
function ask(url: string, { method = 'GET', headers = {}, body, localAddress }: Asked = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string; json: () => unknown }>(
    (resolve, reject) => {
      const request = httpRequest(
        url,
        { method, headers, agent: false, ...(localAddress !== undefined && { localAddress }) },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: () => JSON.parse(text),
            }),
          );
          response.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(body);
    },
  );
}

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
      readiness: async () => ({
        redis: { ok: true, reason: 'answers' },
        service: { ok: true, reason: 'answers' },
      }),
      version: '0.1.0',
      clock: { now: () => now },
      reportError: (error) => void told.push(error),
      ...parts,
    });
    return { url: api.url, v1: `${api.url}/api/v1` };
  };
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  describe('health', () => {
    it('says that the process is alive, whatever else is not', async () => {
      const { url } = await start({ readiness: async () => ({ redis: { ok: false, reason: 'away' } }) });
      const answer = await ask(`${url}/healthz`);
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({ alive: true, version: '0.1.0' });
    });

    it('is ready when every check is', async () => {
      const { url } = await start();
      const answer = await ask(`${url}/readyz`);
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({
        ready: true,
        checks: { redis: { ok: true, reason: 'answers' }, service: { ok: true, reason: 'answers' } },
      });
    });

    it('is not ready, and says why, when one check is not', async () => {
      const { url } = await start({
        readiness: async () => ({
          redis: { ok: false, reason: 'ECONNREFUSED' },
          service: { ok: true, reason: '' },
        }),
      });
      const answer = await ask(`${url}/readyz`);
      expect(answer.status).toBe(503);
      expect(answer.json()).toMatchObject({ ready: false, checks: { redis: { reason: 'ECONNREFUSED' } } });
    });

    it('is not ready when the checks themselves fail', async () => {
      const { url } = await start({ readiness: () => Promise.reject(new Error('secret inside')) });
      const answer = await ask(`${url}/readyz`);
      expect(answer.status).toBe(503);
      expect(answer.text).not.toContain('secret inside');
    });
  });

  describe('metrics', () => {
    const promtool = spawnSync('promtool', ['--version']).status === 0;

    it('are served in the text format of Prometheus', async () => {
      const { url } = await start();
      const answer = await ask(`${url}/metrics`);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(answer.text).toMatch(/^upwave_leader 0$/m);
    });

    it.skipIf(!promtool)('pass promtool (skipped where promtool is not installed)', async () => {
      const { url } = await start({
        metrics: makeMetrics({
          version: '1',
          policies: ['production'],
          sharedState: async () => ({
            statuses: [aRolloutStatus()],
            queueJobs: { active: 1 },
            outageMs: 0,
            scans: [aScanEntry()],
            fleet: [],
          }),
        }),
      });
      const { text } = await ask(`${url}/metrics`);
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: text,
        encoding: 'utf8',
      });
      expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
    });
  });

  describe('reads', () => {
    it('lists rollouts', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts`);
      expect(answer.status).toBe(200);
      const { rollouts } = answer.json() as { rollouts: unknown[] };
      expect(rollouts.map((rollout) => RolloutStatusBody.parse(rollout).id)).toEqual([running, ended]);
    });

    it('pages through all rollouts that are kept, with what to ask for next', async () => {
      const { v1 } = await start();
      const pageOf = async (query: string) => {
        const answer = await ask(`${v1}/rollouts${query}`);
        const { rollouts, next } = answer.json() as { rollouts: { id: string }[]; next: string | null };
        return { ids: rollouts.map(({ id }) => id), next };
      };
      expect(await pageOf('')).toEqual({ ids: [running, ended], next: running });
      expect(await pageOf('?limit=1')).toEqual({ ids: [running], next: running });
      expect(await pageOf(`?limit=1&before=${running}`)).toEqual({ ids: [ended], next: null });
      expect(await pageOf(`?before=${ended}`)).toEqual({ ids: [], next: null });
      expect((await ask(`${v1}/rollouts?before=unknown-20260101-1`)).status).toBe(404);
      expect((await ask(`${v1}/rollouts?limit=101`)).status).toBe(400);
    });

    it('shows one rollout', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}`);
      expect(RolloutStatusBody.parse(answer.json())).toMatchObject({ id: running, state: 'running' });
    });

    it('pages through the collectors of a rollout, with their wave by name', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/collectors?limit=2&after=1`);
      const { collectors, total, next } = answer.json() as Record<string, unknown> & {
        collectors: unknown[];
      };
      expect([total, next]).toEqual([3, null]);
      expect(collectors.map((collector) => UpgradeBody.parse(collector))).toEqual([
        {
          collectorId: 2,
          collectorName: '<b>two</b>',
          wave: 'canary',
          stratum: '',
          order: 2,
          state: 'upgrading',
          reason: null,
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
    });

    it('tells what kind of failure a collector had', async () => {
      const failed = anUpgrade({
        state: 'failed',
        endedAt: startedAt,
        reason: 'no space left',
        weight: 1,
        lost: false,
        failureClass: 'retry',
      });
      const { v1 } = await start({
        operations: makeFakeOperations({ rollouts: [aRolloutStatus()], upgrades: [failed] }),
      });
      const answer = await ask(`${v1}/rollouts/${running}/collectors`);
      expect(answer.json()).toMatchObject({ collectors: [{ state: 'failed', failureClass: 'retry' }] });
    });

    it('tells which verbs are legal now', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/verbs`);
      expect(answer.json()).toEqual({ verbs: ['pause', 'abort', 'rollback'] });
    });

    it('selects collectors by state, and counts them over all pages', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/collectors?state=succeeded`);
      expect(answer.json()).toMatchObject({ collectors: [{ state: 'succeeded' }], total: 1 });
    });

    it('searches collectors by words and wave, and says of a wave that it does not know it', async () => {
      const { v1 } = await start();
      const found = await ask(
        `${v1}/rollouts/${running}/collectors?match=TWO&wave=canary&state=queued,upgrading`,
      );
      expect(found.json()).toMatchObject({ collectors: [{ collectorId: 2 }], total: null, next: null });
      expect((await ask(`${v1}/rollouts/${running}/collectors?wave=nightly`)).status).toBe(404);
    });

    it('shows the latest events', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/events?limit=1`);
      expect(answer.json()).toEqual({ events: [aRolloutEvent()] });
    });

    it.each([
      '/rollouts/no-such',
      '/rollouts/no-such/collectors',
      '/rollouts/no-such/events',
      '/rollouts/no-such/verbs',
      '/nothing/here',
    ])('answers 404 for %s', async (path) => {
      const { v1 } = await start();
      const answer = await ask(`${v1}${path}`);
      expect(answer.status).toBe(404);
      expect(AdminErrorBody.parse(answer.json()).code).toBe('notFound');
    });

    it.each(['limit=0', 'limit=100000', 'after=-1', 'limit=x', 'state=sleeping'])(
      'answers 400 for a page with %s, naming what is wrong',
      async (query) => {
        const { v1 } = await start();
        const answer = await ask(`${v1}/rollouts/${running}/collectors?${query}`);
        expect(answer.status).toBe(400);
        expect(AdminErrorBody.parse(answer.json()).message).toContain(`query.${query.split('=')[0]}`);
      },
    );
  });

  describe('verbs', () => {
    /** What each verb names (P15). */
    const bodies: Readonly<Record<string, object>> = {
      resume: { hold: 17 },
      approve: { wave: 'rest' },
      'skip-soak': { wave: 'canary' },
      retry: { failed: 3 },
    };

    it.each([
      ['pause', 'pause', 'paused'],
      ['resume', 'resume', 'running'],
      ['approve', 'approve', 'running'],
      ['skip-soak', 'skipSoak', 'running'],
      ['abort', 'abort', 'aborted'],
      ['rollback', 'rollback', 'rollingBack'],
      ['retry', 'retry', 'running'],
    ])('%s answers with the rollout as it is now', async (segment, verb, state) => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/${segment}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'looks odd', by: 'alice', ...bodies[segment] }),
      });
      expect(answer.status).toBe(200);
      expect(RolloutStatusBody.parse(answer.json()).state).toBe(state);
      expect(operations.requests).toEqual([
        { rolloutId: running, verb, by: 'alice', reason: 'looks odd', ...bodies[segment] },
      ]);
    });

    it('resume goes on after a pause, and repeating it changes nothing', async () => {
      const { v1 } = await start();
      for (const verb of ['pause', 'resume', 'resume']) {
        const body = JSON.stringify(bodies[verb] ?? {});
        const answer = await ask(`${v1}/rollouts/${running}/${verb}`, { method: 'POST', body });
        expect(answer.status).toBe(200);
      }
      const answer = await ask(`${v1}/rollouts/${running}`);
      expect(answer.json()).toMatchObject({ state: 'running' });
    });

    it.each([
      ['resume', 'name the hold that is meant: `hold` of GET /rollouts/{id}'],
      ['approve', 'name what is approved: `wave`, or the `planHash` of a plan, and not both'],
      ['skip-soak', 'name the `wave` that is meant'],
      ['retry', 'state how many had `failed` when you decided'],
    ])('%s that names nothing is refused, with what to name (P15)', async (segment, message) => {
      const { v1 } = await start();
      for (const body of [undefined, '{"reason":"x"}']) {
        const asked = { method: 'POST', ...(body !== undefined && { body }) };
        const answer = await ask(`${v1}/rollouts/${running}/${segment}`, asked);
        expect(answer.status).toBe(400);
        expect(AdminErrorBody.parse(answer.json()).message).toContain(message);
      }
      expect(operations.requests).toEqual([]);
    });

    it.each(['pause', 'abort', 'rollback'])(
      '%s needs no body: the brake works in a hurry',
      async (segment) => {
        const { v1 } = await start();
        expect((await ask(`${v1}/rollouts/${running}/${segment}`, { method: 'POST' })).status).toBe(200);
        expect(operations.requests).toEqual([
          { rolloutId: running, verb: expect.any(String), by: 'operator', reason: 'no reason given' },
        ]);
      },
    );

    it.each(segments)('%s refused by the state is answered 409 with the reason', async (segment) => {
      const { v1 } = await start();
      const url = `${v1}/rollouts/${ended}/${segment}`;
      const answer = await ask(url, {
        method: 'POST',
        body: JSON.stringify({ reason: 'x', ...bodies[segment] }),
      });
      expect(answer.status).toBe(409);
      expect(answer.json()).toEqual({ code: 'refused', message: 'it has ended: succeeded' });
    });

    it.each(segments)('%s for an unknown rollout is answered 404', async (segment) => {
      const { v1 } = await start();
      const body = JSON.stringify(bodies[segment] ?? {});
      expect((await ask(`${v1}/rollouts/no-such/${segment}`, { method: 'POST', body })).status).toBe(404);
    });

    it.each(
      segments.flatMap((segment) => ['GET', 'PUT', 'DELETE', 'PATCH'].map((method) => [segment, method])),
    )('%s is not done by %s', async (segment, method) => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/${segment}`, { method: method ?? '' });
      expect([404, 405]).toContain(answer.status);
      expect(operations.requests).toEqual([]);
    });

    it('approve the plan that was looked at', async () => {
      const { v1 } = await start();
      const body = JSON.stringify({ planHash: '7f3a' });
      await ask(`${v1}/rollouts/${running}/approve`, { method: 'POST', body });
      expect(operations.requests).toMatchObject([{ verb: 'approve', planHash: '7f3a' }]);
    });

    it('retry only failures of the kind that is named', async () => {
      const { v1 } = await start();
      const body = JSON.stringify({ failureClass: 'timedOut', failed: 2 });
      await ask(`${v1}/rollouts/${running}/retry`, { method: 'POST', body });
      expect(operations.requests).toMatchObject([{ verb: 'retry', failureClass: 'timedOut' }]);
    });

    it.each([
      ['approve', '{"planHash":""}'],
      ['approve', '{"planHash":5}'],
      ['approve', '{"planHash":"7f3a","wave":"rest"}'],
      ['retry', '{"failed":2,"failureClass":7}'],
      ['retry', '{"failed":-1}'],
    ])('%s with %s is refused before it is done', async (segment, body) => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/${segment}`, { method: 'POST', body });
      expect(answer.status).toBe(400);
      expect(operations.requests).toEqual([]);
    });

    it.each([
      ['broken JSON', '{"reason":', 400],
      ['a reason that is no text', '{"reason":5}', 400],
      ["the daemon's own name", '{"by":"daemon"}', 400],
      ['too long a reason', JSON.stringify({ reason: 'x'.repeat(501) }), 400],
      ['a huge body', JSON.stringify({ reason: 'x'.repeat(20_000) }), 413],
    ])('with %s are refused before they are done', async (_what, body, status) => {
      const { v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/pause`, { method: 'POST', body });
      expect(answer.status).toBe(status);
      AdminErrorBody.parse(answer.json());
      expect(operations.requests).toEqual([]);
    });

    it.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'no url'])(
      'from a page of the origin %s are refused',
      async (origin) => {
        const { v1 } = await start();
        const answer = await ask(`${v1}/rollouts/${running}/pause`, { method: 'POST', headers: { origin } });
        expect(answer.status).toBe(403);
        expect(operations.requests).toEqual([]);
      },
    );

    it('from our own page are done', async () => {
      const { url, v1 } = await start();
      const answer = await ask(`${v1}/rollouts/${running}/pause`, {
        method: 'POST',
        headers: { origin: url },
      });
      expect(answer.status).toBe(200);
    });
  });

  describe('holds', () => {
    const post = (url: string, body: object | string) =>
      ask(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

    it.each([
      ['holds', 'hold'],
      ['releases', 'release'],
    ])('are changed by a POST to /%s, which says what the word was found to name', async (path, did) => {
      const { v1 } = await start();
      const by = 'alice';
      const reason = 'its disk is full';
      const build = await post(`${v1}/${path}`, { subject: ' 19.536-4 ', by, reason });
      expect(build.status).toBe(200);
      expect(HoldAnswerBody.parse(build.json())).toEqual({
        kind: 'done',
        subject: { kind: 'build', build: '19.536-4' },
      });
      const collector = await post(`${v1}/${path}`, { subject: 'web-7' });
      expect(collector.json()).toEqual({
        kind: 'unchanged',
        subject: { kind: 'collector', collectorId: 7, name: 'web-7' },
      });
      const stratum = await post(`${v1}/${path}`, { subject: 'Linux / amd64' });
      expect(stratum.json()).toMatchObject({ subject: { kind: 'stratum', rolloutId: running } });
      expect(operations.holdRequests).toEqual([
        { did, subject: '19.536-4', by, reason },
        { did, subject: 'web-7', by: 'operator', reason: 'no reason given' },
        { did, subject: 'Linux / amd64', by: 'operator', reason: 'no reason given' },
      ]);
    });

    it.each(['holds', 'releases'])('at /%s are refused with the reason', async (path) => {
      const { v1 } = await start();
      const refused = await post(`${v1}/${path}`, { subject: 'no-such' });
      expect(refused.status).toBe(404);
      expect(refused.json()).toEqual({ code: 'notFound', message: 'nothing is called no-such' });
    });

    it.each(['holds', 'releases'])('at /%s tell that the service does not answer', async (path) => {
      const { v1 } = await start();
      const unavailable = await post(`${v1}/${path}`, { subject: 'web-8' });
      expect(unavailable.status).toBe(503);
      expect(unavailable.json()).toEqual({ code: 'unavailable', message: 'the service does not answer' });
    });

    it.each(
      ['holds', 'releases'].flatMap((path) =>
        ['', '{}', '{"subject":""}', '{"subject":7}', '{"subject":"web-7","by":"daemon"}', '{"subject":'].map(
          (body) => [path, body],
        ),
      ),
    )('at /%s with the body %j are refused before they are done', async (path, body) => {
      const { v1 } = await start();
      const answer = await post(`${v1}/${path}`, body ?? '');
      expect(answer.status).toBe(400);
      AdminErrorBody.parse(answer.json());
      expect(operations.holdRequests).toEqual([]);
    });

    it('are no verbs of a GET', async () => {
      const { v1 } = await start();
      expect((await ask(`${v1}/releases`)).status).toBe(405);
      expect((await ask(`${v1}/holds?subject=web-7`)).status).toBe(200);
      expect((await ask(`${v1}/holds`, { method: 'DELETE' })).status).toBe(405);
      expect(operations.holdRequests).toEqual([]);
    });

    it('are listed with who and why', async () => {
      const { v1 } = await start();
      expect(HeldThingsBody.parse((await ask(`${v1}/holds`)).json())).toEqual({
        builds: [{ build: '19.536-4', ...word }],
        collectors: [{ collectorId: 7, ...word }],
        strata: [
          { policy: 'production', isEnded: false, rolloutId: running, label: 'Linux / amd64', ...word },
        ],
      });
    });

    it('leave a trace that can be read back', async () => {
      const { v1 } = await start();
      expect((await ask(`${v1}/audit?limit=1`)).json()).toEqual({
        entries: [{ event: 'collector.held', subject: '7', ...word }],
      });
      const { entries } = (await ask(`${v1}/audit`)).json() as { entries: unknown[] };
      expect(entries).toHaveLength(2);
      for (const limit of ['0', '1001', 'x']) {
        expect((await ask(`${v1}/audit?limit=${limit}`)).status).toBe(400);
      }
    });
  });

  describe('explanations', () => {
    const explanationOf = (collector: string) => `/collectors/${encodeURIComponent(collector)}/explanation`;

    it('say where a collector stands, whatever its name holds', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}${explanationOf(oddName)}`);
      expect(answer.status).toBe(200);
      expect(CollectorExplanationBody.parse(answer.json())).toEqual({
        collectorId: 7,
        collectorName: oddName,
        build: '19.441-2',
        explanations: [anExplanation({ rollout: running, reason: 'the window is closed', until: startedAt })],
        history: [],
      });
    });

    it('of an unknown collector are answered 404', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}${explanationOf('no-such')}`);
      expect(answer.status).toBe(404);
      expect(answer.json()).toEqual({
        code: 'notFound',
        message: 'no installed collector no-such; did you mean "web-7", "web-8"?',
      });
    });

    it('tell that the service does not answer', async () => {
      const { v1 } = await start();
      const answer = await ask(`${v1}${explanationOf('web-8')}`);
      expect(answer.status).toBe(503);
      expect(answer.json()).toEqual({ code: 'unavailable', message: 'the service does not answer' });
    });
  });

  describe('what takes long', () => {
    const deeds: readonly (readonly [string, Asked])[] = [
      [`/rollouts/${running}/pause`, { method: 'POST' }],
      ['/holds', { method: 'POST', body: '{"subject":"web-7"}' }],
      ['/releases', { method: 'POST', body: '{"subject":"web-7"}' }],
      ['/collectors/7/explanation', {}],
    ];

    it.each(deeds)('is waited for beyond the time of a read, but not for ever: %s', async (path, asked) => {
      const { v1 } = await start({ readWithinMs: 1, actWithinMs: 40, approveWithinMs: 60_000 });
      operations.hang();
      const answer = await ask(`${v1}${path}`, asked);
      expect(answer.status).toBe(503);
      expect(AdminErrorBody.parse(answer.json()).message).toMatch(/^no end within 40ms/);
    });

    it('is waited for longest where the fleet is read: approve', async () => {
      const { v1 } = await start({ readWithinMs: 1, actWithinMs: 1, approveWithinMs: 40 });
      operations.hang();
      const body = '{"wave":"rest"}';
      const answer = await ask(`${v1}/rollouts/${running}/approve`, { method: 'POST', body });
      expect(AdminErrorBody.parse(answer.json()).message).toMatch(/^no end within 40ms/);
    });
  });

  describe('without Redis', () => {
    const away = async () => ({ redis: { ok: false, reason: 'ECONNREFUSED' } });

    it.each([
      '/rollouts',
      `/rollouts/${running}`,
      `/rollouts/${running}/events`,
      `/rollouts/${running}/verbs`,
      '/holds',
      '/audit',
      '/collectors/7/explanation',
    ])('answers 503 for %s, and calls it no bug', async (path) => {
      const { v1 } = await start({ readiness: away });
      operations.breakWith(new Error('Connection is closed.'));
      const answer = await ask(`${v1}${path}`);
      expect(answer.status).toBe(503);
      expect(AdminErrorBody.parse(answer.json()).code).toBe('unavailable');
      expect(told).toEqual([]);
    });

    it('answers 503 for a verb at once, without waiting for Redis to come back', async () => {
      const { v1 } = await start({ readiness: away });
      operations.hang();
      expect((await ask(`${v1}/rollouts/${running}/pause`, { method: 'POST' })).status).toBe(503);
      expect(operations.requests).toEqual([]);
    });

    it.each(['/holds', '/releases'])('answers 503 for a POST to %s at once', async (path) => {
      const { v1 } = await start({ readiness: away });
      operations.hang();
      const answer = await ask(`${v1}${path}`, { method: 'POST', body: '{"subject":"web-7"}' });
      expect(answer.status).toBe(503);
      expect(AdminErrorBody.parse(answer.json()).message).toContain('Redis does not answer');
      expect(operations.holdRequests).toEqual([]);
    });

    it('answers 503 when a read gets no answer', async () => {
      const { v1 } = await start({ readWithinMs: 30 });
      operations.hang();
      expect((await ask(`${v1}/rollouts`)).status).toBe(503);
    });

    it('answers 503 for an error that its owner knows to mean so', async () => {
      const { v1 } = await start({ isUnavailable: (error) => (error as Error).message === 'LOADING' });
      operations.breakWith(new Error('LOADING'));
      expect((await ask(`${v1}/rollouts`)).status).toBe(503);
    });

    it('says that it is not known whether a verb holds that Redis did not answer', async () => {
      const { v1 } = await start({ isUnavailable: isRedisSilence });
      operations.breakWith(new Error('Command timed out'));
      for (const path of [`rollouts/${running}/pause`, `rollouts/${running}/approve`]) {
        const answer = await ask(`${v1}/${path}`, { method: 'POST', body: '{"wave":"rest"}' });
        expect([answer.status, AdminErrorBody.parse(answer.json()).message]).toEqual([
          503,
          'Redis does not answer; whether this was stored is unknown: repeat it',
        ]);
      }
      const read = await ask(`${v1}/rollouts`);
      expect([read.status, AdminErrorBody.parse(read.json()).message]).toEqual([
        503,
        expect.stringContaining('Redis does not answer, so the state is unknown'),
      ]);
    });

    it('answers 500 for a bug, tells it to the log and not to the asker', async () => {
      const { v1 } = await start();
      operations.breakWith(new Error('undefined is not a function'));
      const answer = await ask(`${v1}/rollouts`);
      expect(answer.status).toBe(500);
      expect(answer.text).not.toContain('undefined is not');
      expect(told).toEqual([new Error('undefined is not a function')]);
    });
  });

  describe('with a token', () => {
    it.each([
      '/metrics',
      '/api/v1/rollouts',
      '/api/v1/holds',
      '/api/v1/audit',
      '/api/v1/openapi.json',
      '/nothing',
    ])('serves %s only to its bearer', async (path) => {
      const { url } = await start({ token });
      expect((await ask(`${url}${path}`)).status).toBe(401);
      expect((await ask(`${url}${path}`, { headers: bearer('wrong') })).status).toBe(401);
      expect((await ask(`${url}${path}`, { headers: { authorization: `Basic ${token}` } })).status).toBe(401);
      expect((await ask(`${url}${path}`, { headers: bearer(token) })).status).toBe(
        path === '/nothing' ? 404 : 200,
      );
    });

    it.each(['/', '/healthz', '/readyz'])('serves %s to anybody', async (path) => {
      const { url } = await start({ token });
      expect((await ask(`${url}${path}`)).status).toBe(200);
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
        expect({ status: answer.status, body: answer.json() }).toEqual({
          status: 503,
          body: { ready: false, checks },
        });
      }
      const shown = await ask(`${url}/readyz`, { headers: bearer(token) });
      expect(shown.json()).toEqual({ ready: false, checks: { redis } });
    });

    it('does no verb without it', async () => {
      const { v1 } = await start({ token });
      for (const segment of segments) {
        expect((await ask(`${v1}/rollouts/${running}/${segment}`, { method: 'POST' })).status).toBe(401);
      }
      for (const path of ['holds', 'releases']) {
        const asked = { method: 'POST', body: '{"subject":"web-7"}' };
        expect((await ask(`${v1}/${path}`, asked)).status).toBe(401);
      }
      expect((await ask(`${v1}/collectors/7/explanation`)).status).toBe(401);
      expect(operations.requests).toEqual([]);
      expect(operations.holdRequests).toEqual([]);
    });

    it('shows it in no answer', async () => {
      const { url } = await start({ token });
      const paths = ['/', '/healthz', '/readyz', '/metrics', '/api/v1/openapi.json', '/nothing'];
      const answers = await Promise.all(
        paths.map((path) => ask(`${url}${path}`, { headers: bearer(token) })),
      );
      for (const { text, headers } of answers) expect(text + JSON.stringify(headers)).not.toContain(token);
    });

    it('serves requests that name another host or came through a proxy', async () => {
      const { v1 } = await start({ token });
      const headers = { ...bearer(token), host: 'upwave.example.com', 'x-forwarded-for': '203.0.113.7' };
      expect((await ask(`${v1}/rollouts`, { headers })).status).toBe(200);
    });

    it('tells an address to wait for a minute after many wrong tokens, and lets the right one pass (P4)', async () => {
      const { v1 } = await start({ token });
      const guess = (value: string) => ask(`${v1}/rollouts`, { headers: bearer(value) });
      for (let count = 0; count < 20; count += 1) expect((await guess(`guess-${count}`)).status).toBe(401);
      const refused = await guess('guess-21');
      expect(refused.status).toBe(429);
      expect(refused.headers['retry-after']).toBe('60');
      expect((await guess(token)).status).toBe(200);
      now += 60_000;
      expect((await guess('guess-22')).status).toBe(401);
    });

    it('does not count requests without a token as guesses', async () => {
      const { v1 } = await start({ token });
      for (let count = 0; count < 30; count += 1) await ask(`${v1}/rollouts`);
      expect((await ask(`${v1}/rollouts`, { headers: bearer(token) })).status).toBe(200);
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

    it.each(['localhost:9464', '127.0.0.1', '[::1]:9464', 'LOCALHOST'])(
      'serves the host %s',
      async (host) => {
        const { v1 } = await start();
        expect((await ask(`${v1}/rollouts`, { headers: { host } })).status).toBe(200);
      },
    );

    it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io:9464', ''])(
      'refuses the host %j: a stranger may have pointed its name here',
      async (host) => {
        const { v1 } = await start();
        const headers = { host, origin: `http://${host}` };
        const answer = await ask(`${v1}/rollouts/${running}/pause`, { method: 'POST', headers });
        expect([400, 403]).toContain(answer.status);
        expect(operations.requests).toEqual([]);
      },
    );

    it.each(['x-forwarded-for', 'forwarded'])('refuses what a proxy passed on (%s)', async (header) => {
      const { v1 } = await start();
      expect((await ask(`${v1}/rollouts`, { headers: { [header]: '203.0.113.7' } })).status).toBe(403);
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
      const { text } = await ask(`${url}/`);
      const markup = text.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '');
      expect(markup).not.toMatch(/\son\w+\s*=/i);
      expect(markup).not.toMatch(/\sstyle\s*=/i);
      expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
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
