import { expect, it } from 'vitest';
import { expectRefusal, read } from './support/answers.ts';
import { openResource } from './support/resources.ts';
import { useTarget } from './support/target.ts';
import { OneCollector } from './support/wire-shapes.ts';

const target = useTarget();

/** A collector of ours, to be changed. */
async function aCollector() {
  const { api, own } = target();
  const { id, name } = await own.create();
  return { id, name, ...(await openResource(api, `/collectors/${id}`)) };
}

it('§7.3 BadRequestCollectorId: the body of an update has none, or one that is not a number', async () => {
  const { put } = await aCollector();
  for (const id of [undefined, null, 'first', {}])
    expectRefusal(await put({ id }), { codes: ['BadRequestCollectorId', 'createValidationError'] });
});

it('§7.3 createValidationError: an ID in the path that is none', async () => {
  const { api } = target();
  const { stated, etag } = await aCollector();
  const codes = ['createValidationError', 'InvalidCollector', 'BadRequestCollectorId'];
  expectRefusal(await api.get('/collectors/no-number'), { codes });
  expectRefusal(await api.delete('/collectors/no-number'), { codes });
  expectRefusal(await api.put('/collectors/no-number', { collector: stated }, etag), { codes });
});

it('§7.3 DuplicateResourceName: at creation, and in an update, but for its own name', async () => {
  const { api } = target();
  const [{ name }, { put }] = [await aCollector(), await aCollector()];
  const refusal = { codes: ['DuplicateResourceName'] };
  expectRefusal(await api.post('/collectors', { collector: { collectorType: 'Hosted', name } }), refusal);
  expectRefusal(await put({ name }), refusal);
  expect((await put({})).status).toBe(200);
});

it('§7.3 DuplicateResourceName: of creates at the same time one is accepted', async () => {
  const { api, own } = target();
  const collector = { collectorType: 'Hosted', name: own.name('race') };
  const answers = await Promise.all(Array.from({ length: 5 }, () => api.post('/collectors', { collector })));
  const created = answers.filter(({ status }) => status < 300);
  for (const answer of created) own.created(read(OneCollector, answer).collector);
  expect(created).toHaveLength(1);
});

it('§7.3 InvalidCollectorType: an Installed Collector cannot be created through the service (§1)', async () => {
  const { api, own } = target();
  const collector = { collectorType: 'Installable', name: own.name('installed'), ephemeral: false };
  expectRefusal(await api.post('/collectors', { collector }), { codes: ['InvalidCollectorType'] });
  expectRefusal(await api.get(`/collectors/name/${collector.name}`));
});
