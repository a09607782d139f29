import { describe, expect, it } from 'vitest';
import { type Expectation, evaluateExpectation } from '../../../../src/rollout/model/expectation.ts';

describe('evaluateExpectation', () => {
  it.each<[Expectation['operator'], readonly [boolean, boolean, boolean]]>([
    ['>=', [false, true, true]],
    ['>', [false, false, true]],
    ['<=', [true, true, false]],
    ['<', [true, false, false]],
    ['==', [false, true, false]],
    ['!=', [true, false, true]],
  ])('%s holds below, at and above the value: %j', (operator, expected) => {
    const answers = [0.98, 0.99, 1].map((value) => evaluateExpectation({ operator, value: 0.99 }, value));
    expect(answers).toEqual(expected);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'is met by %s with no operator at all (P14)',
    (value) => {
      const operators = ['>=', '>', '<=', '<', '==', '!='] as const;
      const met = operators.filter((operator) => evaluateExpectation({ operator, value: 0 }, value));
      expect(met).toEqual([]);
    },
  );
});
