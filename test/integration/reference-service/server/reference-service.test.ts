import { afterEach, describe, expect, it } from 'vitest';
import { collectorManagementApi } from '../../../../src/contract/collector-management/api.ts';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import type { ReferenceServiceParts } from '../../../../src/reference-service/server/start-reference-service.ts';
import {
  aReferenceService,
  aStatusClock,
  basic,
  type ReferenceSetup,
} from '../../../support/reference-client.ts';

const minuteMs = 60_000;
const latest = '19.536-4';
const noFailures = { failed: 0, timeout: 0, lost: 0, lostMac: 0 };

let open: ReferenceSetup | undefined;
async function aService(scenario: ScenarioInput = {}, parts: Partial<ReferenceServiceParts> = {}) {
  open = await aReferenceService({ naturalFailures: noFailures, ...scenario }, parts);
  return open;
}
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const idsOf = (answer: { body: { collectors: Array<{ id: number }> } }) =>
  answer.body.collectors.map(({ id }) => id);

async function upgradableIds({ send }: ReferenceSetup): Promise<[number, ...number[]]> {
  const [first, ...rest] = idsOf(await send('/v1/collectors/upgrades/collectors?limit=1000'));
  if (first === undefined) throw new Error('nothing is upgradable');
  return [first, ...rest];
}

/** An id of the fleet whose collector is as asked. */
function idWhere(
  { service }: ReferenceSetup,
  holds: (view: { osName?: string; collectorType?: string; version: string }) => boolean,
) {
  const found = service.world
    .collectors()
    .find(({ facts, life }) => holds({ ...facts, version: life.version }));
  if (found === undefined) throw new Error('no such collector in the fleet');
  return found.facts.id;
}

describe('base address and answers', () => {
  it('serves under /v1 and /api/v1, with a trailing slash and doubled ones', async () => {
    const { send, service } = await aService();
    const paths = [
      '/v1/collectors/upgrades/targets',
      '/api/v1/collectors/upgrades/targets',
      '/v1/collectors/upgrades/targets/',
      '//v1//collectors/upgrades/targets',
    ];
    for (const path of paths) expect((await send(path)).status).toBe(200);
    expect(service.baseUrl).toBe(`${service.url}/api`);
  });

  it('answers what the contract says, for every reading operation', async () => {
    const setup = await aService();
    const [collectorId] = await upgradableIds(setup);
    const created = await setup.create({ collectorId });
    const sources = await setup.send(`/v1/collectors/${collectorId}/sources`);
    const job = await setup.send('/v1/search/jobs', { method: 'POST', body: { query: '*' } });
    const cookie = String(job.headers['set-cookie']).split(';')[0] ?? '';
    const values: Record<string, string> = {
      id: String(collectorId),
      collectorId: String(collectorId),
      sourceId: String(sources.body.sources[0].id),
      upgradeTaskId: created.body.id,
      name: 'Staging%20Area',
      searchJobId: job.body.id,
      results: 'messages',
    };
    for (const operation of collectorManagementApi.filter(({ method }) => method === 'GET')) {
      const answer = await setup.send(
        `/v1${operation.path.replace(/\{(\w+)\}/g, (_text, name: string) => values[name] ?? '')}`,
        { headers: { cookie } },
      );
      expect([operation.name, answer.status]).toEqual([operation.name, 200]);
      expect(operation.answer.body.safeParse(answer.body).success).toBe(true);
    }
  });

  it('states its own time in the Date header, also when it runs faster', async () => {
    const realClock = aStatusClock(Date.UTC(2026, 0, 1));
    const clock = { now: () => realClock.now() + 3_600_000 };
    const { send } = await aService({}, { realClock, clock });
    expect((await send('/v1/collectors')).headers['date']).toBe('Thu, 01 Jan 2026 01:00:00 GMT');
    expect((await send('/v1/nothing')).headers['date']).toBe('Thu, 01 Jan 2026 01:00:00 GMT');
  });
});

describe('§1 wrong deployment', () => {
  it('answers 301 moved with the right address, before any sign-in', async () => {
    const { send, service } = await aService({ moved: { hosts: ['wrong.example.com'] } });
    const answer = await send('/v1/collectors?limit=3', {
      anonymous: true,
      headers: { host: 'wrong.example.com:80' },
    });
    expect(answer).toMatchObject({ status: 301, body: { code: 'moved' } });
    expect(answer.headers['location']).toBe(`${service.url}/v1/collectors?limit=3`);
    expect((await send('/v1/collectors')).status).toBe(200);
  });
});

