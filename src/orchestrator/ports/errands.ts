/**
 * Work that must not hold the leader's loop up: at most one for each key at a time, and one that came to nothing
 * (`again`) not at once again.
 */
export interface Errands {
  /** Begins the work unless that key's is still on its way; it may have ended when this returns. */
  run(key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>): Promise<void>;
}
