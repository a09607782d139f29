import { describe, expect, it } from 'vitest';
import { playInVirtualTime } from '../../bench/rehearsal/play-in-virtual-time.ts';
import { rehearseSameFates } from '../../bench/rehearsal/same-fates.ts';
import { scenarioFor, situations } from '../../bench/rehearsal/situations.ts';

const of = { seed: 1, size: { collectors: 60, slots: 12 } };
const minute = 60_000;

/** The orders of the creates of a wave differ, and with few collectors the last ones decide when it ends. */
const endShare = 0.07;

/** A retry comes up to so much earlier or later, by chance. */
const jitterMs = 0.5 * minute;
/** With few upgrades in flight, single readings come earlier or later. */
const requestsShare = 0.1;

const named = (name: string) => {
  const situation = situations.find((each) => each.name === name);
  if (situation === undefined) throw new Error(`there is no situation "${name}"`);
  return situation;
};

describe('a rehearsal in which upgrades take as long, and end, as in a rollout', () => {
  // `npm run bench -- rehearsal` plays all of them.
  it.each([
    '5% fail once',
    'fails in one rack, isolated by attributes',
    'an outage of an hour',
    'two windows',
  ])('ends like it, with about as many requests: %s', async (name) => {
    const situation = named(name);
    const played = await playInVirtualTime(situation, of);
    const rehearsed = await rehearseSameFates(played.scene, played.policy, scenarioFor(situation, of));
    expect(rehearsed.state).toBe(played.state);
    expect(rehearsed.started).toEqual(played.started);
    expect(Math.abs(rehearsed.tookMs - played.tookMs)).toBeLessThan(jitterMs + played.tookMs * endShare);
    expect(Math.abs(rehearsed.requests - played.requests)).toBeLessThan(played.requests * requestsShare);
  });
});
