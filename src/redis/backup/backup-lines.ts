import { z } from 'zod';
import { keptTypes, valuesPerItem } from './read-keys.ts';

/** Counts up with every change after which an older reader would restore something wrong. */
export const backupVersion = 1;

// Loose, so that a newer one can be told by its version.
const Header = z.looseObject({
  kind: z.literal('header'),
  format: z.literal('upwave backup'),
  version: z.number(),
  keyPrefix: z.string(),
  /** ISO 8601. */
  takenAt: z.string(),
});

/** A piece of a key; its pieces follow each other. */
const Part = z
  .strictObject({
    kind: z.literal('part'),
    key: z.string(),
    type: z.enum(keptTypes),
    /** Milliseconds since the UNIX epoch; null: kept for good. */
    expiresAt: z.number().nullable(),
    /** As in `KeyContent`. */
    values: z.array(z.string()).min(1),
  })
  .refine(({ type, values }) => values.length % valuesPerItem[type] === 0);

/** How much came before it, and its SHA-256. */
const End = z.strictObject({
  kind: z.literal('end'),
  lines: z.number(),
  sha256: z.string(),
});

const Line = z.discriminatedUnion('kind', [Header, Part, End]);

export type BackupHeader = z.infer<typeof Header>;
export type BackupPart = z.infer<typeof Part>;
export type BackupEnd = z.infer<typeof End>;
export type BackupLine = BackupHeader | BackupPart | BackupEnd;

/** Reads a line of a backup; undefined when it is none. */
export function parseBackupLine(text: string): BackupLine | undefined {
  try {
    const { success, data } = Line.safeParse(JSON.parse(text));
    return success ? data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
