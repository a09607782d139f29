import { expect, it } from 'vitest';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { httpSource } from './support/own-collectors.ts';
import { useTarget } from './support/target.ts';
import { CollectorList, OneSource, SourceList } from './support/wire-shapes.ts';

const target = useTarget();

/** A source on a collector of ours with the ETag to change it by. */
async function aSource() {
  const { api, own } = target();
  const { id } = await own.create();
  const { id: sourceId } = await own.createSource(id);
  const list = `/collectors/${id}/sources`;
  const answer = await api.get(`${list}/${sourceId}`);
  return { list, path: `${list}/${sourceId}`, source: read(OneSource, answer).source, etag: etagOf(answer) };
}

it('§7.4 BadRequestBladeId: the body of an update has another ID than the path', async () => {
  const { api } = target();
  const { path, source, etag } = await aSource();
  expectRefusal(await api.put(path, { source: { ...source, id: source.id + 1 } }, etag), {
    codes: ['BadRequestBladeId'],
  });
});

itInProcess('§7.4 CannotModifySources: the collector is in JSON mode', async () => {
  const { api, own } = target();
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=installed'));
  const list = `/collectors/${collectors.find(({ sourceSyncMode }) => sourceSyncMode === 'Json')?.id}/sources`;
  const before = read(SourceList, await api.get(list)).sources;
  const refusal = { codes: ['CannotModifySources'] };
  const created = { source: { ...httpSource(own.name('source')), sourceType: 'LocalFile' } };
  expectRefusal(await api.post(list, created), refusal);
  const [source] = before;
  if (source === undefined) throw new Error('the collector has no sources');
  const one = await api.get(`${list}/${source.id}`);
  const changed = { ...read(OneSource, one).source, category: 'changed' };
  expectRefusal(await api.put(`${list}/${source.id}`, { source: changed }, etagOf(one)), refusal);
  expectRefusal(await api.delete(`${list}/${source.id}`), refusal);
  expect(read(SourceList, await api.get(list)).sources).toEqual(before);
});

it.each([
  ['CollectorDescriptionTooLong', { description: 'd'.repeat(1_025) }],
  ['CollectorNameTooLong', { name: 'n'.repeat(129) }],
])('§7.4 %s: as for a collector, at creation and in an update', async (code, fields) => {
  const { api } = target();
  const { list, path, source, etag } = await aSource();
  const created = { ...httpSource('another'), ...fields };
  expectRefusal(await api.post(list, { source: created }), { codes: [code] });
  expectRefusal(await api.put(path, { source: { ...source, ...fields } }, etag), { codes: [code] });
});

it('§7.4 createValidationError: an ID in the path that is none', async () => {
  const { api } = target();
  const { list } = await aSource();
  const codes = ['createValidationError', 'BadRequestBladeId', 'InvalidCollector'];
  expectRefusal(await api.get(`${list}/no-number`), { codes });
  expectRefusal(await api.delete(`${list}/no-number`), { codes });
  expectRefusal(await api.get('/collectors/no-number/sources'), { codes });
});

it('§7.4 DuplicateResourceName: at creation and in an update', async () => {
  const { api, own } = target();
  const { list, path, source, etag } = await aSource();
  const other = httpSource(own.name('source'));
  read(OneSource, await api.post(list, { source: other }));
  const refusal = { codes: ['DuplicateResourceName'] };
  expectRefusal(await api.post(list, { source: other }), refusal);
  expectRefusal(await api.put(path, { source: { ...source, name: other['name'] } }, etag), refusal);
});

it.each([
  ['missing', undefined],
  ['null', null],
  ['empty', ''],
])('§7.4 EmptySourceType: the source type is %s', async (_how, sourceType) => {
  const { api } = target();
  const { list } = await aSource();
  expectRefusal(await api.post(list, { source: { ...httpSource('untyped'), sourceType } }), {
    codes: ['EmptySourceType'],
  });
});

it('§7.4 InvalidSourceType: an update to another type', async () => {
  const { api } = target();
  const { path, source, etag } = await aSource();
  expectRefusal(await api.put(path, { source: { ...source, sourceType: 'Cloudsyslog' } }, etag), {
    codes: ['InvalidSourceType'],
  });
});

it('§7.4 InvalidSourceType: a type that is no text', async () => {
  const { api } = target();
  const { list } = await aSource();
  const source = { ...httpSource('odd'), sourceType: 7 };
  expectRefusal(await api.post(list, { source }), { codes: ['InvalidSourceType', 'EmptySourceType'] });
});
