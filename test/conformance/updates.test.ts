import { expect, it } from 'vitest';
import { etagOf, expectRefusal, json, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { type Target, useControlledServices, useTarget } from './support/target.ts';
import { CollectorList, OneCollector, OneSource } from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();

/** What §4.4 is about, one of each: where it is, and how its body is wrapped. */
const resources = [
  {
    kind: 'collector',
    open: async ({ own }: Pick<Target, 'own'>) => `/collectors/${(await own.create()).id}`,
    fieldsOf: (answer: Parameters<typeof read>[1]): Record<string, unknown> =>
      read(OneCollector, answer).collector,
  },
  {
    kind: 'source',
    open: async ({ own }: Pick<Target, 'own'>) => {
      const { id } = await own.create();
      return `/collectors/${id}/sources/${(await own.createSource(id)).id}`;
    },
    fieldsOf: (answer: Parameters<typeof read>[1]): Record<string, unknown> => read(OneSource, answer).source,
  },
] as const;

it.each(resources)(
  '§4.4 rule 1: GET of a $kind has an ETag, the same while nothing changes',
  async ({ open }) => {
    const { api } = target();
    const path = await open(target());
    const first = etagOf(await api.get(path));
    expect(first).toMatch(/^(W\/)?"[^"]+"$/);
    expect(etagOf(await api.get(path))).toBe(first);
  },
);

itInProcess('§4.4 rule 1: the ETag of a collector does not change with its heartbeat', async () => {
  const { api, clock } = await aService();
  const { collectors } = read(CollectorList, await api.get('/collectors?filter=installed'));
  const path = `/collectors/${collectors.find(({ alive }) => alive)?.id}`;
  const first = await api.get(path);
  clock.advance(60_000);
  const later = await api.get(path);
  expect(json(later)).not.toEqual(json(first));
  expect(etagOf(later)).toBe(etagOf(first));
});

it.each(resources)(
  '§4.4 rule 2: PUT of a $kind with the ETag of the GET succeeds and changes it',
  async (resource) => {
    const { api } = target();
    const { kind, fieldsOf } = resource;
    const path = await resource.open(target());
    const before = await api.get(path);
    const stated = { ...fieldsOf(before), category: 'changed' };
    expect((await api.put(path, { [kind]: stated }, etagOf(before))).status).toBe(200);
    const after = await api.get(path);
    expect(fieldsOf(after)).toMatchObject({ category: 'changed' });
    expect(etagOf(after)).not.toBe(etagOf(before));
  },
);

it.each(resources)('§4.4 rule 2: PUT of a $kind without If-Match is refused', async (resource) => {
  const { api } = target();
  const { kind, fieldsOf } = resource;
  const path = await resource.open(target());
  const before = await api.get(path);
  const stated = { ...fieldsOf(before), category: 'changed' };
  expectRefusal(await api.put(path, { [kind]: stated }, undefined));
  expect(fieldsOf(await api.get(path))['category'] ?? null).toBeNull();
});

it.each(resources)(
  '§4.4 rule 2: PUT of a $kind with the ETag of an older state is refused',
  async (resource) => {
    const { api } = target();
    const { kind, fieldsOf } = resource;
    const path = await resource.open(target());
    const old = await api.get(path);
    const first = { ...fieldsOf(old), category: 'first' };
    expect((await api.put(path, { [kind]: first }, etagOf(old))).status).toBe(200);
    expectRefusal(await api.put(path, { [kind]: { ...first, category: 'second' } }, etagOf(old)));
    expect(fieldsOf(await api.get(path))).toMatchObject({ category: 'first' });
  },
);

it.each(resources)('§4.4 rule 2: PUT of a $kind with a made-up ETag is refused', async (resource) => {
  const { api } = target();
  const { kind, fieldsOf } = resource;
  const path = await resource.open(target());
  const stated = { ...fieldsOf(await api.get(path)), category: 'changed' };
  for (const etag of ['"0123456789abcdef"', 'not-quoted']) {
    expectRefusal(await api.put(path, { [kind]: stated }, etag));
  }
  expect(fieldsOf(await api.get(path))['category'] ?? null).toBeNull();
});

it.each(resources)(
  '§4.4 rule 2: of two PUTs of a $kind with one ETag at the same time, one succeeds',
  async (resource) => {
    const { api } = target();
    const { kind, fieldsOf } = resource;
    const path = await resource.open(target());
    const before = await api.get(path);
    const answers = await Promise.all(
      ['one', 'other'].map((category) =>
        api.put(path, { [kind]: { ...fieldsOf(before), category } }, etagOf(before)),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  },
);

it.each(resources)('§4.4 rule 3: a body of a $kind without its name is refused', async (resource) => {
  const { api } = target();
  const { kind, fieldsOf } = resource;
  const path = await resource.open(target());
  const before = await api.get(path);
  const { name, ...nameless } = fieldsOf(before);
  expectRefusal(await api.put(path, { [kind]: nameless }, etagOf(before)));
  expect(fieldsOf(await api.get(path))['name']).toBe(name);
});

it.each(resources)('§4.4 rule 3: a body of a $kind with another id is refused', async (resource) => {
  const { api } = target();
  const { kind, fieldsOf } = resource;
  const path = await resource.open(target());
  const before = await api.get(path);
  expectRefusal(await api.put(path, { [kind]: { ...fieldsOf(before), id: 1 } }, etagOf(before)));
  expect(fieldsOf(await api.get(path))).toEqual(fieldsOf(before));
});

it.each(resources)(
  '§4.4 rule 3: a body that states everything as it is changes nothing',
  async (resource) => {
    const { api } = target();
    const { kind, fieldsOf } = resource;
    const path = await resource.open(target());
    const before = await api.get(path);
    expect((await api.put(path, { [kind]: fieldsOf(before) }, etagOf(before))).status).toBe(200);
    const { lastSeenAlive: _then, ...stated } = fieldsOf(before);
    expect(fieldsOf(await api.get(path))).toMatchObject(stated);
  },
);
