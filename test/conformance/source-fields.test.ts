import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { httpSource } from './support/own-collectors.ts';
import { findInstalled, idsOf, listSources, openResource } from './support/resources.ts';
import { useTarget } from './support/target.ts';
import { DownloadList, OneSource } from './support/wire-shapes.ts';

const target = useTarget();

const commonFields = {
  category: 'prod/web/access',
  hostName: 'web-1',
  automaticDateParsing: true,
  multilineProcessingEnabled: true,
  useAutolineMatching: false,
  forceTimeZone: false,
  filters: [{ filterType: 'Exclude', name: 'no health checks', regexp: '.*GET /health.*' }],
  cutoffTimestamp: 0,
};

/** A source of a collector of ours. */
async function aSource(fields: Readonly<Record<string, unknown>> = {}) {
  const { api, own } = target();
  const { id } = await own.create();
  const source = await own.createSource(id, fields);
  return { source, open: () => openResource(api, `/collectors/${id}/sources/${source.id}`) };
}

it('§2.2 id is assigned by the service', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const ids = idsOf([await own.createSource(id), await own.createSource(id)]);
  expect(new Set(ids).size).toBe(2);
  expect(new Set(idsOf(await listSources(api, id)))).toEqual(new Set(ids));
});

it('§2.2 the common fields, and those of other source types, are kept as stated', async () => {
  const stated = { name: target().own.name('source'), ...commonFields, messagePerRequest: true };
  const { source, open } = await aSource(stated);
  expect(source).toMatchObject(stated);
  expect((await open()).stated).toMatchObject(stated);
});

itInProcess.each([
  [
    'LocalFile',
    {
      ...commonFields,
      encoding: 'UTF-8',
      pathExpression: '/var/log/nginx/access.log',
      denylist: ['/var/log/nginx/*.gz'],
    },
  ],
  [
    'SystemStats',
    { category: 'prod/host', contentType: 'HostMetrics', interval: 60_000, metrics: ['CPU_User', 'CPU_Sys'] },
  ],
])('§2.2 a %s source of an Installed Collector keeps every field', async (sourceType, fields) => {
  const { api, own } = target();
  const path = `/collectors/${(await findInstalled(api)).id}/sources`;
  const stated = { sourceType, name: own.name('source'), ...fields };
  const { source } = read(OneSource, await api.post(path, { source: stated }));
  expect(source).toMatchObject(stated);
  expect((await openResource(api, `${path}/${source.id}`)).stated).toEqual(source);
  expect((await api.delete(`${path}/${source.id}`)).status).toBe(200);
});

it('§2.2 alive is output only', async () => {
  const { source, open } = await aSource({ alive: 'of no meaning' });
  expect([true, false, undefined]).toContain(source.alive);
  await (await open()).put({ alive: !(source.alive ?? true) });
  expect((await open()).stated['alive']).toBe(source.alive);
});

it('§2.2 name is required, and unique within a collector, not across collectors', async () => {
  const { api, own } = target();
  const [first, second] = [await own.create(), await own.create()];
  const source = httpSource(own.name('source'));
  const path = `/collectors/${first.id}/sources`;
  expectRefusal(await api.post(path, { source: { sourceType: 'HTTP' } }));
  read(OneSource, await api.post(path, { source }));
  expectRefusal(await api.post(path, { source }), { codes: ['DuplicateResourceName'] });
  read(OneSource, await api.post(`/collectors/${second.id}/sources`, { source }));
});

itInProcess('§2.2 name of a cloud-to-cloud source is that in its config', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const path = `/collectors/${id}/sources`;
  const cloud = (name?: string) => ({
    sourceType: 'Universal',
    schemaRef: { type: 'Some Vendor' },
    config: name === undefined ? {} : { name, apiKey: 'x' },
  });
  const { source } = read(OneSource, await api.post(path, { source: cloud('first') }));
  expect(source).toMatchObject(cloud('first'));
  expectRefusal(await api.post(path, { source: cloud('first') }), { codes: ['DuplicateResourceName'] });
  for (const refused of [cloud(''), cloud(), { ...cloud('x'), sourceType: 'LocalFile' }])
    expectRefusal(await api.post(path, { source: refused }), { status: 400 });
  const { put } = await openResource(api, `${path}/${source.id}`);
  read(OneSource, await put(cloud('second')));
  expect(await listSources(api, id)).toMatchObject([{ ...cloud('second'), id: source.id }]);
  const document = read(DownloadList, await api.get(`${path}?download=true`));
  expect(document.sources).toEqual([cloud('second')]);
});

itInProcess.each([
  ['HTTP', 'url', /^https:\/\/\S+$/],
  ['HTTP', 'token', /^\w{20,}$/],
  ['HTTP', 'baseUrl', /^https:\/\/\S+$/],
  ['Cloudsyslog', 'token', /^\w{20,}$/],
] as const)('§2.2 a %s source shows its %s, which the service sets', async (sourceType, field, form) => {
  const stated = { sourceType, [field]: 'stated' };
  const { source, open } = await aSource(stated);
  expect(source[field]).toMatch(form);
  const after = read(OneSource, await (await open()).put({ ...stated, category: 'changed' }));
  expect(after.source).toMatchObject({ category: 'changed', [field]: source[field] });
});
