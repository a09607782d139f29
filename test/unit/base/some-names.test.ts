import { expect, it } from 'vitest';
import { someNames } from '../../../src/base/names.ts';

it.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c, d, e'],
  [['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'a, b, c, d, e and 2 more'],
])('of %j a line shows "%s"', (names, shown) => {
  expect(someNames(names)).toBe(shown);
});
