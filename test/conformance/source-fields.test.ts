import { expect, it } from 'vitest';
import { etagOf, expectRefusal, json, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { httpSource } from './support/own-collectors.ts';
import { useTarget } from './support/target.ts';
import { CollectorList, DownloadList, OneSource, SourceList } from './support/wire-shapes.ts';

const target = useTarget();

const localFile = {
  sourceType: 'LocalFile',
  category: 'prod/web/access',
  hostName: 'web-1',
  automaticDateParsing: true,
  multilineProcessingEnabled: true,
  useAutolineMatching: false,
  forceTimeZone: false,
  filters: [{ filterType: 'Exclude', name: 'no health checks', regexp: '.*GET /health.*' }],
  cutoffTimestamp: 0,
  encoding: 'UTF-8',
  pathExpression: '/var/log/nginx/access.log',
  denylist: ['/var/log/nginx/*.gz'],
};

const systemStats = {
  sourceType: 'SystemStats',
  category: 'prod/host',
  contentType: 'HostMetrics',
  interval: 60_000,
  metrics: ['CPU_User', 'CPU_Sys'],
};

it('§2.2 id is assigned by the service', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const sources = [await own.createSource(id), await own.createSource(id)];
  expect(new Set(sources.map((source) => source.id)).size).toBe(2);
  const listed = read(SourceList, await api.get(`/collectors/${id}/sources`)).sources;
  expect(new Set(listed.map((source) => source.id))).toEqual(new Set(sources.map((source) => source.id)));
});

it('§2.2 name, category, hostName and the flags are kept as stated', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const stated = {
    name: own.name('source'),
    category: 'test/conformance',
    hostName: 'web-1',
    automaticDateParsing: true,
    multilineProcessingEnabled: true,
    useAutolineMatching: true,
    forceTimeZone: false,
    filters: localFile.filters,
    cutoffTimestamp: 0,
  };
  const source = await own.createSource(id, stated);
  expect(source).toMatchObject(stated);
  expect(read(OneSource, await api.get(`/collectors/${id}/sources/${source.id}`)).source).toMatchObject(
    stated,
  );
});

itInProcess.each([
  ['LocalFile', localFile],
  ['SystemStats', systemStats],
])('§2.2 a %s source of an Installed Collector keeps every field', async (_type, stated) => {
  const { api, own } = target();
  const path = `/collectors/${await anInstalledId(api)}/sources`;
  const named = { ...stated, name: own.name('source') };
  const { source } = read(OneSource, await api.post(path, { source: named }));
  expect(source).toMatchObject(named);
  expect(read(OneSource, await api.get(`${path}/${source.id}`)).source).toEqual(source);
  expect((await api.delete(`${path}/${source.id}`)).status).toBe(200);
});

it('§2.2 fields of other source types pass through', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const source = await own.createSource(id, { messagePerRequest: true });
  expect(source).toMatchObject({ messagePerRequest: true });
  expect(json(await api.get(`/collectors/${id}/sources/${source.id}`))).toMatchObject({
    source: { messagePerRequest: true },
  });
});

it('§2.2 alive is output only', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const source = await own.createSource(id, { alive: 'of no meaning' });
  expect([true, false, undefined]).toContain(source.alive);
  const path = `/collectors/${id}/sources/${source.id}`;
  const before = await api.get(path);
  const stated = { ...read(OneSource, before).source, alive: !(source.alive ?? true) };
  await api.put(path, { source: stated }, etagOf(before));
  expect(read(OneSource, await api.get(path)).source.alive).toBe(source.alive);
});

it('§2.2 id is required in the body of an update', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const { id: sourceId } = await own.createSource(id);
  const path = `/collectors/${id}/sources/${sourceId}`;
  const before = await api.get(path);
  const { id: _left, ...source } = read(OneSource, before).source;
  expectRefusal(await api.put(path, { source }, etagOf(before)), {
    codes: ['BadRequestBladeId', 'createValidationError'],
  });
});

it('§2.2 name is unique within a collector, not across collectors', async () => {
  const { api, own } = target();
  const [first, second] = [await own.create(), await own.create()];
  const source = httpSource(own.name('source'));
  read(OneSource, await api.post(`/collectors/${first.id}/sources`, { source }));
  expectRefusal(await api.post(`/collectors/${first.id}/sources`, { source }), {
    codes: ['DuplicateResourceName'],
  });
  read(OneSource, await api.post(`/collectors/${second.id}/sources`, { source }));
});

itInProcess('§2.2 name of a cloud-to-cloud source is that in its config', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const path = `/collectors/${id}/sources`;
  const cloud = (name: string) => ({
    source: { sourceType: 'Universal', schemaRef: { type: 'Some Vendor' }, config: { name, apiKey: 'x' } },
  });
  const { source } = read(OneSource, await api.post(path, cloud('first')));
  expect(source).toMatchObject(cloud('first').source);
  expectRefusal(await api.post(path, cloud('first')), { codes: ['DuplicateResourceName'] });
  expectRefusal(await api.post(path, cloud('')), { status: 400 });
  expectRefusal(await api.post(path, { source: { ...cloud('').source, config: {} } }), { status: 400 });
  expectRefusal(await api.post(path, { source: { ...cloud('x').source, sourceType: 'LocalFile' } }));
  const before = await api.get(`${path}/${source.id}`);
  const renamed = { source: { ...cloud('second').source, id: source.id } };
  read(OneSource, await api.put(`${path}/${source.id}`, renamed, etagOf(before)));
  expect(read(SourceList, await api.get(path)).sources).toMatchObject([renamed.source]);
  const document = read(DownloadList, await api.get(`${path}?download=true`));
  expect(document.sources).toEqual([cloud('second').source]);
});

itInProcess.each([
  ['HTTP', 'url', /^https:\/\/\S+$/],
  ['Cloudsyslog', 'token', /^\w{20,}$/],
] as const)('§2.2 a %s source shows its %s, which the service sets', async (sourceType, field, form) => {
  const { api, own } = target();
  const { id } = await own.create();
  const path = `/collectors/${id}/sources`;
  const stated = { sourceType, name: own.name('intake'), [field]: 'stated' };
  const { source } = read(OneSource, await api.post(path, { source: stated }));
  expect(source[field]).toMatch(form);
  const before = await api.get(`${path}/${source.id}`);
  const changed = { ...stated, id: source.id, category: 'changed' };
  const after = read(OneSource, await api.put(`${path}/${source.id}`, { source: changed }, etagOf(before)));
  expect(after.source).toMatchObject({ category: 'changed', [field]: source[field] });
});

it('§2.2 name is required', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  expectRefusal(await api.post(`/collectors/${id}/sources`, { source: { sourceType: 'HTTP' } }));
});

async function anInstalledId(api: Api): Promise<number> {
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=installed&limit=1000'));
  const found = collectors.find(({ alive, sourceSyncMode }) => alive && sourceSyncMode === 'UI');
  if (found === undefined) throw new Error('the fleet has no Installed Collector in UI mode');
  return found.id;
}
