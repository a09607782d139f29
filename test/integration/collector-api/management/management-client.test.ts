import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostedCollectorDraft } from '../../../../src/collector-api/management/collector-client.ts';
import { makeManagementClient } from '../../../../src/collector-api/management/management-client.ts';
import { isRefusedWith, type KnownCode } from '../../../../src/collector-api/wire/client-refusals.ts';
import {
  collectorErrorCodes,
  createUpgradeCodes,
  sourceErrorCodes,
  wireCodes,
} from '../../../../src/contract/collector-management/errors.ts';
import type { Answer } from '../../../../src/orchestrator/ports/fleet-service.ts';
import {
  type Script,
  type SeenRequest,
  sendCutOff,
  sendJson,
  sendText,
} from '../../../support/network/scripted-server.ts';
import { aCollectorApi } from '../../../support/setup/collector-api-setup.ts';

async function aManagement(script: Script) {
  const api = await aCollectorApi(script);
  return { ...api, management: makeManagementClient({ client: api.client, sleep: async () => undefined }) };
}

/** Answers each request by the next script, and all later ones by the last. */
function inTurn(...scripts: readonly Script[]): Script {
  let next = 0;
  return (request, response) => scripts[Math.min(next++, scripts.length - 1)]?.(request, response);
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  (_request, response) =>
    sendJson(response, status, body, headers);

const refusal =
  (status: number, code: string): Script =>
  (_request, response) =>
    sendJson(response, status, { status, id: 'LC484-MA4EZ-OZ730', code, message: 'no' });

const empty: Script = (_request, response) => sendText(response, 200, '');

function must<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(`failed: ${JSON.stringify(answer.failure)}`);
  return answer.value;
}

const line = ({ method, url }: SeenRequest) => `${method} ${url}`;
const bodyOf = (request: SeenRequest | undefined): unknown => JSON.parse(request?.text ?? 'null');

const web = {
  id: 7,
  name: 'web',
  collectorType: 'Hosted',
  category: 'prod',
  fields: { team: 'core' },
  alive: true,
  lastSeenAlive: 1_000,
  installedCollectorSubtype: 'x',
};
const nginx = { id: 3, name: 'nginx', sourceType: 'LocalFile', denylist: ['*.gz'], alive: true };
const place = { collectorId: 7, sourceId: 3 };

