import { describe, expect, it } from 'vitest';
import { parseScenario, type ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import {
  basic,
  openReferenceService,
  type RawRequest,
  refusalWith,
} from '../../../support/reference-client.ts';

// What the API documents is in the conformance suite. Here is what the reference service answers where it leaves a choice.

/** A service with several accounts and deployments. */
async function aService(scenario: ScenarioInput = {}) {
  const setup = await openReferenceService({
    keys: [{ accessId: 'european', accessKey: 'k', account: 'european' }],
    accounts: { european: { deployment: 'eu', fleet: 3 } },
    deployments: { eu: {} },
    ...scenario,
  });
  const { send } = setup;
  const sendAs = (accessId: string, path: string, options: RawRequest = {}) =>
    send(path, {
      ...options,
      headers: { authorization: basic({ accessId, accessKey: 'k' }), ...options.headers },
    });
  return { ...setup, sendAs };
}

describe('deployments', () => {
  it('are served below subdomains of localhost, and a wrong deployment accepts no sign-in', async () => {
    const { send, sendAs, service } = await aService();
    const answer = await sendAs('european', '/v1/collectors?limit=2');
    expect(answer).toMatchObject(refusalWith(301, 'moved'));
    expect(answer.headers['location']).toBe(`http://eu.localhost:${service.port}/v1/collectors?limit=2`);
    const headers = { host: `eu.localhost:${service.port}` };
    expect((await sendAs('european', '/v1/collectors', { headers })).body.collectors).toHaveLength(3);
    expect((await send('/v1/collectors', { headers })).status).toBe(301);
    expect(service.record.signIns).toEqual({ accepted: 1, wrongKey: 0, throttled: 0 });
    expect(() => service.worldOf('none')).toThrow(/no account "none"/);
  });

  it('are distinguished by any of their hosts and addresses', async () => {
    const { sendAs } = await aService({
      deployments: { eu: { hosts: ['api.eu.example.com'], url: 'https://api.eu.example.com/' } },
    });
    const answer = await sendAs('european', '/api/v1/collectors');
    expect(answer.headers['location']).toBe('https://api.eu.example.com/api/v1/collectors');
    const headers = { host: 'API.eu.example.com' };
    expect((await sendAs('european', '/v1/collectors', { headers })).status).toBe(200);
  });
});

describe('a scenario of accounts', () => {
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
    expect(parse).toThrow(/keys\.1\.accessId: "x" is given twice/);
  });
});

describe('bodies of errors', () => {
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
    expect(await send('/v1/collectors/1')).toMatchObject(refusalWith(404, 'InvalidCollector'));
  });
});
