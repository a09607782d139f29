import { describe, expect, it } from 'vitest';
import { nearestNames, nearestText, notInConfig, orNames, someNames } from '../../../src/base/names.ts';

const labels = ['Linux / amd64 / 19.441-2', 'Windows / amd64 / 19.441-2', 'Linux / arm64 / 19.441-2'];

describe('the nearest text', () => {
  it.each([
    ['linux / amd46 / 19.441-2', 'Linux / amd64 / 19.441-2'],
    ['Linux/arm64/19.441-2', 'Linux / arm64 / 19.441-2'],
    ['Window / amd64 / 19.441-2', 'Windows / amd64 / 19.441-2'],
  ])('of %j is %j', (text, label) => {
    expect(nearestText(text, labels)).toBe(label);
  });

  it.each([
    // Two slips in a short word, where only one is so near.
    ['soke', 'soak'],
    ['sise', 'size'],
    // Another first letter, or more than two slips, is another word.
    ['file', undefined],
    ['sort', undefined],
    ['os', undefined],
  ])('of the short word %j is %j', (text, nearest) => {
    expect(nearestText(text, ['name', 'size', 'match', 'soak', 'maxFailures', 'approval', 'gates'])).toBe(
      nearest,
    );
  });

  it('is not guessed where two are equally near', () => {
    expect(nearestText('pats', ['paused', 'post', 'path', 'part'])).toBe('path');
    expect(nearestText('soke', ['soak', 'smoke'])).toBe('smoke');
    expect(nearestText('soke', ['soak', 'sock'])).toBeUndefined();
  });
});

describe('the names that may be meant', () => {
  const queues = Array.from({ length: 9 }, (_, index) => `dev-queue-10${9 - index}`);

  it('are those that begin with the text, in order, before those that are only similar', () => {
    expect(nearestNames('dev-queue-10', ['dev-queue-11', ...queues])).toEqual(queues.toReversed());
    expect(nearestNames('DEV-queue-11', ['dev-queue-111', 'dev-queue-12'])).toEqual(['dev-queue-111']);
  });

  it('are the nearest ones, where none begins with the text', () => {
    expect(nearestNames('svr-22', ['svr-12', 'svr-21', 'database'])).toEqual(['svr-12', 'svr-21']);
    expect(nearestNames('soke', ['soak', 'size'])).toEqual(['soak']);
    expect(nearestNames(' ', ['soak', 'size'])).toEqual([]);
  });

  it('are a few, and how many more there are', () => {
    expect(orNames(queues.toReversed())).toBe('dev-queue-101, dev-queue-102, dev-queue-103 or 6 more');
    expect(orNames(['a', 'b', 'c'])).toBe('a, b, c');
    const policies = ['production-us', 'production-eu', 'staging'];
    expect(notInConfig('policy', 'production', policies)).toBe(
      'there is no policy production; did you mean production-eu, production-us?',
    );
  });
});

it.each([
  [[], ''],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c, d, e'],
  [['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'a, b, c, d, e and 2 more'],
])('of the names %j a line shows "%s"', (names, shown) => {
  expect(someNames(names)).toBe(shown);
});
