import type { z } from 'zod';
import type { DurationMs } from '../../base/time.ts';

/**
 * The version of records of rollouts and upgrades that this upwave writes. It is raised with each change after which an
 * earlier upwave would misread a record. A rollout with any record of a newer version is left alone.
 */
export const recordVersion = 1;

export type BrokenRecords = ReturnType<typeof makeBrokenRecords>;

interface Met {
  readonly lastAt: number;
  readonly error: BrokenRecordError;
}

// A record that was restored by hand is used again soon. Until then it costs one read a minute.
const knownForMs: DurationMs = 60_000;

// Each daemon reads its active rollouts every second or two.
const newerKnownForMs: DurationMs = 10_000;

// Many more broken records mean a broken Redis. The oldest are reported again then.
const reportedMax = 10_000;

/**
 * Tracks unreadable records. One of many is left out, so that it stops nothing else.
 * @param onBroken is called once for each
 */
export function makeBrokenRecords(onBroken: (error: BrokenRecordError) => void) {
  const met = new Map<string, Met>();
  return {
    /**
     * The result of `read`; undefined for an unreadable record, which is reported once. @throws errors other than
     * BrokenRecordError
     */
    read: <T>(read: () => T): T | undefined => {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof BrokenRecordError)) throw error;
        const isNew = !met.has(error.what);
        const lastAt = performance.now();
        met.set(error.what, { lastAt, error });
        const [oldest] = met.keys();
        if (met.size > reportedMax && oldest !== undefined) met.delete(oldest);
        if (isNew) onBroken(error);
        return undefined;
      }
    },
    /** True for a while after this record was unreadable, when reading it again is useless. */
    isKnown: (what: string): boolean =>
      performance.now() - (met.get(what)?.lastAt ?? Number.NEGATIVE_INFINITY) < knownForMs,
    /** Upgrades of a rollout with unreadable records. */
    upgradesOf: (rolloutId: string): readonly number[] =>
      [...met.values()].flatMap(({ error: { upgrade } }) =>
        upgrade?.rolloutId === rolloutId ? [upgrade.collectorId] : [],
      ),
    /** Rollouts that a newer upwave wrote, as found a moment ago: why each is left alone. */
    newer: (): readonly string[] =>
      [...met.values()].flatMap(({ error, lastAt }) =>
        error instanceof NewerRecordError && performance.now() - lastAt < newerKnownForMs
          ? [error.message]
          : [],
      ),
    /** Removes a record that is readable again. */
    forget: (what: string): void => void met.delete(what),
  };
}

/** A record that upwave wrote is unreadable: because of another program, another version, or a bug. */
export class BrokenRecordError extends Error {
  override readonly name = 'BrokenRecordError';
  /** The name of the record. */
  readonly what: string;
  /** The upgrade, for a record of one. */
  readonly upgrade: { readonly rolloutId: string; readonly collectorId: number } | undefined;

  constructor(what: string, cause: unknown, upgrade?: BrokenRecordError['upgrade']) {
    super(`${what} in Redis is unreadable: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.what = what;
    this.upgrade = upgrade;
  }
}

/** A newer upwave wrote the record, so this one leaves it alone. */
export class NewerRecordError extends BrokenRecordError {
  constructor(what: string, version: number, readable: number) {
    super(what, `a newer upwave wrote it (record version ${version}, this upwave reads ${readable})`);
  }
}

/** Decodes JSON that upwave wrote. @param what the name of the record in messages @throws BrokenRecordError */
export function decodeRecord<T>(schema: z.ZodType<T>, what: string, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new BrokenRecordError(what, error);
  }
}