describe('management client', () => {
  describe('one collector', () => {
    it.each([
      ['web-1', '/api/v1/collectors/name/web-1'],
      ['Staging Area', '/api/v1/collectors/name/Staging%20Area'],
      ['svr001.example.com', '/api/v1/collectors/name/svr001.example.com/'],
      ['a b.c', '/api/v1/collectors/name/a%20b.c/'],
      ['.', '/api/v1/collectors/name/%2E/'],
      ['..', '/api/v1/collectors/name/%2E%2E/'],
      ['Köln+1?#&', '/api/v1/collectors/name/K%C3%B6ln%2B1%3F%23%26'],
    ])('is requested by the name %s', async (name, url) => {
      const { management, server } = await aManagement(json(200, { collector: web }, { etag: '"a"' }));
      expect(must(await management.collectors.getByName(name)).etag).toBe('"a"');
      expect(server.requests.map(({ url: seen }) => seen)).toEqual([url]);
    });

    it.each(['a;b', 'Cloud/Dev', '50%', 'a\\b', '', 'a\ud800'])(
      'refuses the name %j, which no request can carry, and sends nothing',
      async (name) => {
        const { management, server } = await aManagement(json(200, { collector: web }));
        const answer = await management.collectors.getByName(name);
        expect(answer).toMatchObject({ failure: { kind: 'refused', code: 'client.name.unsupported' } });
        expect(server.requests).toHaveLength(0);
      },
    );
  });

  describe('creating a hosted collector', () => {
    it('sends the given fields, and none that the service sets', async () => {
      const { management, server } = await aManagement(json(201, { collector: web }));
      const draft: HostedCollectorDraft = {
        name: 'web',
        fields: { _budget: 'small' },
        id: 99,
        alive: true,
        links: [],
      };
      expect(must(await management.collectors.create(draft))).toEqual(web);
      expect(server.requests.map(line)).toEqual(['POST /api/v1/collectors']);
      expect(bodyOf(server.requests[0])).toEqual({
        collector: { collectorType: 'Hosted', name: 'web', fields: { _budget: 'small' } },
      });
    });

    it('recognises every documented code, whatever its status, also by its name on the wire', async () => {
      const { management, server } = await aManagement(empty);
      const codes = [...collectorErrorCodes, ...sourceErrorCodes, ...createUpgradeCodes];
      const said = [
        ...codes.map((code) => [refusal(403, code), code] as const),
        ...codes.map((code) => [refusal(409, code), code] as const),
        ...Object.entries(wireCodes).map(
          ([wire, code]) => [json(400, { id: 'X', errors: [{ code: wire, message: 'no' }] }), code] as const,
        ),
      ];
      for (const [script, code] of said) {
        server.follow(script);
        const isTask = createUpgradeCodes.some((each) => each === code);
        const isSource = sourceErrorCodes.some((each) => each === code);
        const answer = isTask
          ? await management.upgrades.createTask({ collectorId: 7 })
          : isSource
            ? await management.sources.delete(place)
            : await management.collectors.create({ name: 'web' });
        expect(
          !answer.ok && isRefusedWith(answer.failure, code as KnownCode),
          `${code}: ${JSON.stringify(answer)}`,
        ).toBe(true);
      }
      expect(server.requests).toHaveLength(said.length);
    });

    it('retries after a 429, because the service has done nothing', async () => {
      const { management, server, budget } = await aManagement(
        inTurn(json(429, { code: 'rate.limit.exceeded' }), json(201, { collector: web })),
      );
      expect(must(await management.collectors.create({ name: 'web' }))).toEqual(web);
      expect(server.requests).toHaveLength(2);
      expect(budget.pauses).toHaveLength(1);
    });
  });

  describe('changing a collector', () => {
    const setCategory = () => ({ category: 'dev' });
    const conflict = refusal(409, 'service.etagid.mismatch');

    it('sends every unchanged field back, whatever its name and value', async () => {
      const own = new Set(['id', 'name', ...Object.keys(web), 'links']);
      const unknown = fc.dictionary(
        fc.string().filter((name) => !own.has(name) && name !== '__proto__'),
        fc
          .jsonValue({ maxDepth: 3 })
          .filter((value) => !/\d{16}|-0|e[+-]/.test(JSON.stringify(value)))
          // As JSON has it: there is no -0 on the wire.
          .map((value): unknown => JSON.parse(JSON.stringify(value))),
      );
      const { management, server } = await aManagement(empty);
      const known = new Set(['description', 'hostName', 'timeZone', 'ephemeral', 'osName', 'osTime']);
      await fc.assert(
        fc.asyncProperty(unknown, async (fields) => {
          const extra = Object.fromEntries(Object.entries(fields).filter(([name]) => !known.has(name)));
          const collector = { ...extra, ...web };
          server.follow(inTurn(json(200, { collector }, { etag: '"a"' }), json(200, { collector })));
          must(await management.collectors.change(7, setCategory));
          expect(bodyOf(server.requests.at(-1))).toEqual({ collector: { ...collector, category: 'dev' } });
        }),
        { numRuns: 50 },
      );
    });

    it('sends nothing when nothing changes', async () => {
      const { management, server } = await aManagement(json(200, { collector: web }, { etag: '"a"' }));
      const changed = must(await management.collectors.change(7, () => ({ category: 'prod' })));
      expect(changed.isChanged).toBe(false);
      expect(server.requests).toHaveLength(1);
    });

    it.each([
      ['the code of it', conflict],
      ['status 412', json(412, {})],
    ])(
      'after a conflict, shown by %s, applies the change to the present state and retries once',
      async (_name, reported) => {
        const now = { ...web, fields: { team: 'ops' } };
        const { management, server } = await aManagement(
          inTurn(
            json(200, { collector: web }, { etag: '"1"' }),
            reported,
            json(200, { collector: now }, { etag: '"2"' }),
            json(200, { collector: { ...now, category: 'dev' } }),
          ),
        );
        const conflicts: unknown[] = [];
        const changed = await management.collectors.change(
          7,
          ({ fields }) => ({ category: 'dev', fields: { ...Object(fields), tier: 'a' } }),
          { onConflict: (seen) => conflicts.push(seen) },
        );
        expect(must(changed).before).toEqual(now);
        expect(conflicts).toEqual([{ seen: web, now }]);
        expect(server.requests.map(({ headers }) => headers['if-match'])).toEqual([
          undefined,
          '"1"',
          undefined,
          '"2"',
        ]);
        expect(bodyOf(server.requests[3])).toMatchObject({
          collector: { fields: { team: 'ops', tier: 'a' } },
        });
      },
    );

    it('does not write without an ETag', async () => {
      const { management, server } = await aManagement(json(200, { collector: web }));
      expect(await management.collectors.change(7, setCategory)).toMatchObject({
        failure: { code: 'client.etag.missing' },
      });
      expect(server.requests).toHaveLength(1);
    });

    it('refuses to change read-only fields, and ignores fields that the service sets', async () => {
      const { management, server } = await aManagement(json(200, { collector: web }, { etag: '"1"' }));
      const change = (fields: object) => management.collectors.change(7, () => ({ ...fields }));
      expect(await change({ id: 8 })).toMatchObject({ failure: { code: 'client.field.fixed' } });
      expect(await change({ collectorType: 'Installable' })).toMatchObject({
        failure: { code: 'client.field.fixed' },
      });
      // A whole document of yesterday: nothing in it differs but what changes by itself.
      expect(must(await change({ ...web, alive: false, lastSeenAlive: 1 })).isChanged).toBe(false);
      expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
    });

    it('does not repeat an update whose answer was lost, and reports that it may have been made', async () => {
      const { management, server } = await aManagement(
        inTurn(json(200, { collector: web }, { etag: '"1"' }), (_r, response) => sendCutOff(response, 200)),
      );
      expect(await management.collectors.change(7, setCategory)).toMatchObject({
        failure: { kind: 'unavailable', sent: true },
      });
      expect(server.requests).toHaveLength(2);
    });

    it('reports that a failed read has changed nothing', async () => {
      const { management } = await aManagement(json(500, {}));
      expect(await management.collectors.change(7, setCategory)).toMatchObject({
        failure: { kind: 'unavailable', sent: false },
      });
    });
  });

  describe('deleting collectors', () => {
    it.each<[string, Script, unknown]>([
      ['an object', json(200, { message: 'begun' }), { message: 'begun' }],
      ['a JSON text', json(200, 'begun'), 'begun'],
      ['plain text', (_q, r) => sendText(r, 200, 'begun', { 'content-type': 'text/plain' }), 'begun'],
      ['nothing', empty, undefined],
    ])(
      'starts a deletion of offline collectors, which the service confirms with %s',
      async (_name, script, message) => {
        const { management, server } = await aManagement(script);
        expect(must(await management.collectors.deleteOffline(30))).toEqual(message);
        expect(server.requests.map(line)).toEqual(['DELETE /api/v1/collectors/offline?aliveBeforeDays=30']);
      },
    );

    it('does not treat the page of a gateway as a confirmation', async () => {
      const { management } = await aManagement((_request, response) =>
        sendText(response, 200, '<html>sign in</html>', { 'content-type': 'text/html' }),
      );
      expect(await management.collectors.deleteOffline()).toMatchObject({ failure: { kind: 'unavailable' } });
    });
  });

  describe('sources', () => {
    it('creates one source in a request, without an id', async () => {
      const { management, server } = await aManagement(json(201, { source: nginx }));
      expect(must(await management.sources.create(7, nginx))).toEqual(nginx);
      expect(server.requests.map(line)).toEqual(['POST /api/v1/collectors/7/sources']);
      expect(bodyOf(server.requests[0])).toEqual({
        source: { name: 'nginx', sourceType: 'LocalFile', denylist: ['*.gz'] },
      });
    });
  });

  describe('upgrades', () => {
    it('lists the collectors upgradable to a build, or to the latest one', async () => {
      const { management, server } = await aManagement(json(200, { collectors: [web] }));
      expect(must(await management.upgrades.listUpgradable('19.1-1'))).toEqual([web]);
      await management.upgrades.listUpgradable();
      expect(server.requests.map(({ url }) => url)).toEqual([
        '/api/v1/collectors/upgrades/collectors?toVersion=19.1-1&offset=0&limit=1000',
        '/api/v1/collectors/upgrades/collectors?toVersion=19.1-1&offset=1&limit=1000',
        '/api/v1/collectors/upgrades/collectors?offset=0&limit=1000',
        '/api/v1/collectors/upgrades/collectors?offset=1&limit=1000',
      ]);
    });

    it('creates a task and polls it; its id stays a text, however long', async () => {
      const { management, server } = await aManagement(({ method }, response) =>
        method === 'POST'
          ? sendJson(response, 202, { id: '9007199254740993', link: { rel: 'self', href: '/v1/x' } })
          : sendText(response, 200, '{"upgrade":{"id":9007199254740993,"status":6,"requestTime":5}}'),
      );
      const { id } = must(await management.upgrades.createTask({ collectorId: 7 }));
      expect(must(await management.upgrades.getTask(id))).toMatchObject({ id, status: 6 });
      expect(server.requests.map(line)).toEqual([
        'POST /api/v1/collectors/upgrades',
        'GET /api/v1/collectors/upgrades/9007199254740993',
      ]);
      expect(bodyOf(server.requests[0])).toEqual({ collectorId: 7 });
    });
  });
});

describe('search jobs', () => {
  it('are created, polled and paged, with unchanged bodies (collector-api.md §4.5)', async () => {
    const { management, server } = await aManagement(({ method }, response) =>
      sendJson(response, method === 'POST' ? 202 : 200, { id: 'j-1' }),
    );
    const { searchJobs } = management;
    expect(must(await searchJobs.create({ query: '*' }))).toEqual({ id: 'j-1' });
    const page = { searchJobId: 'j-1', results: 'records', offset: 10, limit: 2 };
    await searchJobs.get('j-1');
    await searchJobs.listResults(page);
    expect(server.requests.map(line)).toEqual([
      'POST /api/v1/search/jobs',
      'GET /api/v1/search/jobs/j-1',
      'GET /api/v1/search/jobs/j-1/records?offset=10&limit=2',
    ]);
    expect(bodyOf(server.requests[0])).toEqual({ query: '*' });
  });
});