describe('§3 liveness and tasks', () => {
  it('runs a task from 0 to 2 and shows the build', async () => {
    const setup = await aService();
    const [collectorId] = await upgradableIds(setup);
    const { body } = await setup.create({ collectorId });
    const look = async () => (await setup.send(`/v1/collectors/upgrades/${body.id}`)).body.upgrade;
    const script = setup.service.world.task(body.id)?.script;
    if (script === undefined) throw new Error('the task is unknown');
    const seen: number[] = [];
    for (const at of [setup.clock.now(), script.pendingAt, script.progressingAt, script.endsAt]) {
      setup.clock.advance(at - setup.clock.now());
      seen.push((await look()).status);
    }
    expect(seen).toEqual([0, 1, 6, 2]);
    setup.clock.advance(minuteMs);
    const { collector } = (await setup.send(`/v1/collectors/${collectorId}`)).body;
    expect(collector).toMatchObject({ collectorVersion: latest, alive: true });
    expect(collector.lastSeenAlive).toBeGreaterThan(script.endsAt - minuteMs);
  });

  it('fails a task after 30 minutes', async () => {
    const setup = await aService({ failures: [{ outcome: 'timeout' }] });
    const [collectorId] = await upgradableIds(setup);
    const { body } = await setup.create({ collectorId });
    setup.clock.advance(30 * minuteMs - 1);
    expect((await setup.send(`/v1/collectors/upgrades/${body.id}`)).body.upgrade).toMatchObject({
      message: '',
    });
    setup.clock.advance(1);
    const { upgrade } = (await setup.send(`/v1/collectors/upgrades/${body.id}`)).body;
    expect(upgrade).toMatchObject({ status: 3, message: expect.stringContaining('timed out') });
  });

  it('sends a heartbeat every 15 seconds, and is dead 30 minutes after the last', async () => {
    const setup = await aService();
    const [id] = await upgradableIds(setup);
    const read = async () => (await setup.send(`/v1/collectors/${id}`)).body.collector;
    const before = await read();
    setup.clock.advance(15_000);
    expect((await read()).lastSeenAlive).toBe(before.lastSeenAlive + 15_000);
    setup.service.world.kill(id);
    const last = (await read()).lastSeenAlive;
    setup.clock.advance(last + 30 * minuteMs - 1 - setup.clock.now());
    expect((await read()).alive).toBe(true);
    setup.clock.advance(1);
    expect(await read()).toMatchObject({ alive: false, lastSeenAlive: last });
  });
});

