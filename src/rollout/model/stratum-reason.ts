import type { TextReason } from './text-reason.ts';

/** Why a stratum is held alone; `messages/stratum-reasons.ts` makes the sentence. */
export type StratumReason =
  /** It fails, and the others do not. */
  | {
      readonly kind: 'outlier';
      readonly failed: number;
      readonly tried: number;
      readonly elsewhere: { readonly failed: number; readonly tried: number };
    }
  | { readonly kind: 'asked'; readonly by: string; readonly words: string }
  | TextReason;
