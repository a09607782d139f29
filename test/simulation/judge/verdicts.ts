/** A promise that was not kept. */
export interface Violation {
  readonly promise: string;
  readonly words: string;
  readonly at: number;
}

/** Counts what was checked, and keeps what was found. */
export interface Verdicts {
  readonly violations: readonly Violation[];
  readonly checks: ReadonlyMap<string, number>;
  /** @param words said only when it does not hold */
  check(promise: string, holds: boolean, words: () => string): void;
}

// The first violation is the one to understand; what follows from it would only fill the report.
const keptMax = 20;

export function makeVerdicts(now: () => number, onViolation: (violation: Violation) => void): Verdicts {
  const violations: Violation[] = [];
  const checks = new Map<string, number>();
  return {
    violations,
    checks,
    check: (promise, holds, words) => {
      checks.set(promise, (checks.get(promise) ?? 0) + 1);
      if (holds || violations.length >= keptMax) return;
      const violation = { promise, words: words(), at: now() };
      violations.push(violation);
      onViolation(violation);
    },
  };
}
