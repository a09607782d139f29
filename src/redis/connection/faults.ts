import { cutText, toPrintable } from '../../base/safe-text.ts';
import { isRedisOutage } from './redis-errors.ts';

export type RedisFaults = ReturnType<typeof makeRedisFaults>;

export interface RedisFaultsParts {
  /** Called once for each fault, until it is over or its reason changes. */
  readonly onFault: (reason: string) => void;
  readonly onOver: (what: string) => void;
}

// For one line of the log and of `/readyz`.
const wordsMax = 300;

/** Tracks failures of a reachable Redis that waiting does not repair: a person has to act. */
export function makeRedisFaults({ onFault, onOver }: RedisFaultsParts) {
  const faults = new Map<string, string>();
  return {
    /**
     * Reports a failure. Outages are ignored, because the connection reports them. @param what what failed: `the leader
     * lease`
     */
    met: (what: string, error: unknown): void => {
      if (isRedisOutage(error)) return;
      const words = error instanceof Error ? error.message : String(error);
      const reason = cutText(toPrintable(`${what}: ${words}`), wordsMax);
      if (faults.get(what) === reason) return;
      faults.set(what, reason);
      onFault(reason);
    },
    /** Reports that it succeeded. */
    over: (what: string): void => {
      if (faults.delete(what)) onOver(what);
    },
    /** The current failures with their reasons; null without any. */
    reason: (): string | null => (faults.size === 0 ? null : [...faults.values()].join('; ')),
  };
}
