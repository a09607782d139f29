import { afterEach, describe, expect, it } from 'vitest';
import { Source } from '../../../../src/contract/collector-management/sources.ts';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { aReferenceService, type RawAnswer, type ReferenceSetup } from '../../../support/reference-client.ts';

let open: ReferenceSetup | undefined;
/** A service and a Hosted Collector on it. */
async function aCollector(scenario: ScenarioInput = {}) {
  open = await aReferenceService(scenario);
  const { send } = open;
  const created = await send('/v1/collectors', {
    method: 'POST',
    body: { collector: { collectorType: 'Hosted', name: 'ours' } },
  });
  const path = `/v1/collectors/${created.body.collector.id}/sources`;
  const post = (source: unknown) => send(path, { method: 'POST', body: { source } });
  const create = async (stated: object = {}) => {
    const answer = await post({ sourceType: 'LocalFile', name: 'logs', ...stated });
    expect(answer.status).toBe(201);
    return answer.body.source;
  };
  const put = (id: number, source: unknown, headers: Record<string, string>) =>
    send(`${path}/${id}`, { method: 'PUT', body: { source }, headers });
  const change = async (id: number, edit: (source: Record<string, unknown>) => Record<string, unknown>) => {
    const { body, headers } = await send(`${path}/${id}`);
    return put(id, edit(body.source), { 'if-match': String(headers['etag']) });
  };
  return { ...open, path, post, create, put, change };
}
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const failure = (status: number, code: string) => ({ status, body: { status, code } });

function without(answer: RawAnswer['body'], ...fields: string[]) {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !fields.includes(name)));
}

describe('§4.2 sources of the fleet', () => {
  it('are a few plausible ones, always the same', async () => {
    const { send, service } = await aCollector({ fleet: { size: 100 } });
    const types = new Set<string>();
    for (const { facts } of service.world.collectors()) {
      const path = `/v1/collectors/${facts.id}/sources`;
      const { sources } = (await send(path)).body;
      expect((await send(path)).body.sources).toEqual(sources);
      for (const source of sources) {
        expect(Source.safeParse(source).success).toBe(true);
        expect((await send(`${path}/${source.id}`)).body.source).toEqual(source);
        types.add(source.sourceType);
      }
    }
    expect([...types].sort()).toEqual(expect.arrayContaining(['HTTP', 'LocalFile', 'SystemStats']));
  });

  it('live and die with their collector (§3)', async () => {
    const { send, service, clock } = await aCollector();
    const [collector] = service.world.upgradableTo('19.536-4');
    const id = collector?.facts.id ?? 0;
    const alive = async () => (await send(`/v1/collectors/${id}/sources`)).body.sources[0].alive;
    expect(await alive()).toBe(true);
    service.world.kill(id);
    clock.advance(31 * 60_000);
    expect(await alive()).toBe(false);
    service.world.remove(id);
    expect(await send(`/v1/collectors/${id}/sources`)).toMatchObject(failure(404, 'InvalidCollector'));
  });
});

describe('§4.2 download', () => {
  it('is the document that registers another collector: without id and alive', async () => {
    const { send, path, create } = await aCollector();
    const source = await create({ category: 'a', pathExpression: '/var/log/*' });
    const list = await send(`${path}?download=true`);
    const document = without(source, 'id', 'alive');
    expect(list.body).toEqual({ 'api.version': 'v1', sources: [document] });
    const one = await send(`${path}/${source.id}?download=true`);
    expect(one.body).toEqual({ 'api.version': 'v1', source: document });
    expect((await send(`${path}?download=false`)).body).toEqual({ sources: [source] });
    expect(await send(`${path}?download=maybe`)).toMatchObject(failure(400, 'service.download.invalid'));
  });
});

