import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { httpSource } from './support/own-collectors.ts';
import { idsOf, listSources, openResource } from './support/resources.ts';
import { useTarget } from './support/target.ts';
import { DownloadList, OneDownload, OneSource, SourceList } from './support/wire-shapes.ts';

const target = useTarget();

/** A collector with two sources. */
async function aCollector() {
  const { own } = target();
  const { id } = await own.create();
  const sources = [await own.createSource(id), await own.createSource(id)] as const;
  const path = `/collectors/${id}/sources`;
  return { id, path, sources, one: `${path}/${sources[0].id}`, other: `${path}/${sources[1].id}` };
}

const namesOf = (sources: ReadonlyArray<{ readonly name?: string | undefined }>) =>
  sources.map(({ name }) => String(name)).sort();

it('§4.2 GET sources: lists every source of the collector, download=false being the default', async () => {
  const { id, path, sources } = await aCollector();
  const listed = await listSources(target().api, id);
  expect(namesOf(listed)).toEqual(namesOf(sources));
  const stated = await target().api.get(`${path}?download=false`);
  expect(read(SourceList, stated).sources).toEqual(listed);
});

it('§4.2 GET sources: download=true gives a document, whose sources can be created on another collector', async () => {
  const { api, own } = target();
  const { path, sources } = await aCollector();
  const document = read(DownloadList, await api.get(`${path}?download=true`));
  expect(namesOf(document.sources)).toEqual(namesOf(sources));
  const { id } = await own.create();
  for (const source of document.sources)
    read(OneSource, await api.post(`/collectors/${id}/sources`, { source }));
  expect(namesOf(await listSources(api, id))).toEqual(namesOf(sources));
});

it('§4.2 GET source: shows the source of the list, with an ETag, or as a document with download=true', async () => {
  const { one, sources } = await aCollector();
  const { stated, etag } = await openResource(target().api, one);
  expect(stated).toMatchObject({ id: sources[0].id, name: sources[0].name });
  expect(etag).not.toBe('');
  const document = read(OneDownload, await target().api.get(`${one}?download=true`));
  expect(document.source.name).toBe(sources[0].name);
});

it('§4.2 an unknown source, one of another collector, and an unknown collector are refused', async () => {
  const { api, own } = target();
  const [one, other] = [await aCollector(), await aCollector()];
  const foreign = `${other.path}/${one.sources[0].id}`;
  const gone = `/collectors/${await own.goneId()}/sources`;
  const source = httpSource(own.name('source'));
  for (const answer of [
    await api.get(`${one.path}/1`),
    await api.get(foreign),
    await api.delete(foreign),
    await api.get(`/collectors/1/sources/${one.sources[0].id}`),
    await api.get(gone),
    await api.post(gone, { source }),
  ])
    expectRefusal(answer, { status: 404 });
  expect((await api.get(one.one)).status).toBe(200);
});

it('§4.2 POST source: a stated id is ignored', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const stated = { ...httpSource(own.name('source')), id: 4_242 };
  const answer = await api.post(`/collectors/${id}/sources`, { source: stated });
  if (answer.status < 400) expect(read(OneSource, answer).source.id).not.toBe(4_242);
  else expectRefusal(answer);
});

it.each([
  ['no body', () => undefined],
  ['no wrapper', httpSource],
  ['a list of sources', (name: string) => ({ sources: [httpSource(name)] })],
  ['a list in the wrapper', (name: string) => ({ source: [httpSource(name)] })],
])('§4.2 POST source: %s is refused, one Source per request', async (_what, body) => {
  const { api, own } = target();
  const { id } = await own.create();
  expectRefusal(await api.post(`/collectors/${id}/sources`, body(own.name('source'))), { status: 400 });
  expect(await listSources(api, id)).toEqual([]);
});

it('§4.2 PUT source: answers the updated source, as GET then shows it', async () => {
  const { api, own } = target();
  const { one, other, sources } = await aCollector();
  const { put } = await openResource(api, one);
  const changes = { name: own.name('renamed'), category: 'changed' };
  expect(read(OneSource, await put(changes)).source).toMatchObject({ id: sources[0].id, ...changes });
  expect((await openResource(api, one)).stated).toMatchObject(changes);
  expect((await openResource(api, other)).stated).toEqual(sources[1]);
});

it('§4.2 DELETE source: 200 with an empty body; the source is gone, the other stays', async () => {
  const { api } = target();
  const { id, one, sources } = await aCollector();
  const answer = await api.delete(one);
  expect([answer.status, answer.text]).toEqual([200, '']);
  expectRefusal(await api.get(one), { status: 404 });
  expectRefusal(await api.delete(one), { status: 404 });
  expect(idsOf(await listSources(api, id))).toEqual([sources[1].id]);
});
