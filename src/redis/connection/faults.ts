import { cutText, toPrintable } from '../../base/safe-text.ts';
import { isRedisOutage } from './redis-errors.ts';

export type RedisFaults = ReturnType<typeof makeRedisFaults>;

export interface RedisFaultsParts {
  /** Reported once for each, until it was done again or fails otherwise. */
  readonly onFault: (reason: string) => void;
  readonly onOver: (what: string) => void;
}

// A line of a log, and of `/readyz`.
const wordsMax = 300;

/** What fails at a Redis that is there, and by no waiting comes right: a person has to see it. */
export function makeRedisFaults({ onFault, onOver }: RedisFaultsParts) {
  const faults = new Map<string, string>();
  return {
    /** An outage is none: the connection reports it. @param what what could not be done: `the leader lease` */
    met: (what: string, error: unknown): void => {
      if (isRedisOutage(error)) return;
      const words = error instanceof Error ? error.message : String(error);
      const reason = cutText(toPrintable(`${what}: ${words}`), wordsMax);
      if (faults.get(what) === reason) return;
      faults.set(what, reason);
      onFault(reason);
    },
    /** It was done. */
    over: (what: string): void => {
      if (faults.delete(what)) onOver(what);
    },
    /** What fails now, and why; null: nothing that is known. */
    reason: (): string | null => (faults.size === 0 ? null : [...faults.values()].join('; ')),
  };
}
