import { afterEach, describe, expect, it } from 'vitest';
import { Collector } from '../../../../src/contract/collector-management/collectors.ts';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { aReferenceService, type ReferenceSetup } from '../../../support/reference-client.ts';

const hourMs = 3_600_000;

let open: ReferenceSetup | undefined;
async function aService(scenario: ScenarioInput = {}) {
  open = await aReferenceService(scenario);
  const { send } = open;
  const post = (collector: unknown) => send('/v1/collectors', { method: 'POST', body: { collector } });
  const get = (id: number) => send(`/v1/collectors/${id}`);
  const put = (id: number, collector: unknown, ifMatch?: string) =>
    send(`/v1/collectors/${id}`, {
      method: 'PUT',
      body: { collector },
      headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
    });
  /** Reads, edits, writes. */
  const change = async (
    id: number,
    edit: (collector: Record<string, unknown>) => Record<string, unknown>,
  ) => {
    const { body, headers } = await get(id);
    return put(id, edit(body.collector), String(headers['etag']));
  };
  const create = async (stated: object = {}) => {
    const answer = await post({ collectorType: 'Hosted', name: 'ours', ...stated });
    expect(answer.status).toBe(201);
    return answer.body.collector;
  };
  return { ...open, post, get, put, change, create };
}
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const failure = (status: number, code: string) => ({ status, body: { status, code } });
const longName = (length: number) => 'ü'.repeat(length);

describe('§4.1 create', () => {
  it('makes a Hosted Collector with a generated id and the defaults', async () => {
    const { create, get } = await aService();
    const created = await create();
    expect(Collector.safeParse(created).success).toBe(true);
    expect(created).toEqual({
      id: expect.any(Number),
      name: 'ours',
      collectorType: 'Hosted',
      description: null,
      category: null,
      hostName: null,
      timeZone: null,
      fields: {},
      ephemeral: false,
      targetCpu: null,
      cutoffTimestamp: 0,
      alive: true,
      collectorVersion: '',
      links: [{ rel: 'sources', href: `/v1/collectors/${created.id}/sources` }],
    });
    expect((await get(created.id)).body.collector).toEqual(created);
  });

  it('keeps every modifiable field, `_budget`, and fields nobody knows', async () => {
    const { create, get } = await aService();
    const stated = {
      description: 'd'.repeat(1024),
      category: 'prod/web',
      hostName: 'h'.repeat(128),
      timeZone: 'Europe/Berlin',
      fields: { _budget: 'standard', team: 'payments' },
      ephemeral: true,
      targetCpu: -1,
      cutoffTimestamp: 1_700_000_000_000,
      madeUp: { deep: [1, null] },
    };
    const { id } = await create({ name: longName(128), ...stated });
    expect((await get(id)).body.collector).toMatchObject({ name: longName(128), ...stated });
  });

  it('takes a cutoff relative to now', async () => {
    const { create, clock } = await aService();
    expect(await create({ cutoffRelativeTime: '-2d' })).toMatchObject({
      cutoffRelativeTime: '-2d',
      cutoffTimestamp: clock.now() - 48 * hourMs,
    });
  });

  it.each([
    ['a stated id', { id: 5 }, 'createValidationError'],
    ['an Installed one', { collectorType: 'Installable' }, 'InvalidCollectorType'],
    ['another type', { collectorType: 'hosted' }, 'InvalidCollectorType'],
    ['no type', { collectorType: undefined }, 'InvalidCollectorType'],
    ['no name', { name: undefined }, 'service.name.missing'],
    ['an empty name', { name: '' }, 'service.name.invalid'],
    ['a name that is no text', { name: 7 }, 'service.name.invalid'],
    ['a name of 129 characters', { name: longName(129) }, 'CollectorNameTooLong'],
    ['a description of 1025 characters', { description: 'd'.repeat(1025) }, 'CollectorDescriptionTooLong'],
    ['a hostName of 129 characters', { hostName: 'h'.repeat(129) }, 'service.hostName.invalid'],
    ['fields that are no texts', { fields: { a: 1 } }, 'service.fields.invalid'],
    ['fields as a list', { fields: [] }, 'service.fields.invalid'],
    ['ephemeral as a text', { ephemeral: 'true' }, 'service.ephemeral.invalid'],
    [
      'a JSON mode, which is for Installed ones',
      { sourceSyncMode: 'Json' },
      'service.sourceSyncMode.invalid',
    ],
    ['a part of a percent', { targetCpu: 1.5 }, 'service.targetCpu.invalid'],
    ['more than all', { targetCpu: 101 }, 'service.targetCpu.invalid'],
    ['a negative instant', { cutoffTimestamp: -1 }, 'service.cutoffTimestamp.invalid'],
    ['a cutoff in the future', { cutoffRelativeTime: '2d' }, 'service.cutoffRelativeTime.invalid'],
  ])('refuses %s', async (_what, stated, code) => {
    const { post, service } = await aService();
    const before = service.world.collectors().length;
    expect(await post({ collectorType: 'Hosted', name: 'ours', ...stated })).toMatchObject(
      failure(400, code),
    );
    expect(service.world.collectors()).toHaveLength(before);
  });

  it('refuses a name that is there, in exactly this case', async () => {
    const { create, post } = await aService();
    await create();
    expect(await post({ collectorType: 'Hosted', name: 'ours' })).toMatchObject(
      failure(400, 'DuplicateResourceName'),
    );
    await create({ name: 'Ours' });
    expect((await post({ collectorType: 'Hosted', name: 'Staging Area' })).body.code).toBe(
      'DuplicateResourceName',
    );
  });

  it.each([undefined, {}, { collector: [] }, { collector: null }, { collector: 'x' }, [1], 7])(
    'refuses a body without a collector: %j',
    async (body) => {
      const { send } = await aService();
      const headers = { 'content-type': 'application/json' };
      expect((await send('/v1/collectors', { method: 'POST', body, headers })).status).toBe(400);
    },
  );
});

