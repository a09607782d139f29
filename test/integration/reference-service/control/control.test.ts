import { describe, expect, it } from 'vitest';
import { openReferenceService, type ReferenceSetup, refusalWith } from '../../../support/reference-client.ts';

const calm = {
  naturalFailures: { failed: 0, timeout: 0, lost: 0, lostMac: 0 },
  fleet: { shares: { dead: 0 } },
};
const post = ({ send }: ReferenceSetup, path: string, body?: unknown) =>
  send(`/reference/${path}`, { method: 'POST', ...(body === undefined ? {} : { body }) });
const sizeOf = async ({ send }: ReferenceSetup) => (await send('/reference/health')).body.collectors;

async function firstUpgradable({ send }: ReferenceSetup): Promise<number> {
  return (await send('/v1/collectors/upgrades/collectors?limit=1')).body.collectors[0].id;
}

describe('what the service shows of itself', () => {
  it('needs no sign-in and has no limit: health, document and page', async () => {
    const { send, service } = await openReferenceService({
      limits: { requestsPerSecond: 1, signInsPerMinute: 1 },
    });
    const open = (path: string) => send(path, { anonymous: true });
    for (let sent = 0; sent < 5; sent += 1)
      expect(await open('/reference/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect((await open('/reference/openapi.json')).body).toMatchObject({ openapi: '3.1.0' });
    expect(service.record.snapshot().requests).toEqual({});
  });

  it('is a page with builds and collectors, their names escaped, that links to nothing', async () => {
    const { send, service } = await openReferenceService(calm);
    const [first] = service.world.collectors();
    service.world.rename(first?.facts.id ?? 0, '<b>web</b>');
    const { text, headers } = await send('/reference/', { anonymous: true });
    expect(headers['content-type']).toContain('text/html');
    expect(text).toContain('60 collectors, 0 in upgrade');
    expect(text).toContain('&lt;b&gt;web&lt;/b&gt;');
    expect(text).toMatch(/<td>19\.536-4<\/td><td>latest<\/td>/);
    expect(text).not.toMatch(/href|<script/);
  });

  it('is the newest requests with their bodies, for those who have a key', async () => {
    const setup = await openReferenceService(calm);
    expect((await setup.send('/reference/requests', { anonymous: true })).status).toBe(401);
    await setup.send('/v1/collectors?limit=1');
    await setup.create({ collectorId: 7 });
    const { body } = await setup.send('/reference/requests?limit=1');
    expect(body.requests).toEqual([
      {
        at: setup.clock.now(),
        method: 'POST',
        url: '/v1/collectors/upgrades',
        body: '{"collectorId":7}',
        status: 400,
      },
    ]);
    expect((await setup.send('/reference/requests')).body.requests).toHaveLength(2);
  });
});

describe('what others do to the service', () => {
  it('needs a key', async () => {
    const { send } = await openReferenceService();
    const answer = await send('/reference/reset', { method: 'POST', anonymous: true });
    expect(answer.status).toBe(401);
  });

  it('kills, revives and upgrades a collector, and moves time', async () => {
    const setup = await openReferenceService(calm);
    const id = await firstUpgradable(setup);
    const isAlive = async () => (await setup.send(`/v1/collectors/${id}`)).body.collector.alive;
    await post(setup, `collectors/${id}/kill`);
    const before = setup.service.clock.now();
    const { body } = await post(setup, 'time', { advance: '31m' });
    expect(body.now - before).toBe(31 * 60_000);
    expect(await isAlive()).toBe(false);
    await post(setup, `collectors/${id}/revive`);
    expect(await isAlive()).toBe(true);
    const { taskId } = (await post(setup, `collectors/${id}/upgrade`)).body;
    expect((await setup.send(`/v1/collectors/upgrades/${taskId}`)).body.upgrade.collectorId).toBe(id);
    await post(setup, 'time', { advance: '40m' });
    expect((await setup.send(`/v1/collectors/upgrades/${taskId}`)).body.upgrade.status).toBe(2);
  });

  it('offers and withdraws a build', async () => {
    const setup = await openReferenceService();
    expect((await post(setup, 'builds', { version: '20.1-1' })).body.offered).toContain('20.1-1');
    const { offered } = (await post(setup, 'builds', { version: '20.1-1', offered: false })).body;
    expect(offered).not.toContain('20.1-1');
  });

  it('begins again: the same fleet, no tasks, an empty record, and no limit used up', async () => {
    const setup = await openReferenceService({ ...calm, limits: { requestsPerSecond: 3 } });
    const id = await firstUpgradable(setup);
    await setup.create({ collectorId: id });
    await post(setup, `collectors/${id}/kill`);
    expect((await post(setup, 'reset')).body).toEqual({ collectors: 60 });
    expect(await firstUpgradable(setup)).toBe(id);
    expect(setup.service.record.snapshot()).toMatchObject({ creates: [], tasksInFlight: 0 });
    expect(setup.service.world.isInUpgrade(id)).toBe(false);
  });

  it('plays another scenario, and keeps the present one where that has mistakes', async () => {
    const setup = await openReferenceService(calm);
    const refused = await post(setup, 'scenario', { fleet: { size: -1 }, bilds: [] });
    expect(refused).toMatchObject(refusalWith(400, 'scenario.invalid'));
    expect(refused.body.message).toMatch(/fleet\.size: .*\n.*bilds/s);
    expect(await sizeOf(setup)).toBe(60);
    const scenario = { fleet: { size: 7 }, accounts: { small: { fleet: 2 } }, errorBodies: 'list' };
    expect((await post(setup, 'scenario', scenario)).body).toEqual({ collectors: 7 });
    expect((await setup.send('/v1/collectors')).body.collectors).toHaveLength(7);
    expect((await setup.send('/reference?account=small')).text).toContain('2 collectors');
    expect((await setup.send('/v1/nothing')).body.errors).toHaveLength(1);
  });

  it.each([
    ['a collector that is not there', 'collectors/7/kill', {}, refusalWith(404, 'InvalidCollector')],
    [
      'an account that is not there',
      'builds?account=none',
      { version: '1.1-1' },
      refusalWith(404, 'notfound'),
    ],
    ['a duration that is none', 'time', { advance: 'soon' }, { status: 400 }],
    ['time that goes back', 'time', { advance: '-5m' }, { status: 400 }],
    ['an unknown key', 'builds', { version: '1.1-1', offerd: false }, { status: 400 }],
  ])('refuses %s', async (_what, path, body, expected) => {
    expect(await post(await openReferenceService(), path, body)).toMatchObject(expected);
  });
});
