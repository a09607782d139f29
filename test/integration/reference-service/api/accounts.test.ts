import { afterEach, describe, expect, it } from 'vitest';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { parseScenario } from '../../../../src/reference-service/scenario/scenario.ts';
import {
  aReferenceService,
  basic,
  type RawRequest,
  type ReferenceSetup,
} from '../../../support/reference-client.ts';

let open: ReferenceSetup | undefined;

const keys = [
  { accessId: 'second', accessKey: 'k' },
  { accessId: 'viewer', accessKey: 'k', user: 'viv', may: 'view' },
  { accessId: 'nobody', accessKey: 'k', user: 'nob', may: 'nothing' },
  { accessId: 'small', accessKey: 'k', account: 'small' },
  { accessId: 'european', accessKey: 'k', account: 'european' },
] as const satisfies ScenarioInput['keys'];

/** A service with several users, accounts and deployments. */
async function aService(scenario: ScenarioInput = {}) {
  open = await aReferenceService({
    keys: [...keys],
    accounts: { small: { enterprise: false, fleet: 4 }, european: { deployment: 'eu', fleet: 3 } },
    deployments: { eu: {} },
    ...scenario,
  });
  const { send } = open;
  const sendAs = (accessId: string, path: string, options: RawRequest = {}) =>
    send(path, {
      ...options,
      headers: { authorization: basic({ accessId, accessKey: 'k' }), ...options.headers },
    });
  return { ...open, sendAs };
}
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const failure = (status: number, code: string) => ({ status, body: { status, code } });
const hosted = { collector: { collectorType: 'Hosted', name: 'ours' } };

describe('§5.2 capabilities', () => {
  it('lets a viewer read everything and change nothing', async () => {
    const { sendAs, service } = await aService();
    const [collector] = service.world.upgradableTo('19.536-4');
    const id = collector?.facts.id ?? 0;
    for (const path of [
      '/v1/collectors',
      `/v1/collectors/${id}`,
      `/v1/collectors/${id}/sources`,
      '/v1/collectors/upgrades/targets',
      '/v1/collectors/upgrades/collectors',
    ]) {
      expect((await sendAs('viewer', path)).status).toBe(200);
    }
    const forbidden = failure(403, 'CannotModifyCollector');
    const body = hosted;
    expect(await sendAs('viewer', '/v1/collectors', { method: 'POST', body })).toMatchObject(forbidden);
    expect(await sendAs('viewer', `/v1/collectors/${id}`, { method: 'PUT', body })).toMatchObject(forbidden);
    expect(await sendAs('viewer', `/v1/collectors/${id}`, { method: 'DELETE' })).toMatchObject(forbidden);
    expect(await sendAs('viewer', '/v1/collectors/offline', { method: 'DELETE' })).toMatchObject(forbidden);
    expect(
      await sendAs('viewer', `/v1/collectors/${id}/sources`, { method: 'POST', body: { source: {} } }),
    ).toMatchObject(failure(403, 'forbidden'));
    expect(service.world.collector(id)).toBeDefined();
  });

  it('refuses a task of someone without permission as collector.invalid (§7.5)', async () => {
    const { sendAs, service } = await aService();
    const [collector] = service.world.upgradableTo('19.536-4');
    const body = { collectorId: collector?.facts.id };
    expect(await sendAs('viewer', '/v1/collectors/upgrades', { method: 'POST', body })).toMatchObject(
      failure(400, 'collector.invalid'),
    );
    expect(service.record.snapshot().refusedCreates).toEqual({ 'collector.invalid': 1 });
  });

  it('shows nothing to someone with neither capability', async () => {
    const { sendAs } = await aService();
    expect(await sendAs('nobody', '/v1/collectors')).toMatchObject(failure(403, 'forbidden'));
    expect(await sendAs('nobody', '/v1/collectors/upgrades/targets')).toMatchObject(
      failure(403, 'forbidden'),
    );
    expect((await sendAs('nobody', '/v1/nothing')).status).toBe(404);
  });
});

describe('§8 limits of users and keys', () => {
  it('counts the rate of a user over all its keys, of each user alone', async () => {
    const { send, sendAs, clock } = await aService({ limits: { requestsPerSecond: 4 } });
    const statuses = [
      await send('/v1/collectors'),
      await sendAs('second', '/v1/collectors'),
      await send('/v1/collectors'),
      await sendAs('second', '/v1/collectors'),
      await send('/v1/collectors'),
      await sendAs('second', '/v1/collectors'),
      await sendAs('viewer', '/v1/collectors'),
      await sendAs('small', '/v1/collectors'),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 200, 200]);
    clock.advance(1_000);
    expect((await send('/v1/collectors')).status).toBe(200);
  });

  it('does not take one key with the session of another', async () => {
    const { send, sendAs } = await aService();
    const cookie = String((await send('/v1/collectors')).headers['set-cookie']).split(';')[0] ?? '';
    const answer = await sendAs('nobody', '/v1/collectors', { headers: { cookie } });
    expect(answer.status).toBe(403);
    expect(answer.headers['set-cookie']).toBeDefined();
  });
});

