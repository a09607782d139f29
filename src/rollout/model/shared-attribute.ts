import type { Attribute } from './attributes.ts';

/** What the failures of a rollout have in common. */
export interface SharedAttribute {
  /** One or two. */
  readonly attributes: readonly Attribute[];
  /** Collectors with these attributes that failed, of those that ended there. */
  readonly failed: number;
  readonly tried: number;
  readonly elsewhere: { readonly failed: number; readonly tried: number };
  /** Collectors of the plan that have them, as a share of all; absent where strata alone were counted. */
  readonly share?: number;
}

/** Which collectors failed and which were upgraded; nobody else shows anything. */
export interface Outcomes {
  readonly failed: ReadonlySet<number>;
  readonly succeeded: ReadonlySet<number>;
}