describe('§4.1 collectors', () => {
  it('lists by filter', async () => {
    const { send } = await aService({ fleet: { size: 300 } });
    const count = async (filter: string) => (await send(`/v1/collectors${filter}`)).body.collectors.length;
    const [all, installed, hosted, dead, alive] = [
      await count(''),
      await count('?filter=installed'),
      await count('?filter=hosted'),
      await count('?filter=dead'),
      await count('?filter=alive'),
    ];
    expect(all).toBe(300);
    expect(installed + hosted).toBe(300);
    expect(dead + alive).toBe(300);
    expect(hosted).toBeGreaterThan(0);
    expect(dead).toBeGreaterThan(0);
  });

  it('pages by limit (1000 by default) and offset; past the end the list is empty', async () => {
    const { send } = await aService({ fleet: { size: 1_200 } });
    expect((await send('/v1/collectors')).body.collectors).toHaveLength(1_000);
    expect((await send('/v1/collectors?offset=1000')).body.collectors).toHaveLength(200);
    expect((await send('/v1/collectors?limit=10000')).body.collectors).toHaveLength(1_200);
    const past = await send('/v1/collectors?offset=5000');
    expect(past).toMatchObject({ status: 200, body: { collectors: [] } });
    const pages = [await send('/v1/collectors?limit=7'), await send('/v1/collectors?limit=7&offset=7')];
    expect(new Set(pages.flatMap(idsOf)).size).toBe(14);
  });

  it.each(['filter=nonsense', 'limit=0', 'limit=-1', 'limit=x', 'offset=-1'])(
    'answers 400 to %s',
    async (query) => {
      const { send } = await aService();
      const answer = await send(`/v1/collectors?${query}`);
      expect(answer).toMatchObject({
        status: 400,
        body: { status: 400, code: `service.${query.split('=')[0]}.invalid` },
      });
    },
  );

  it('takes an empty filter, limit and offset for absent ones', async () => {
    const { send } = await aService();
    for (const path of ['/v1/collectors', '/v1/collectors/offline', '/v1/collectors/upgrades/collectors']) {
      const filter = path === '/v1/collectors' ? 'filter=&' : '';
      const answer = await send(`${path}?${filter}limit=&offset=`);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(idsOf(answer)).toEqual(idsOf(await send(path)));
    }
  });

  it('lists offline collectors by days', async () => {
    const { send } = await aService({ fleet: { size: 1_000, shares: { dead: 0.5 } } });
    const hundred = (await send('/v1/collectors/offline')).body.collectors.length;
    const one = (await send('/v1/collectors/offline?aliveBeforeDays=1')).body.collectors.length;
    expect(hundred).toBeGreaterThan(0);
    expect(one).toBeGreaterThan(hundred);
    expect((await send('/v1/collectors/offline?aliveBeforeDays=0')).status).toBe(400);
  });

  it('gets by id with a quoted ETag that does not change with the heartbeat', async () => {
    const setup = await aService();
    const [id] = await upgradableIds(setup);
    const first = await setup.send(`/v1/collectors/${id}`);
    setup.clock.advance(minuteMs);
    const later = await setup.send(`/v1/collectors/${id}`);
    expect(first.headers['etag']).toMatch(/^"[0-9a-f]+"$/);
    expect(later.headers['etag']).toBe(first.headers['etag']);
    expect(later.body.collector.lastSeenAlive).not.toBe(first.body.collector.lastSeenAlive);
  });

  it('answers 404 InvalidCollector to an unknown id, by its wire name where asked', async () => {
    const { send } = await aService();
    expect(await send('/v1/collectors/1')).toMatchObject({ status: 404, body: { code: 'InvalidCollector' } });
    await open?.close();
    const wire = await aService({ errorCodes: 'wire' });
    expect((await wire.send('/v1/collectors/1')).body.code).toBe('collectors.collector.invalid');
  });

  it('gets by name: spaces encoded, a period only with a slash at the end', async () => {
    const setup = await aService();
    expect((await setup.send('/v1/collectors/name/Staging%20Area')).body.collector.name).toBe('Staging Area');
    const dotted =
      setup.service.world.collectors().find(({ facts }) => facts.name.includes('.'))?.facts.name ?? '';
    expect((await setup.send(`/v1/collectors/name/${dotted}`)).status).toBe(404);
    expect((await setup.send(`/v1/collectors/name/${dotted}/`)).body.collector.name).toBe(dotted);
    expect((await setup.send('/v1/collectors/name/Cloud%2FDev%2FContainers')).status).toBe(404);
  });
});

