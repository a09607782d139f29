/** How a plan differs from the one before it. */
export interface PlanDrift {
  readonly from: string;
  readonly joined: number;
  readonly left: number;
  readonly change: PlanChange;
}

/** `messages/plans.ts` makes the sentence. */
export type PlanChange =
  /** `target`: the new one; null: it is the same. Names: the first few of those that joined and left. */
  | {
      readonly kind: 'collectors';
      readonly target: string | null;
      readonly joined: readonly string[];
      readonly left: readonly string[];
    }
  /** Of a record of version 2 or earlier. */
  | { readonly kind: 'text'; readonly text: string };
