import { expect, it } from 'vitest';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import { useTarget } from './support/target.ts';
import { OneCollector } from './support/wire-shapes.ts';

const target = useTarget();

/** A collector of ours with the ETag to change it by. */
async function aCollector() {
  const { api, own } = target();
  const { id } = await own.create();
  const answer = await api.get(`/collectors/${id}`);
  return { path: `/collectors/${id}`, collector: read(OneCollector, answer).collector, etag: etagOf(answer) };
}

it('§7.3 BadRequestCollectorId: the body of an update has another ID than the path', async () => {
  const { api } = target();
  const { path, collector, etag } = await aCollector();
  const answer = await api.put(path, { collector: { ...collector, id: collector.id + 1 } }, etag);
  expectRefusal(answer, { codes: ['BadRequestCollectorId'] });
});

it('§7.3 BadRequestCollectorId: the body of an update has none, or one that is no number', async () => {
  const { api } = target();
  const { path, collector, etag } = await aCollector();
  for (const id of [undefined, null, 'first', {}]) {
    const answer = await api.put(path, { collector: { ...collector, id } }, etag);
    expectRefusal(answer, { codes: ['BadRequestCollectorId', 'createValidationError'] });
  }
});

it('§7.3 CollectorDescriptionTooLong: at creation and in an update', async () => {
  const { api, own } = target();
  const description = 'd'.repeat(1_025);
  const another = { collectorType: 'Hosted', name: own.name(), description };
  expectRefusal(await api.post('/collectors', { collector: another }), {
    codes: ['CollectorDescriptionTooLong'],
  });
  const { path, collector, etag } = await aCollector();
  expectRefusal(await api.put(path, { collector: { ...collector, description } }, etag), {
    codes: ['CollectorDescriptionTooLong'],
  });
});

it('§7.3 CollectorNameTooLong: at creation and in an update', async () => {
  const { api, own } = target();
  const name = own.name().padEnd(129, 'n');
  expectRefusal(await api.post('/collectors', { collector: { collectorType: 'Hosted', name } }), {
    codes: ['CollectorNameTooLong'],
  });
  const { path, collector, etag } = await aCollector();
  expectRefusal(await api.put(path, { collector: { ...collector, name } }, etag), {
    codes: ['CollectorNameTooLong'],
  });
});

it('§7.3 createValidationError: an ID in the path that is none', async () => {
  const { api } = target();
  const { collector, etag } = await aCollector();
  const codes = ['createValidationError', 'InvalidCollector', 'BadRequestCollectorId'];
  expectRefusal(await api.get('/collectors/no-number'), { codes });
  expectRefusal(await api.delete('/collectors/no-number'), { codes });
  expectRefusal(await api.put('/collectors/no-number', { collector }, etag), { codes });
});

it('§7.3 DuplicateResourceName: at creation', async () => {
  const { api } = target();
  const { name } = (await aCollector()).collector;
  expectRefusal(await api.post('/collectors', { collector: { collectorType: 'Hosted', name } }), {
    codes: ['DuplicateResourceName'],
  });
});

it('§7.3 DuplicateResourceName: in an update; its own name is no duplicate', async () => {
  const { api } = target();
  const { name } = (await aCollector()).collector;
  const { path, collector, etag } = await aCollector();
  expectRefusal(await api.put(path, { collector: { ...collector, name } }, etag), {
    codes: ['DuplicateResourceName'],
  });
  expect((await api.put(path, { collector }, etag)).status).toBe(200);
});

it('§7.3 DuplicateResourceName: of creates at the same time one is accepted', async () => {
  const { api, own } = target();
  const collector = { collectorType: 'Hosted', name: own.name('race') };
  const answers = await Promise.all(Array.from({ length: 5 }, () => api.post('/collectors', { collector })));
  const created = answers.filter(({ status }) => status < 300);
  for (const answer of created) own.created(read(OneCollector, answer).collector);
  expect(created).toHaveLength(1);
});

it('§7.3 InvalidCollector: an unknown ID', async () => {
  const { api, own } = target();
  const refusal = { status: 404, codes: ['InvalidCollector'] };
  const path = `/collectors/${await own.goneId()}`;
  expectRefusal(await api.get(path), refusal);
  expectRefusal(await api.delete(path), refusal);
  expectRefusal(await api.get(`${path}/sources`), refusal);
});

it('§7.3 InvalidCollectorType: a create of an Installed Collector', async () => {
  const { api, own } = target();
  const collector = { collectorType: 'Installable', name: own.name() };
  expectRefusal(await api.post('/collectors', { collector }), { codes: ['InvalidCollectorType'] });
});
