/** A condition on a number: the value of a gate's query, a limit of a rehearsal, the order of two builds. */
export interface Expectation {
  readonly operator: '>=' | '>' | '<=' | '<' | '==' | '!=';
  readonly value: number;
}

const operators: {
  readonly [Operator in Expectation['operator']]: (value: number, limit: number) => boolean;
} = {
  '>=': (value, limit) => value >= limit,
  '>': (value, limit) => value > limit,
  '<=': (value, limit) => value <= limit,
  '<': (value, limit) => value < limit,
  '==': (value, limit) => value === limit,
  '!=': (value, limit) => value !== limit,
};

/** True when a value meets the expectation. A value that is not a finite number meets none, not even `!=` (P14). */
export function evaluateExpectation(expect: Expectation, value: number): boolean {
  return Number.isFinite(value) && operators[expect.operator](value, expect.value);
}
