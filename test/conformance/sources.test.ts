import { expect, it } from 'vitest';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import { httpSource } from './support/own-collectors.ts';
import { type Target, useTarget } from './support/target.ts';
import { DownloadList, OneDownload, OneSource, SourceList } from './support/wire-shapes.ts';

const target = useTarget();

/** A collector with two sources. */
async function aCollector({ own }: Target) {
  const { id } = await own.create();
  const sources = [await own.createSource(id), await own.createSource(id)] as const;
  return { id, path: `/collectors/${id}/sources`, sources };
}

it('§4.2 GET sources: lists every source of the collector', async () => {
  const { path, sources } = await aCollector(target());
  const listed = read(SourceList, await target().api.get(path)).sources;
  expect(listed.map(({ name }) => String(name)).sort()).toEqual(
    sources.map(({ name }) => String(name)).sort(),
  );
});

it('§4.2 GET sources: a collector without any has an empty list', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  expect(read(SourceList, await api.get(`/collectors/${id}/sources`)).sources).toEqual([]);
});

it('§4.2 GET sources: download=true gives a document without id and alive', async () => {
  const { path, sources } = await aCollector(target());
  const document = read(DownloadList, await target().api.get(`${path}?download=true`));
  expect(document.sources.map(({ name }) => String(name)).sort()).toEqual(
    sources.map(({ name }) => String(name)).sort(),
  );
});

it('§4.2 GET sources: download=false is the default', async () => {
  const { api } = target();
  const { path } = await aCollector(target());
  expect(read(SourceList, await api.get(`${path}?download=false`))).toEqual(
    read(SourceList, await api.get(path)),
  );
});

it('§4.2 GET sources: a downloaded source can be created again on another collector', async () => {
  const { api, own } = target();
  const { path } = await aCollector(target());
  const { id } = await own.create();
  for (const source of read(DownloadList, await api.get(`${path}?download=true`)).sources) {
    const { source: copy } = read(OneSource, await api.post(`/collectors/${id}/sources`, { source }));
    expect(copy.name).toBe(source.name);
  }
});

it('§4.2 GET sources: an unknown collector is refused', async () => {
  expectRefusal(await target().api.get('/collectors/1/sources'), { status: 404 });
});

it('§4.2 GET source: shows the source of the list, with an ETag', async () => {
  const { path, sources } = await aCollector(target());
  const answer = await target().api.get(`${path}/${sources[0].id}`);
  expect(read(OneSource, answer).source).toMatchObject({ id: sources[0].id, name: sources[0].name });
  expect(etagOf(answer)).not.toBe('');
});

it('§4.2 GET source: download=true gives a document without id and alive', async () => {
  const { path, sources } = await aCollector(target());
  const document = read(OneDownload, await target().api.get(`${path}/${sources[0].id}?download=true`));
  expect(document.source.name).toBe(sources[0].name);
});

it('§4.2 GET source: an unknown source, and one of another collector, are refused', async () => {
  const { api } = target();
  const [one, other] = [await aCollector(target()), await aCollector(target())];
  expectRefusal(await api.get(`${one.path}/1`), { status: 404 });
  expectRefusal(await api.get(`${one.path}/${other.sources[0].id}`), { status: 404 });
  expectRefusal(await api.get(`/collectors/1/sources/${one.sources[0].id}`), { status: 404 });
});

it('§4.2 POST source: creates it with a generated id and the stated fields', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const stated = { ...httpSource(own.name('source')), category: 'test/conformance' };
  const { source } = read(OneSource, await api.post(`/collectors/${id}/sources`, { source: stated }));
  expect(source).toMatchObject(stated);
  expect(source.id).toBeGreaterThan(0);
});

it('§4.2 POST source: a stated id is not taken', async () => {
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
  expect(read(SourceList, await api.get(`/collectors/${id}/sources`)).sources).toEqual([]);
});

it('§4.2 POST source: an unknown collector is refused', async () => {
  const { api, own } = target();
  const source = httpSource(own.name('source'));
  expectRefusal(await api.post(`/collectors/${await own.goneId()}/sources`, { source }), { status: 404 });
});

it('§4.2 PUT source: answers the updated source, as GET then shows it', async () => {
  const { api, own } = target();
  const { path, sources } = await aCollector(target());
  const one = `${path}/${sources[0].id}`;
  const before = await api.get(one);
  const stated = { ...read(OneSource, before).source, name: own.name('renamed'), category: 'changed' };
  const answer = read(OneSource, await api.put(one, { source: stated }, etagOf(before)));
  expect(answer.source).toMatchObject({ id: sources[0].id, name: stated.name, category: 'changed' });
  expect(read(OneSource, await api.get(one)).source).toMatchObject({
    name: stated.name,
    category: 'changed',
  });
  expect(read(OneSource, await api.get(`${path}/${sources[1].id}`)).source).toEqual(sources[1]);
});

it('§4.2 DELETE source: 200 with an empty body; the source is gone, the other stays', async () => {
  const { api } = target();
  const { path, sources } = await aCollector(target());
  const answer = await api.delete(`${path}/${sources[0].id}`);
  expect([answer.status, answer.text]).toEqual([200, '']);
  expectRefusal(await api.get(`${path}/${sources[0].id}`), { status: 404 });
  expectRefusal(await api.delete(`${path}/${sources[0].id}`), { status: 404 });
  const left = read(SourceList, await api.get(path)).sources;
  expect(left.map(({ id }) => id)).toEqual([sources[1].id]);
});

it('§4.2 DELETE source: not by way of another collector', async () => {
  const { api } = target();
  const [one, other] = [await aCollector(target()), await aCollector(target())];
  expectRefusal(await api.delete(`${other.path}/${one.sources[0].id}`), { status: 404 });
  expect((await api.get(`${one.path}/${one.sources[0].id}`)).status).toBe(200);
});