describe('§4.2 create', () => {
  it('answers 201 with a generated id; fields of any type pass through untouched', async () => {
    const { create, send, path } = await aCollector();
    const stated = {
      sourceType: 'SomethingNew',
      name: 'x',
      interval: 'often',
      thirdPartyRef: { resources: [{ path: { type: 'S3' } }] },
      filters: [{ filterType: 'Exclude', name: 'f', regexp: '.*' }],
    };
    const source = await create(stated);
    expect(source).toEqual({ ...stated, id: expect.any(Number), alive: true });
    expect((await send(path)).body.sources).toEqual([source]);
    expect((await send(`${path}/${source.id}`)).headers['etag']).toMatch(/^"\w+"$/);
  });

  it.each([
    ['no type', { sourceType: undefined }, 'EmptySourceType'],
    ['an empty type', { sourceType: '' }, 'EmptySourceType'],
    ['a type that is no text', { sourceType: 5 }, 'InvalidSourceType'],
    ['a type that another vendor must sign in (§1)', { sourceType: 'VendorOAuth' }, 'InvalidSourceType'],
    ['a stated id', { id: 7 }, 'createValidationError'],
    ['no name', { name: undefined }, 'service.name.missing'],
    ['a name of 129 characters', { name: 'n'.repeat(129) }, 'CollectorNameTooLong'],
    ['a long description', { description: 'd'.repeat(1025) }, 'CollectorDescriptionTooLong'],
    ['filters that are no list', { filters: {} }, 'service.filters.invalid'],
    [
      'an interval that is no number',
      { sourceType: 'SystemStats', interval: 'x' },
      'service.interval.invalid',
    ],
    ['a category that is no text', { category: 1 }, 'service.category.invalid'],
  ])('refuses %s', async (_what, stated, code) => {
    const { post, send, path } = await aCollector();
    expect(await post({ sourceType: 'LocalFile', name: 'logs', ...stated })).toMatchObject(
      failure(400, code),
    );
    expect((await send(path)).body.sources).toEqual([]);
  });

  it('refuses a name that the collector has, not one of another collector', async () => {
    const { create, post, send, service } = await aCollector();
    await create();
    expect(await post({ sourceType: 'SystemStats', name: 'logs' })).toMatchObject(
      failure(400, 'DuplicateResourceName'),
    );
    const [collector] = service.world
      .upgradableTo('19.536-4')
      .filter(({ facts }) => facts.sourceSyncMode === 'UI');
    const other = `/v1/collectors/${collector?.facts.id}/sources`;
    const body = { source: { sourceType: 'LocalFile', name: 'logs' } };
    expect((await send(other, { method: 'POST', body })).status).toBe(201);
  });

  it('takes one source per request', async () => {
    const { send, path, post } = await aCollector();
    expect((await post([{ sourceType: 'LocalFile', name: 'a' }])).status).toBe(400);
    const body = { sources: [{ sourceType: 'LocalFile', name: 'a' }] };
    expect((await send(path, { method: 'POST', body })).status).toBe(400);
  });
});

