/** Something in Redis that we wrote can't be read any more: another program, another version, or a bug. */
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
