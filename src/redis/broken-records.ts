import type { DurationMs } from '../base/time.ts';
import { BrokenRecordError } from './broken-record.ts';

/** What of ours can't be read: left out where it is one of many, so that it stops nothing else. */
export interface BrokenRecords {
  /** What `read` gives; undefined when it can't be read, which is told once. @throws whatever is no BrokenRecordError */
  read<T>(read: () => T): T | undefined;
  /** True for a while after this could not be read: there is no use in asking for it again before. */
  isKnown(what: string): boolean;
}

// Whoever mends one by hand sees it taken up soon, and meanwhile it costs one read a minute.
const knownForMs: DurationMs = 60_000;

// Many more is no broken record but a broken Redis; the eldest are told again then.
const toldMax = 10_000;

/** @param onBroken is told of each once */
export function makeBrokenRecords(onBroken: (error: BrokenRecordError) => void): BrokenRecords {
  /** By name, when it was met last. */
  const met = new Map<string, number>();
  return {
    read: (read) => {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof BrokenRecordError)) throw error;
        const isNew = !met.has(error.what);
        met.set(error.what, performance.now());
        const [eldest] = met.keys();
        if (met.size > toldMax && eldest !== undefined) met.delete(eldest);
        if (isNew) onBroken(error);
        return undefined;
      }
    },
    isKnown: (what) => performance.now() - (met.get(what) ?? Number.NEGATIVE_INFINITY) < knownForMs,
  };
}