describe('§4.1, §4.4 update', () => {
  it('changes modifiable fields, and the ETag with them', async () => {
    const { create, change, get } = await aService();
    const { id } = await create();
    const before = (await get(id)).headers['etag'];
    const updated = await change(id, (collector) => ({ ...collector, name: 'theirs', fields: { a: 'b' } }));
    expect(updated).toMatchObject({ status: 200, body: { collector: { id, name: 'theirs' } } });
    const after = await get(id);
    expect(after.body.collector).toEqual(updated.body.collector);
    expect(after.headers['etag']).not.toBe(before);
  });

  it('leaves the ETag alone when nothing changes, whatever the heartbeat does', async () => {
    const { service, clock, change, get } = await aService();
    const [collector] = service.world.upgradableTo('19.536-4');
    const id = collector?.facts.id ?? 0;
    const before = (await get(id)).headers['etag'];
    const stale = (await get(id)).body.collector;
    clock.advance(60_000);
    expect((await change(id, () => stale)).status).toBe(200);
    expect((await get(id)).headers['etag']).toBe(before);
  });

  it('lets an Installed one change its mode, and keeps what it does not know', async () => {
    const { service, change } = await aService({ fleet: { size: 300 } });
    const odd = service.world.collectors().find(({ facts }) => facts.unknown !== undefined);
    const id = odd?.facts.id ?? 0;
    const answer = await change(id, ({ installedCollectorSubtype: _left, ...rest }) => ({
      ...rest,
      sourceSyncMode: 'Json',
      targetCpu: 40,
      madeUp: true,
    }));
    expect(answer.body.collector).toMatchObject({
      sourceSyncMode: 'Json',
      targetCpu: 40,
      madeUp: true,
      installedCollectorSubtype: 'Installed',
    });
  });

  it('needs the quoted ETag of the latest GET', async () => {
    const { create, get, put } = await aService();
    const created = await create();
    const etag = String((await get(created.id)).headers['etag']);
    const body = { ...created, category: 'a' };
    expect(await put(created.id, body)).toMatchObject(failure(400, 'service.ifthen.missing'));
    expect(await put(created.id, body, etag.replaceAll('"', ''))).toMatchObject(
      failure(400, 'service.ifthen.notquoted'),
    );
    expect(await put(created.id, body, '*')).toMatchObject(failure(400, 'service.ifthen.notquoted'));
    expect(await put(created.id, body, `W/${etag}`)).toMatchObject(failure(412, 'service.etagid.mismatch'));
    expect((await put(created.id, body, etag)).status).toBe(200);
    expect(await put(created.id, body, etag)).toMatchObject(failure(412, 'service.etagid.mismatch'));
    expect((await get(created.id)).body.collector.category).toBe('a');
  });

  const modifiable = ['description', 'category', 'hostName', 'timeZone', 'fields', 'ephemeral', 'targetCpu'];
  const without = (fields: readonly string[]) => (collector: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(collector).filter(([name]) => !fields.includes(name)));

  it('leaves what is not stated as it is', async () => {
    const { service, get, put } = await aService();
    const [{ facts } = { facts: undefined }] = service.world.upgradableTo('19.536-4');
    const id = facts?.id ?? 0;
    const { body, headers } = await get(id);
    const partial = { id, name: body.collector.name, category: 'prod/new' };
    const answer = await put(id, partial, String(headers['etag']));
    expect(answer).toMatchObject({ status: 200, body: { collector: partial } });
    expect(answer.body.collector).toEqual({ ...body.collector, category: 'prod/new' });
  });

  it('wants the name stated', async () => {
    const { create, change } = await aService();
    const { id } = await create();
    expect(await change(id, without(['name']))).toMatchObject(failure(400, 'service.name.missing'));
  });

  it.each([...modifiable, 'cutoffTimestamp', 'alive', 'collectorVersion'])(
    'wants %s stated where updates are strict',
    async (field) => {
      const { create, change } = await aService({ strictUpdates: true });
      const { id } = await create();
      expect(await change(id, without([field]))).toMatchObject(failure(400, `service.${field}.missing`));
      expect((await change(id, (shown) => shown)).status).toBe(200);
    },
  );

  it.each([
    ['another id', { id: 1 }, 'BadRequestCollectorId'],
    ['an id that is a text', { id: 'x' }, 'BadRequestCollectorId'],
    ['no id', { id: undefined }, 'BadRequestCollectorId'],
    ['another type', { collectorType: 'Hosted' }, 'InvalidCollectorType'],
    ['another system', { osName: 'BeOS' }, 'service.osName.notmodifiable'],
    ['another architecture', { osArch: 'pdp11' }, 'service.osArch.notmodifiable'],
    ['a cutoff relative to now', { cutoffRelativeTime: '-1d' }, 'service.cutoffRelativeTime.notmodifiable'],
    ['a long name', { name: longName(129) }, 'CollectorNameTooLong'],
    ['a taken name', { name: 'Staging Area' }, 'DuplicateResourceName'],
    ['no mode', { sourceSyncMode: 'XML' }, 'service.sourceSyncMode.invalid'],
  ])('refuses %s', async (_what, stated, code) => {
    const { service, change } = await aService();
    const [collector] = service.world.upgradableTo('19.536-4');
    const id = collector?.facts.id ?? 0;
    expect(await change(id, (shown) => ({ ...shown, ...stated }))).toMatchObject(failure(400, code));
  });

  it('accepts transient fields that have drifted, and sets none of them', async () => {
    const { service, change } = await aService();
    const [collector] = service.world.upgradableTo('19.536-4');
    const id = collector?.facts.id ?? 0;
    const answer = await change(id, (shown) => ({
      ...shown,
      alive: false,
      lastSeenAlive: 5,
      collectorVersion: '1.0-1',
      osTime: 3,
      links: [],
    }));
    expect(answer.status).toBe(200);
    expect(answer.body.collector).toMatchObject({ alive: true, collectorVersion: collector?.life.version });
    expect(answer.body.collector.links).toHaveLength(1);
  });

  it('answers 404 to an unknown id, and 400 to none', async () => {
    const { put } = await aService();
    expect(await put(1, {}, '"x"')).toMatchObject(failure(404, 'InvalidCollector'));
    expect(await put(Number.NaN, {}, '"x"')).toMatchObject(failure(400, 'createValidationError'));
  });
});

