import type { z } from 'zod';
import { keepLatest } from '../../base/keep-latest.ts';
import type { DurationMs } from '../../base/time.ts';

/**
 * The version in which this upwave writes records of rollouts and upgrades. It is raised with each change after which
 * an earlier upwave would read a record wrongly. Earlier versions are read; a rollout of which anything was written in
 * a newer one is left alone. Records without a version are of version 1, which has sentences where the second has kinds.
 * Version 2 has a sentence where the third says with figures how a plan moved.
 */
export const recordVersion = 3;

export type BrokenRecords = ReturnType<typeof makeBrokenRecords>;

interface Met {
  readonly lastAt: number;
  readonly error: BrokenRecordError;
}

// A record that was repaired by hand is taken up soon, and meanwhile it costs one read a minute.
const knownForMs: DurationMs = 60_000;

// Each daemon reads its active rollouts every second or two.
const newerKnownForMs: DurationMs = 10_000;

// A read may start before a repair and end after it. What is still broken then is met again by the next read.
const settledForMs: DurationMs = 2_000;

// Many more is no broken record but a broken Redis; the eldest are reported again then.
const reportedMax = 10_000;

/**
 * What of ours is unreadable: left out where it is one of many, so that it stops nothing else.
 * @param onBroken is called once for each
 */
export function makeBrokenRecords(onBroken: (error: BrokenRecordError) => void) {
  const met = new Map<string, Met>();
  const settled = new Map<string, number>();
  return {
    /** What `read` gives; undefined when it is unreadable, which is reported once. @throws whatever is no BrokenRecordError */
    read: <T>(read: () => T): T | undefined => {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof BrokenRecordError)) throw error;
        const isNew = !met.has(error.what);
        const lastAt = performance.now();
        if (lastAt - (settled.get(error.what) ?? Number.NEGATIVE_INFINITY) < settledForMs) return undefined;
        met.set(error.what, { lastAt, error });
        const [eldest] = met.keys();
        if (met.size > reportedMax && eldest !== undefined) met.delete(eldest);
        if (isNew) onBroken(error);
        return undefined;
      }
    },
    /** True for a while after this could not be read: there is no use in asking for it again before. */
    isKnown: (what: string): boolean =>
      performance.now() - (met.get(what)?.lastAt ?? Number.NEGATIVE_INFINITY) < knownForMs,
    /** True while nothing is known to be unreadable. */
    isEmpty: (): boolean => met.size === 0,
    /** Upgrades of a rollout that could not be read. */
    upgradesOf: (rolloutId: string): readonly number[] =>
      [...met.values()].flatMap(({ error: { upgrade } }) =>
        upgrade?.rolloutId === rolloutId ? [upgrade.collectorId] : [],
      ),
    /** Rollouts that a newer upwave has written, as this daemon met them a moment ago: why each is left alone. */
    newer: (): readonly string[] =>
      [...met.values()].flatMap(({ error, lastAt }) =>
        error instanceof NewerRecordError && performance.now() - lastAt < newerKnownForMs
          ? [error.message]
          : [],
      ),
    /** It can be read again, or another record is in its place. */
    forget: (what: string): void => {
      if (!met.delete(what)) return;
      keepLatest(settled, what, performance.now(), reportedMax);
    },
  };
}

/** Something in Redis that we wrote is no longer readable: another program, another version, or a bug. */
export class BrokenRecordError extends Error {
  override readonly name = 'BrokenRecordError';
  /** What it is, and of whom. */
  readonly what: string;
  /** For a record of an upgrade: whose. */
  readonly upgrade: { readonly rolloutId: string; readonly collectorId: number } | undefined;

  constructor(what: string, cause: unknown, upgrade?: BrokenRecordError['upgrade']) {
    super(`${what} in Redis can't be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.what = what;
    this.upgrade = upgrade;
  }
}

/** A newer upwave wrote it, so this one leaves it alone. */
export class NewerRecordError extends BrokenRecordError {
  constructor(what: string, version: number, readable: number) {
    super(what, `a newer upwave wrote it (record version ${version}, this upwave reads ${readable})`);
  }
}

/** Reads JSON that we wrote. @param what it is called when it is unreadable @throws BrokenRecordError */
export function decodeRecord<T>(schema: z.ZodType<T>, what: string, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new BrokenRecordError(what, error);
  }
}
