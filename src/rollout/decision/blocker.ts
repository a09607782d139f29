import type { EpochMs } from '../../base/time.ts';

/** Something that stops the rollout from starting more, in words, and until when where that is known. */
export interface Hold {
  readonly reason: string;
  readonly until: EpochMs | null;
}
