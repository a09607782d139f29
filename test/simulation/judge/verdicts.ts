import { InjectedFault } from '../night.ts';

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
  check(promise: string, holds: boolean, words: string): void;
  /** Something was thrown there: nothing but a fault that the world put in may be. */
  thrown(where: string, error: unknown): void;
}

// The first violation is the one to understand; what follows from it would only fill the report.
const keptMax = 20;

export function makeVerdicts(now: () => number, onViolation: (violation: Violation) => void): Verdicts {
  const violations: Violation[] = [];
  const checks = new Map<string, number>();
  const check: Verdicts['check'] = (promise, holds, words) => {
    checks.set(promise, (checks.get(promise) ?? 0) + 1);
    if (holds || violations.length >= keptMax) return;
    const violation = { promise, words, at: now() };
    violations.push(violation);
    onViolation(violation);
  };
  return {
    violations,
    checks,
    check,
    thrown: (where, error) => {
      const isInjected = error instanceof InjectedFault;
      check('no error', isInjected, isInjected ? '' : `${where}: ${wordsOf(error)}`);
    },
  };
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? '') : String(error);
}
