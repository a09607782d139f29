import { expect, it } from 'vitest';
import { holdSubjects, releaseSubjects } from '../../../../src/orchestrator/operations/change-holds.ts';
import { makeShowCourse } from '../../../../src/orchestrator/operations/show-course.ts';
import { aRollout, targetBuild } from '../../../support/builders.ts';
import { aRolloutEvent } from '../../../support/fake-operations.ts';
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

it('shows collectors as back on their build while the rollback still runs', async () => {
  const startedAs = 'edge-20260302-2';
  const plan = { fromBuilds: ['19.441-2'], fromCounts: [1] };
  const { parts, store, clock } = await aHouse({
    rollout: aRollout({ state: 'rollingBack', rollback: { startedAs }, plan }),
  });
  const ofCollector = { event: 'upgrade.succeeded', collectorId: 1 } as const;
  const upgraded = aRolloutEvent({ ...ofCollector, at: clock.at + 1_000, fromBuild: '19.441-2' });
  const returned = aRolloutEvent({ ...ofCollector, at: clock.at + 5_000 });
  const readEvents: typeof store.readEvents = async (id) => (id === startedAs ? [returned] : [upgraded]);
  clock.at += 10_000;
  const course = await makeShowCourse({ ...parts, store: { ...store, readEvents } })(aRollout().id);
  const onTarget = course?.builds?.points.map(({ counts: [count = 0] }) => count);
  expect([Math.max(...(onTarget ?? [])), onTarget?.at(-1)]).toEqual([1, 0]);
});

it('knows no rollout that is not stored', async () => {
  const { parts } = await aHouse();
  expect(await makeShowCourse(parts)('none-20260302-1')).toBeUndefined();
});