describe('§1 accounts', () => {
  it('have fleets, names and ids of their own', async () => {
    const { send, sendAs, service } = await aService();
    const small = (await sendAs('small', '/v1/collectors')).body.collectors;
    expect(small).toHaveLength(4);
    expect((await send(`/v1/collectors/${small[0].id}`)).status).toBe(404);
    expect((await send('/v1/collectors', { method: 'POST', body: hosted })).status).toBe(201);
    expect((await sendAs('small', '/v1/collectors', { method: 'POST', body: hosted })).status).toBe(201);
    expect(service.worldOf('small').collectors()).toHaveLength(5);
    expect(() => service.worldOf('none')).toThrow(/no account "none"/);
  });

  it('without Enterprise may not use the Search Job interface (§5.6)', async () => {
    const { send, sendAs } = await aService();
    const create = { method: 'POST', body: { query: '*' } } as const;
    expect(await sendAs('small', '/v1/search/jobs', create)).toMatchObject(failure(403, 'forbidden'));
    expect(await sendAs('small', '/v1/search/jobs/x')).toMatchObject(failure(403, 'forbidden'));
    expect((await send('/v1/search/jobs', create)).status).toBe(202);
  });
});

describe('§1 deployments', () => {
  it('answer 301 moved to an account of another one, with the right address', async () => {
    const { send, sendAs, service } = await aService();
    const answer = await sendAs('european', '/v1/collectors?limit=2');
    expect(answer).toMatchObject(failure(301, 'moved'));
    expect(answer.headers['location']).toBe(`http://eu.localhost:${service.port}/v1/collectors?limit=2`);
    const headers = { host: `eu.localhost:${service.port}` };
    expect((await sendAs('european', '/v1/collectors', { headers })).body.collectors).toHaveLength(3);
    const back = await send('/v1/collectors', { headers });
    expect(back).toMatchObject({ status: 301, headers: { location: `${service.url}/v1/collectors` } });
    expect(service.record.signIns).toEqual({ accepted: 1, wrongKey: 0, throttled: 0 });
  });

  it('are told from each other by any host and address of theirs', async () => {
    const { sendAs } = await aService({
      deployments: { eu: { hosts: ['api.eu.example.com'], url: 'https://api.eu.example.com/' } },
    });
    const answer = await sendAs('european', '/api/v1/collectors');
    expect(answer.headers['location']).toBe('https://api.eu.example.com/api/v1/collectors');
    const headers = { host: 'API.eu.example.com' };
    expect((await sendAs('european', '/v1/collectors', { headers })).status).toBe(200);
  });
});

describe('a scenario', () => {
  it('is refused when keys, accounts and deployments do not fit', () => {
    const parse = () =>
      parseScenario({
        accounts: { a: { deployment: 'mars' } },
        keys: [
          { accessId: 'x', accessKey: 'y', account: 'b' },
          { accessId: 'x', accessKey: 'y' },
        ],
      });
    expect(parse).toThrow(/accounts\.a\.deployment: there is no deployment "mars"/);
    expect(parse).toThrow(/keys\.0\.account: there is no account "b"/);
    expect(parse).toThrow(/keys\.1\.accessId: "x" is there twice/);
  });
});

describe('§7.1 bodies of errors', () => {
  it("are a gateway's where the scenario says so", async () => {
    const { send } = await aService({ errorBodies: 'list', errorCodes: 'wire' });
    expect((await send('/v1/collectors/1')).body).toEqual({
      id: expect.any(String),
      errors: [{ code: 'collectors.collector.invalid', message: expect.any(String) }],
    });
  });

  it('are HTML for one status, flat for the others', async () => {
    const { send } = await aService({ errorBodies: { '401': 'html' } });
    const refused = await send('/v1/collectors', { anonymous: true });
    expect(refused.status).toBe(401);
    expect(refused.headers['content-type']).toContain('text/html');
    expect(refused.headers['www-authenticate']).toMatch(/^Basic/);
    expect(await send('/v1/collectors/1')).toMatchObject(failure(404, 'InvalidCollector'));
  });
});