describe('§4.1 delete', () => {
  it('deletes with an empty 200, and the collector is gone', async () => {
    const { create, get, send } = await aService();
    const { id } = await create();
    expect(await send(`/v1/collectors/${id}`, { method: 'DELETE' })).toMatchObject({ status: 200, text: '' });
    expect(await get(id)).toMatchObject(failure(404, 'InvalidCollector'));
    expect(await send(`/v1/collectors/${id}`, { method: 'DELETE' })).toMatchObject(
      failure(404, 'InvalidCollector'),
    );
    expect((await send('/v1/collectors/name/ours')).status).toBe(404);
    await create();
  });

  it('lets the task of a deleted collector run into the time-out (§3)', async () => {
    const { service, clock, send, create: _create } = await aService();
    const [collector] = service.world.upgradableTo('19.536-4');
    const collectorId = collector?.facts.id ?? 0;
    const { body } = await send('/v1/collectors/upgrades', { method: 'POST', body: { collectorId } });
    await send(`/v1/collectors/${collectorId}`, { method: 'DELETE' });
    clock.advance(hourMs / 2);
    expect((await send(`/v1/collectors/upgrades/${body.id}`)).body.upgrade.status).toBe(3);
  });

  it('deletes the offline ones after a while, one after the other', async () => {
    const { send, clock } = await aService({ fleet: { size: 500, shares: { dead: 0.5, ephemeral: 0 } } });
    const offline = async () =>
      (await send('/v1/collectors/offline?aliveBeforeDays=50')).body.collectors.length;
    const all = async () => (await send('/v1/collectors?limit=1000')).body.collectors.length;
    const before = { offline: await offline(), all: await all() };
    expect(before.offline).toBeGreaterThan(20);
    const answer = await send('/v1/collectors/offline?aliveBeforeDays=50', { method: 'DELETE' });
    expect(answer).toMatchObject({ status: 200, body: { message: expect.stringContaining('initiated') } });
    expect(await offline()).toBe(before.offline);
    clock.advance(5_100);
    expect(await offline()).toBeLessThan(before.offline);
    expect(await offline()).toBeGreaterThan(0);
    clock.advance(60_000);
    expect(await offline()).toBe(0);
    expect(await all()).toBe(before.all - before.offline);
  });

  it('spares one that comes back before its turn', async () => {
    const { send, clock, service } = await aService({
      fleet: { size: 50, shares: { dead: 1, ephemeral: 0 } },
    });
    await send('/v1/collectors/offline?aliveBeforeDays=1', { method: 'DELETE' });
    const [offline] = service.world.offlineCollectors(1);
    service.world.revive(offline?.facts.id ?? 0);
    clock.advance(60_000);
    expect((await send(`/v1/collectors/${offline?.facts.id}`)).status).toBe(200);
    service.world.kill(offline?.facts.id ?? 0);
    clock.advance(hourMs);
    expect((await send(`/v1/collectors/${offline?.facts.id}`)).body.collector.alive).toBe(false);
    expect(service.world.offlineCollectors(1)).toHaveLength(0);
  });

  it('wants at least one day', async () => {
    const { send } = await aService();
    for (const days of ['0', '-1', 'x', '1.5']) {
      expect(
        await send(`/v1/collectors/offline?aliveBeforeDays=${days}`, { method: 'DELETE' }),
      ).toMatchObject(failure(400, 'service.aliveBeforeDays.invalid'));
    }
  });
});

describe('§3 ephemeral collectors', () => {
  it('are deleted after 12 hours of inactivity, once they are flagged', async () => {
    const { service, clock, change, get } = await aService({
      fleet: { shares: { ephemeral: 0, container: 0 } },
    });
    const [collector] = service.world.upgradableTo('19.536-4');
    const id = collector?.facts.id ?? 0;
    service.world.kill(id);
    clock.advance(11 * hourMs);
    expect((await change(id, (shown) => ({ ...shown, ephemeral: true }))).status).toBe(200);
    expect((await get(id)).status).toBe(200);
    clock.advance(hourMs);
    expect((await get(id)).status).toBe(404);
  });
});
