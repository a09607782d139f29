/** What the failures of a rollout have in common, of what its strata are told apart by. */
export interface SharedAttribute {
  /** One or two keys of `spreadBy`. A value may end in `*`: `Windows*`. */
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: string }>;
  /** Collectors with these attributes that failed, of those that ended there. */
  readonly failed: number;
  readonly tried: number;
  readonly elsewhere: { readonly failed: number; readonly tried: number };
}
