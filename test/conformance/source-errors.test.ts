import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { httpSource } from './support/own-collectors.ts';
import { findCollector, listSources, openResource } from './support/resources.ts';
import { useTarget } from './support/target.ts';
import { OneSource } from './support/wire-shapes.ts';

const target = useTarget();

/** A source on a collector of ours, to be changed. */
async function aSource() {
  const { api, own } = target();
  const { id } = await own.create();
  const { id: sourceId } = await own.createSource(id);
  const list = `/collectors/${id}/sources`;
  return { list, sourceId, ...(await openResource(api, `${list}/${sourceId}`)) };
}

itInProcess('§7.4 CannotModifySources: the collector is in JSON mode', async () => {
  const { api, own } = target();
  const { id } = await findCollector(api, ({ sourceSyncMode }) => sourceSyncMode === 'Json');
  const list = `/collectors/${id}/sources`;
  const before = await listSources(api, id);
  const [source] = before;
  if (source === undefined) throw new Error('the collector has no sources');
  const created = { source: { ...httpSource(own.name('source')), sourceType: 'LocalFile' } };
  const { put } = await openResource(api, `${list}/${source.id}`);
  for (const answer of [
    await api.post(list, created),
    await put({ category: 'changed' }),
    await api.delete(`${list}/${source.id}`),
  ])
    expectRefusal(answer, { codes: ['CannotModifySources'] });
  expect(await listSources(api, id)).toEqual(before);
});

it('§7.4 createValidationError: an ID in the path that is none', async () => {
  const { api } = target();
  const { list } = await aSource();
  const codes = ['createValidationError', 'BadRequestBladeId', 'InvalidCollector'];
  for (const answer of [
    await api.get(`${list}/no-number`),
    await api.delete(`${list}/no-number`),
    await api.get('/collectors/no-number/sources'),
  ])
    expectRefusal(answer, { codes });
});

it('§7.4 DuplicateResourceName: at creation and in an update', async () => {
  const { api, own } = target();
  const { list, put } = await aSource();
  const name = own.name('source');
  read(OneSource, await api.post(list, { source: httpSource(name) }));
  const refusal = { codes: ['DuplicateResourceName'] };
  expectRefusal(await api.post(list, { source: httpSource(name) }), refusal);
  expectRefusal(await put({ name }), refusal);
});

it.each([
  [['CollectorDescriptionTooLong'], 'longer than 1,024', { description: 'd'.repeat(1_025) }],
  [['CollectorNameTooLong'], 'longer than 128', { name: 'n'.repeat(129) }],
  [['EmptySourceType'], 'missing', { sourceType: undefined }],
  [['EmptySourceType'], 'null', { sourceType: null }],
  [['EmptySourceType'], 'empty', { sourceType: '' }],
  [['InvalidSourceType', 'EmptySourceType'], 'no text', { sourceType: 7 }],
])('§7.4 %j: a field of a new source is %s', async (codes, _how, fields) => {
  const { api } = target();
  const { list } = await aSource();
  expectRefusal(await api.post(list, { source: { ...httpSource('another'), ...fields } }), { codes });
});

it.each([
  ['CollectorDescriptionTooLong', { description: 'd'.repeat(1_025) }],
  ['CollectorNameTooLong', { name: 'n'.repeat(129) }],
  ['InvalidSourceType', { sourceType: 'Cloudsyslog' }],
])('§7.4 %s: an update states %j', async (code, fields) => {
  const { put } = await aSource();
  expectRefusal(await put(fields), { codes: [code] });
});