describe('§4.3 builds and upgradable collectors', () => {
  it('has exactly one latest build, also after it is withdrawn', async () => {
    const { send, service } = await aService();
    const latestNow = async () =>
      (await send('/v1/collectors/upgrades/targets')).body.targets.filter(
        (target: { latest: boolean }) => target.latest,
      );
    expect(await latestNow()).toEqual([{ version: latest, latest: true }]);
    service.world.withdrawBuild(latest);
    expect(await latestNow()).toEqual([{ version: '19.533-5', latest: true }]);
  });

  it('flags the latest by the scenario, not by its number, and offers and withdraws at an instant', async () => {
    const { send, clock } = await aService({
      builds: [
        '19.1-1',
        { version: '19.500-1', withdrawnAfter: '10m' },
        { version: '19.2-1', latest: true, offeredAfter: '5m' },
      ],
    });
    const offered = async () =>
      (await send('/v1/collectors/upgrades/targets')).body.targets.map(
        (target: { version: string; latest: boolean }) => target.version + (target.latest ? ' latest' : ''),
      );
    expect(await offered()).toEqual(['19.1-1', '19.500-1 latest']);
    clock.advance(5 * minuteMs);
    expect(await offered()).toEqual(['19.1-1', '19.500-1', '19.2-1 latest']);
    clock.advance(5 * minuteMs);
    expect(await offered()).toEqual(['19.1-1', '19.2-1 latest']);
  });

  it('leaves out offline, hosted, too old ones, those at the target, and unreadable ones', async () => {
    const setup = await aService({ fleet: { size: 1_000 } });
    const listed = new Set(await upgradableIds(setup));
    const all = (await setup.send('/v1/collectors?limit=1000')).body.collectors;
    for (const collector of all) {
      const minor = Number(/^19\.(\d+)-/.exec(collector.collectorVersion)?.[1] ?? Number.NaN);
      const expected =
        collector.collectorType === 'Installable' && collector.alive && minor >= 182 && minor !== 536;
      expect([collector.id, listed.has(collector.id)]).toEqual([collector.id, expected]);
    }
  });

  it('pages by 50, lists others for another build, and shrinks while upgrades run', async () => {
    const setup = await aService({ fleet: { size: 300 } });
    const page = await setup.send('/v1/collectors/upgrades/collectors');
    expect(page.body.collectors).toHaveLength(50);
    const ids = await upgradableIds(setup);
    const older = idsOf(await setup.send('/v1/collectors/upgrades/collectors?toVersion=19.441-2&limit=1000'));
    expect(new Set(older)).not.toEqual(new Set(ids));
    expect(older.length).toBeGreaterThan(50);
    for (const collectorId of ids.slice(0, 3)) await setup.create({ collectorId });
    expect(await upgradableIds(setup)).toEqual(ids.slice(3));
    expect((await setup.send('/v1/collectors/upgrades/collectors?offset=1000')).body.collectors).toEqual([]);
  });

  it.each(['limit=0', 'offset=x', 'toVersion=19.999-1', 'toVersion=new'])(
    'answers 400 to %s',
    async (query) => {
      const { send } = await aService();
      expect((await send(`/v1/collectors/upgrades/collectors?${query}`)).status).toBe(400);
    },
  );

  it('creates a task: 202, an id as text, its path; the status has the id as a number', async () => {
    const setup = await aService();
    const [collectorId] = await upgradableIds(setup);
    const created = await setup.create({ collectorId, toVersion: '' });
    expect(created.status).toBe(202);
    expect(created.body.id).toMatch(/^\d+$/);
    expect(created.body.link.href).toBe(`/v1/collectors/upgrades/${created.body.id}`);
    const { upgrade } = (await setup.send(created.body.link.href)).body;
    expect(upgrade).toEqual({
      id: Number(created.body.id),
      collectorId,
      toVersion: latest,
      requestTime: setup.clock.now(),
      status: 0,
      message: '',
    });
  });

  it('accepts a downgrade', async () => {
    const setup = await aService();
    const collectorId = idWhere(setup, ({ version }) => version === latest);
    expect((await setup.create({ collectorId, toVersion: '19.441-2' })).status).toBe(202);
  });

  it('answers 404 to an unknown task', async () => {
    const { send } = await aService();
    for (const id of ['123', 'abc']) {
      expect(await send(`/v1/collectors/upgrades/${id}`)).toMatchObject({
        status: 404,
        body: { status: 404 },
      });
    }
  });
});

describe('§4.3 415', () => {
  it('refuses a body or a stated type other than JSON, serves a GET that states none', async () => {
    const { send } = await aService();
    const path = '/v1/collectors/upgrades';
    expect((await send(path, { method: 'POST', body: '{"collectorId":1}' })).status).toBe(415);
    const text = { 'content-type': 'text/plain' };
    expect((await send(path, { method: 'POST', body: '{}', headers: text })).status).toBe(415);
    expect(await send(`${path}/targets`, { headers: text })).toMatchObject({
      status: 415,
      body: { code: 'contenttype.invalid' },
    });
    expect((await send(`${path}/targets`)).status).toBe(200);
    expect((await send(`${path}/targets`, { body: {} })).status).toBe(200);
    const charset = { 'content-type': 'application/json; charset=utf-8' };
    expect((await send(path, { method: 'POST', body: '{}', headers: charset })).body.code).toBe(
      'collector.invalid',
    );
  });

  it('keeps to the letter where the scenario is strict', async () => {
    const { send } = await aService({ strictContentType: true });
    expect((await send('/v1/collectors/upgrades/targets')).status).toBe(415);
    const json = { 'content-type': 'application/json' };
    expect((await send('/v1/collectors/upgrades/targets', { headers: json })).status).toBe(200);
    expect((await send('/v1/collectors')).status).toBe(200);
  });
});

