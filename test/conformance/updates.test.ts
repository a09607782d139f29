import { expect, it } from 'vitest';
import { expectRefusal, json } from './support/answers.ts';
import type { ApiAnswer } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import { findInstalled, type OpenedResource, openResource } from './support/resources.ts';
import { aService, type Target, useTarget } from './support/target.ts';

const target = useTarget();

/** What §4.4 is about, one of each. @returns its path */
const resources = [
  {
    kind: 'collector',
    otherId: 'BadRequestCollectorId',
    make: async ({ own }: Target) => `/collectors/${(await own.create()).id}`,
  },
  {
    kind: 'source',
    otherId: 'BadRequestBladeId',
    make: async ({ own }: Target) => {
      const { id } = await own.create();
      return `/collectors/${id}/sources/${(await own.createSource(id)).id}`;
    },
  },
] as const;

type Make = (typeof resources)[number]['make'];

async function aResource(make: Make) {
  const path = await make(target());
  const open = () => openResource(target().api, path);
  return { open, before: await open() };
}

it.each(resources)(
  '§4.4 rule 1: GET of a $kind has an ETag, the same while nothing changes',
  async ({ make }) => {
    const { open, before } = await aResource(make);
    expect(before.etag).toMatch(/^(W\/)?"[^"]+"$/);
    expect((await open()).etag).toBe(before.etag);
  },
);

itInProcess('§4.4 rule 1: the ETag of a collector does not change with its heartbeat', async () => {
  const { api, clock } = await aService();
  const path = `/collectors/${(await findInstalled(api)).id}`;
  const first = await openResource(api, path);
  clock.advance(60_000);
  const later = await openResource(api, path);
  expect(json(later.answer)).not.toEqual(json(first.answer));
  expect(later.etag).toBe(first.etag);
});

it.each(resources)(
  '§4.4 rule 2: PUT of a $kind with the ETag of the GET changes it, and with that of an older state no more',
  async ({ make }) => {
    const { open, before } = await aResource(make);
    expect((await before.put({ category: 'first' })).status).toBe(200);
    const after = await open();
    expect(after.stated).toMatchObject({ category: 'first' });
    expect(after.etag).not.toBe(before.etag);
    expectRefusal(await before.put({ category: 'second' }));
    expect((await open()).stated).toMatchObject({ category: 'first' });
  },
);

const refused: ReadonlyArray<
  readonly [rule: number, what: string, put: (of: OpenedResource) => Promise<ApiAnswer>]
> = [
  [2, 'without If-Match', (of) => of.put({ category: 'changed' }, null)],
  [2, 'with a made-up ETag', (of) => of.put({ category: 'changed' }, '"0123456789abcdef"')],
  [2, 'with an ETag that is not quoted', (of) => of.put({ category: 'changed' }, 'not-quoted')],
  [3, 'without its name', (of) => of.put({ name: undefined })],
  [3, 'with another id', (of) => of.put({ id: 1 })],
];

it.each(refused.flatMap(([rule, what, put]) => resources.map((of) => ({ ...of, rule, what, put }))))(
  '§4.4 rule $rule: PUT of a $kind $what is refused, and changes nothing',
  async ({ make, put, what, otherId }) => {
    const { open, before } = await aResource(make);
    expectRefusal(await put(before), what === 'with another id' ? { codes: [otherId] } : {});
    expect((await open()).stated).toEqual(before.stated);
  },
);

it.each(resources)(
  '§4.4 rule 2: of two PUTs of a $kind with one ETag at the same time, one succeeds',
  async ({ make }) => {
    const { before } = await aResource(make);
    const answers = await Promise.all(['one', 'other'].map((category) => before.put({ category })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  },
);

it.each(resources)(
  '§4.4 rule 3: a body of a $kind that states everything as it is changes nothing',
  async ({ make }) => {
    const { open, before } = await aResource(make);
    expect((await before.put({})).status).toBe(200);
    const { lastSeenAlive: _then, ...stated } = before.stated;
    expect((await open()).stated).toMatchObject(stated);
  },
);