describe('§4.2, §4.4 update', () => {
  it('replaces what the GET showed', async () => {
    const { create, change, send, path } = await aCollector();
    const { id } = await create({ category: 'a' });
    const updated = await change(id, (source) => ({
      ...source,
      category: 'b',
      encoding: 'UTF-8',
      alive: false,
    }));
    expect(updated).toMatchObject({ status: 200, body: { source: { id, category: 'b', alive: true } } });
    expect((await send(`${path}/${id}`)).body.source).toEqual(updated.body.source);
  });

  it('removes a field that is not stated', async () => {
    const { create, change, send, path } = await aCollector();
    const { id } = await create({ category: 'a', encoding: 'UTF-8' });
    const updated = await change(id, (source) => without(source, 'category', 'alive'));
    expect(updated).toMatchObject({ status: 200, body: { source: { id, encoding: 'UTF-8' } } });
    expect(updated.body.source).not.toHaveProperty('category');
    expect((await send(`${path}/${id}`)).body.source).toEqual(updated.body.source);
  });

  it('wants each field of the GET stated where updates are strict', async () => {
    const { create, change } = await aCollector({ strictUpdates: true });
    const { id } = await create({ category: 'a' });
    expect(await change(id, (source) => without(source, 'category'))).toMatchObject(
      failure(400, 'service.category.missing'),
    );
  });

  it('needs the quoted ETag of the latest GET', async () => {
    const { create, put, send, path } = await aCollector();
    const source = await create();
    const etag = String((await send(`${path}/${source.id}`)).headers['etag']);
    const changed = { ...source, category: 'c' };
    expect(await put(source.id, changed, {})).toMatchObject(failure(400, 'service.ifthen.missing'));
    expect(await put(source.id, changed, { 'if-match': 'x' })).toMatchObject(
      failure(400, 'service.ifthen.notquoted'),
    );
    expect((await put(source.id, changed, { 'if-match': etag })).status).toBe(200);
    expect(await put(source.id, changed, { 'if-match': etag })).toMatchObject(
      failure(412, 'service.etagid.mismatch'),
    );
  });

  it.each([
    ['another id', { id: 3 }, 'BadRequestBladeId'],
    ['no id', { id: undefined }, 'BadRequestBladeId'],
    ['another type', { sourceType: 'SystemStats' }, 'InvalidSourceType'],
    ['no type', { sourceType: undefined }, 'EmptySourceType'],
    ['no name', { name: undefined }, 'service.name.missing'],
    ['a taken name', { name: 'taken' }, 'DuplicateResourceName'],
  ])('refuses %s', async (_what, stated, code) => {
    const { create, change } = await aCollector();
    await create({ name: 'taken' });
    const { id } = await create({ category: 'a' });
    expect(await change(id, (source) => ({ ...source, ...stated }))).toMatchObject(failure(400, code));
  });

  it('answers 404 to an unknown source, 400 to no number', async () => {
    const { send, path } = await aCollector();
    for (const id of ['1', '9223372036854775807']) {
      expect(await send(`${path}/${id}`)).toMatchObject(failure(404, 'notfound'));
    }
    expect(await send(`${path}/x`)).toMatchObject(failure(400, 'createValidationError'));
    expect(await send('/v1/collectors/1/sources')).toMatchObject(failure(404, 'InvalidCollector'));
  });
});

describe('§4.2, §3 delete', () => {
  it('removes a source at once, with an empty 200', async () => {
    const { create, send, path } = await aCollector();
    const { id } = await create();
    expect(await send(`${path}/${id}`, { method: 'DELETE' })).toMatchObject({ status: 200, text: '' });
    expect((await send(`${path}/${id}`)).status).toBe(404);
    expect((await send(path)).body.sources).toEqual([]);
  });

  it('lets a cloud-to-cloud source stop first; a GET shows it', async () => {
    const { create, change, send, path, clock } = await aCollector({ sources: { stopping: '2m' } });
    const { id } = await create({ sourceType: 'Universal', name: 'cloud' });
    expect(await send(`${path}/${id}`, { method: 'DELETE' })).toMatchObject({ status: 200, text: '' });
    expect((await send(`${path}/${id}`)).body.source).toMatchObject({ id, state: 'Stopping' });
    expect(await change(id, (source) => source)).toMatchObject(failure(400, 'service.source.stopping'));
    clock.advance(119_999);
    expect((await send(`${path}/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await send(path)).body.sources).toHaveLength(1);
    clock.advance(1);
    expect((await send(`${path}/${id}`)).status).toBe(404);
    await create({ sourceType: 'Universal', name: 'cloud' });
  });
});

describe('§1, §7.4 a collector in JSON mode', () => {
  it('refuses every write of its sources, and shows them', async () => {
    const { service, send } = await aCollector({ fleet: { shares: { json: 1 } } });
    const json = service.world.collectors().find(({ facts }) => facts.sourceSyncMode === 'Json');
    const path = `/v1/collectors/${json?.facts.id}/sources`;
    const [source] = (await send(path)).body.sources;
    const body = { source: { ...source, name: 'n' } };
    const refused = failure(403, 'CannotModifySources');
    const etag = String((await send(`${path}/${source.id}`)).headers['etag']);
    expect(await send(path, { method: 'POST', body })).toMatchObject(refused);
    expect(
      await send(`${path}/${source.id}`, { method: 'PUT', body, headers: { 'if-match': etag } }),
    ).toMatchObject(refused);
    expect(await send(`${path}/${source.id}`, { method: 'DELETE' })).toMatchObject(refused);
    expect((await send(path)).body.sources).toContainEqual(source);
  });
});