describe('§5 authentication', () => {
  const wrongKey = { headers: { authorization: basic({ accessId: 'x', accessKey: 'y' }) } };

  it('challenges a request without credentials, which is no failed sign-in', async () => {
    const { send } = await aService({ limits: { signInsPerMinute: 1 } });
    for (let sent = 0; sent < 5; sent++) {
      const answer = await send('/v1/collectors', { anonymous: true });
      expect(answer).toMatchObject({ status: 401, body: { status: 401, code: 'unauthorized' } });
      expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    }
    expect((await send('/v1/collectors')).status).toBe(200);
  });

  it('refuses a wrong key and a wrong id', async () => {
    const { send } = await aService();
    for (const given of [
      { accessId: 'anid', accessKey: 'no' },
      { accessId: 'no', accessKey: 'akey' },
    ]) {
      const headers = { authorization: basic(given) };
      expect((await send('/v1/collectors', { anonymous: true, headers })).status).toBe(401);
    }
  });

  it('throttles sign-ins per minute with the very answer of a wrong key', async () => {
    const { send, clock } = await aService({ limits: { signInsPerMinute: 3 } });
    const wrong = await send('/v1/collectors', wrongKey);
    for (let sent = 0; sent < 3; sent++) expect((await send('/v1/collectors')).status).toBe(200);
    const throttled = await send('/v1/collectors');
    expect(throttled.status).toBe(401);
    expect({ ...throttled.body, id: '' }).toEqual({ ...wrong.body, id: '' });
    clock.advance(minuteMs);
    expect((await send('/v1/collectors')).status).toBe(200);
  });

  it('spares a sign-in with the session cookie, with or without credentials', async () => {
    const { send, service, clock } = await aService({
      limits: { signInsPerMinute: 1, sessionLifetime: '10m' },
    });
    const cookie = String((await send('/v1/collectors')).headers['set-cookie']).split(';')[0] ?? '';
    for (let sent = 0; sent < 3; sent++) {
      const answer = await send('/v1/collectors', { headers: { cookie } });
      expect(answer.status).toBe(200);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    expect((await send('/v1/collectors', { anonymous: true, headers: { cookie } })).status).toBe(200);
    expect((await send('/v1/collectors')).status).toBe(401);
    expect(service.record.signIns).toEqual({ accepted: 1, wrongKey: 0, throttled: 1 });
    clock.advance(10 * minuteMs);
    expect((await send('/v1/collectors', { anonymous: true, headers: { cookie } })).status).toBe(401);
    service.forgetSessions();
  });
});

describe('§7 errors', () => {
  it('have the flat body with an instance id', async () => {
    const { send } = await aService();
    const answer = await send('/v1/nothing');
    expect(answer).toMatchObject({ status: 404, body: { status: 404, code: 'notfound' } });
    expect(answer.body.id).toMatch(/^[0-9A-Z]{5}-[0-9A-Z]{5}-[0-9A-Z]{5}$/);
    const restarted = await aReferenceService();
    expect((await restarted.send('/v1/nothing')).body.id).not.toBe(answer.body.id);
    await restarted.close();
    expect(typeof answer.body.message).toBe('string');
    const wrong = await send('/v1/collectors/upgrades', { method: 'DELETE' });
    expect(wrong).toMatchObject({
      status: 405,
      body: { code: 'method.unsupported' },
      headers: { allow: expect.stringContaining('POST') },
    });
    const headers = { 'content-type': 'application/json' };
    const malformed = await send('/v1/collectors/upgrades', {
      method: 'POST',
      body: '{"collectorId":',
      headers,
    });
    expect(malformed).toMatchObject({ status: 400, body: { code: 'service.json.invalid' } });
  });
});

describe('§7.5 refused creates', () => {
  it('collector.invalid: missing, unknown, or no number', async () => {
    const { create, service } = await aService();
    for (const body of [{}, { collectorId: 1 }, { collectorId: 'x' }, { toVersion: latest }]) {
      expect(await create(body)).toMatchObject({ status: 400, body: { code: 'collector.invalid' } });
    }
    expect(service.record.snapshot().refusedCreates).toEqual({ 'collector.invalid': 4 });
  });

  it('collector.type.invalid: a Hosted one', async () => {
    const setup = await aService({ fleet: { size: 300 } });
    const collectorId = idWhere(setup, ({ collectorType }) => collectorType === 'Hosted');
    expect(await setup.create({ collectorId })).toMatchObject({
      status: 400,
      body: { code: 'collector.type.invalid' },
    });
  });

  it('collector.not.alive: dead for 30 minutes', async () => {
    const setup = await aService();
    const [collectorId] = await upgradableIds(setup);
    setup.service.world.kill(collectorId);
    setup.clock.advance(30 * minuteMs);
    expect(await setup.create({ collectorId })).toMatchObject({
      status: 400,
      body: { code: 'collector.not.alive' },
    });
  });

  it('collector.in.upgrading: until its task has ended', async () => {
    const setup = await aService();
    const [collectorId] = await upgradableIds(setup);
    await setup.create({ collectorId });
    expect(await setup.create({ collectorId })).toMatchObject({
      status: 400,
      body: { code: 'collector.in.upgrading' },
    });
    setup.clock.advance(31 * minuteMs);
    expect((await setup.create({ collectorId })).status).toBe(202);
  });

  it('collector.version.invalid: unreadable, not on offer, withdrawn, no text', async () => {
    const setup = await aService();
    const [collectorId] = await upgradableIds(setup);
    setup.service.world.withdrawBuild('19.525-63');
    for (const toVersion of ['nonsense', '19.999-1', '19.525-63', '19.137-15', 5]) {
      const answer = await setup.create({ collectorId, toVersion });
      expect(answer).toMatchObject({ status: 400, body: { code: 'collector.version.invalid' } });
    }
  });
});

describe('§8 limits', () => {
  it('answers 429 above 4 requests in any one second, sliding', async () => {
    const { send, clock, service } = await aService({ limits: { requestsPerSecond: 4, retryAfter: '2s' } });
    const statuses = async (count: number) => {
      const seen: number[] = [];
      for (let sent = 0; sent < count; sent++)
        seen.push((await send('/v1/collectors/upgrades/targets')).status);
      return seen;
    };
    expect(await statuses(2)).toEqual([200, 200]);
    clock.advance(600);
    expect(await statuses(3)).toEqual([200, 200, 429]);
    clock.advance(391);
    expect(await statuses(1)).toEqual([429]);
    // A few milliseconds early is early enough.
    clock.advance(1);
    expect(await statuses(3)).toEqual([200, 200, 429]);
    const refused = await send('/v1/collectors');
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate.limit.exceeded' },
      headers: { 'retry-after': '2' },
    });
    expect(service.record.throttled.rate).toBe(4);
  });

  it('counts real seconds, and speed times as many fit into one', async () => {
    const realClock = aStatusClock();
    const { send } = await aService({ limits: { requestsPerSecond: 4 } }, { realClock, speed: 2 });
    for (let sent = 0; sent < 8; sent++) expect((await send('/v1/collectors')).status).toBe(200);
    expect((await send('/v1/collectors')).status).toBe(429);
    realClock.advance(1_000);
    expect((await send('/v1/collectors')).status).toBe(200);
  });

  it('answers 429 above 10 concurrent requests of one key', async () => {
    const gate = aGate();
    const { send, service } = await aService(
      { httpFaults: [{ operations: ['listCollectors'], share: 1, fault: 'slow' }] },
      { waitReal: () => gate.passed },
    );
    const slow = Array.from({ length: 10 }, () => send('/v1/collectors'));
    await expect.poll(() => service.record.concurrentRequestsMax).toBe(10);
    expect((await send('/v1/collectors/upgrades/targets')).status).toBe(429);
    gate.open();
    for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
    expect((await send('/v1/collectors/upgrades/targets')).status).toBe(200);
    expect(service.record.throttled).toEqual({ rate: 0, concurrency: 1, fault: 0 });
  });
});

