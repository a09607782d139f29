import { expect, it } from 'vitest';
import { holdSubjects, releaseSubjects } from '../../../../src/orchestrator/operations/change-holds.ts';
import { makeShowCourse } from '../../../../src/orchestrator/operations/show-course.ts';
import { aRollout, targetBuild } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';

const words = { by: 'bob', reason: 'it crashes' };

it('shows a hold of the build and its release in the next answer, and reads the events once in a while', async () => {
  const { parts, store, clock } = await aHouse();
  let reads = 0;
  const readEvents: typeof store.readEvents = (...of) => {
    reads += 1;
    return store.readEvents(...of);
  };
  const showCourse = makeShowCourse({ ...parts, store: { ...store, readEvents } });
  const bandsOf = async () =>
    (await showCourse(aRollout().id))?.night.bands.map(({ kind, to }) => [kind, to === null]);
  expect(await bandsOf()).toEqual([]);
  clock.at += 1_000;
  await bandsOf();
  expect(reads).toBe(1);
  await holdSubjects(parts, { subject: targetBuild, ...words });
  expect(await bandsOf()).toEqual([
    ['buildHold', true],
    ['hold', true],
  ]);
  clock.at += 1_000;
  await releaseSubjects(parts, { subject: targetBuild, ...words });
  expect(await bandsOf()).toEqual([
    ['buildHold', false],
    ['hold', true],
  ]);
});

it('knows no rollout that is not stored', async () => {
  const { parts } = await aHouse();
  expect(await makeShowCourse(parts)('none-20260302-1')).toBeUndefined();
});
