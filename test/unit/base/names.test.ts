import { describe, expect, it } from 'vitest';
import { nearestText, someNames } from '../../../src/base/names.ts';

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

it.each([
  [[], ''],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c, d, e'],
  [['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'a, b, c, d, e and 2 more'],
])('of the names %j a line shows "%s"', (names, shown) => {
  expect(someNames(names)).toBe(shown);
});