describe('HTTP faults', () => {
  const played = (fault: string) => ({
    httpFaults: [
      { operations: ['createUpgradeTask'], share: 1, fault, until: '1h' },
    ] as ScenarioInput['httpFaults'],
  });
  const createOne = async (fault: string) => {
    const setup = await aService({ ...played(fault) } as ScenarioInput);
    const [collectorId] = await upgradableIds(setup);
    return { setup, collectorId, answer: setup.create({ collectorId }) };
  };

  it.each([
    ['500', 500],
    ['503', 503],
    ['502html', 502],
    ['429', 429],
    ['401', 401],
  ])('%s is answered before the work', async (fault, status) => {
    const { setup, collectorId, answer } = await createOne(fault);
    expect((await answer).status).toBe(status);
    if (fault === '502html') expect((await answer).headers['content-type']).toContain('text/html');
    if (fault === '429') expect((await answer).body.errors).toHaveLength(1);
    expect(setup.service.world.isInUpgrade(collectorId)).toBe(false);
    expect(setup.service.record.snapshot().faults).toEqual({ [fault]: 1 });
  });

  it('cutOff cuts the connection before the work', async () => {
    const { setup, collectorId, answer } = await createOne('cutOff');
    await expect(answer).rejects.toThrow();
    expect(setup.service.world.isInUpgrade(collectorId)).toBe(false);
  });

  it.each(['answerLost', 'cutOffMidBody'])('%s loses the answer after the work was done', async (fault) => {
    const { setup, collectorId, answer } = await createOne(fault);
    await expect(answer).rejects.toThrow();
    expect(setup.service.world.isInUpgrade(collectorId)).toBe(true);
    expect(setup.service.record.createsOf(collectorId)).toBe(1);
  });

  it('500AfterWork and brokenJson hide the work that was done', async () => {
    const { setup, collectorId, answer } = await createOne('500AfterWork');
    expect((await answer).status).toBe(500);
    expect(setup.service.world.isInUpgrade(collectorId)).toBe(true);
    await open?.close();
    const broken = await createOne('brokenJson');
    expect(await broken.answer).toMatchObject({ status: 202, body: undefined });
    expect(broken.setup.service.world.isInUpgrade(broken.collectorId)).toBe(true);
  });

  it('show lists without rows, or always the same part of them, and know no collector', async () => {
    const { send } = await aService({
      httpFaults: [
        { operations: ['listUpgradableCollectors'], share: 1, fault: 'emptyList' },
        { operations: ['listCollectors'], share: 1, fault: 'partialList', keeps: 0.5 },
        { operations: ['getCollector'], share: 1, fault: '404' },
      ],
    });
    const idsOf = async (path: string) => {
      const { status, body } = await send(path);
      expect(status).toBe(200);
      return (body as { readonly collectors: ReadonlyArray<{ readonly id: number }> }).collectors.map(
        ({ id }) => id,
      );
    };
    expect(await idsOf('/v1/collectors/upgrades/collectors')).toEqual([]);
    const part = await idsOf('/v1/collectors?limit=1000');
    expect(part.length).toBeGreaterThan(0);
    expect(await idsOf('/v1/collectors?limit=1000')).toEqual(part);
    const { body } = await send('/reference/record');
    expect(body).toMatchObject({ faults: { emptyList: 1, partialList: 2 } });
    expect(await send(`/v1/collectors/${part[0]}`)).toMatchObject({
      status: 404,
      body: { code: 'InvalidCollector' },
    });
  });

  it('end with their time, and strike the same requests for the same seed', async () => {
    const run = async () => {
      const { send, clock } = await aService({ httpFaults: [{ share: 0.5, fault: '500', until: '1h' }] });
      const seen: number[] = [];
      for (let sent = 0; sent < 20; sent++) seen.push((await send('/v1/collectors?limit=1')).status);
      clock.advance(60 * minuteMs);
      for (let sent = 0; sent < 5; sent++) expect((await send('/v1/collectors?limit=1')).status).toBe(200);
      await open?.close();
      return seen;
    };
    const first = await run();
    expect(new Set(first)).toEqual(new Set([200, 500]));
    expect(await run()).toEqual(first);
    open = undefined;
  });
});

describe('GET /reference/record', () => {
  it('tells what clients did, behind the same credentials, without counting itself', async () => {
    const setup = await aService();
    const ids = await upgradableIds(setup);
    for (const collectorId of ids.slice(0, 3)) await setup.create({ collectorId });
    setup.clock.advance(31 * minuteMs);
    await setup.create({ collectorId: ids[0] });
    expect((await setup.send('/reference/record', { anonymous: true })).status).toBe(401);
    const { body } = await setup.send('/reference/record');
    expect(body).toMatchObject({
      createsPerCollector: { [ids[0]]: 2 },
      needlessCreates: 1,
      tasksInFlight: 1,
      tasksInFlightMax: 3,
      requests: { 'listUpgradableCollectors 200': 1, 'createUpgradeTask 202': 4 },
      throttled: { rate: 0, concurrency: 0, fault: 0 },
      requestsInOneSecondMax: 4,
    });
    expect(body.creates).toHaveLength(4);
  });
});

/** A promise that is kept when told to. */
function aGate() {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}
