import type { Attribute } from './attributes.ts';

/**
 * How the members of a plan group together. Frozen with the plan; late joiners may add to the ends of the lists, so an
 * index once given keeps its meaning.
 */
export interface PlanGroups {
  readonly strata: readonly Stratum[];
  readonly lanes: readonly Lane[];
  readonly domains: readonly CapDomain[];
}

/** In the place of unreadable groups: nobody starts by them, and no cap has room. */
export const noGroups: PlanGroups = { strata: [], lanes: [], domains: [] };

/** Collectors alike in `spreadBy`, or a group of them that was held for what it shares. */
export interface Stratum {
  /** Their values, joined: `Linux / amd64 / 19.441-2`. */
  readonly label: string;
  /** Of such a group: what its members share, whatever their values of `spreadBy`. */
  readonly attributes?: readonly Attribute[];
  /** Members in each wave. */
  readonly sizes: readonly number[];
}

/** Collectors that may start, or must wait, for the very same reasons: candidates are kept by lane. */
export interface Lane {
  readonly stratum: number;
  /** Their own time zone, where the policy's windows or freezes ask for it; else empty. */
  readonly timeZone: string;
  /** The caps they share with others; one per `maxInFlightPer` rule at most. */
  readonly domains: readonly number[];
}

/** Collectors that share a cap of `maxInFlightPer`. */
export interface CapDomain {
  /** `fields.cluster = db-7`. */
  readonly label: string;
  readonly cap: number;
}

/** Finds a stratum by its label, whatever the case and the blanks around its parts. */
export function findStratum(
  strata: ReadonlyArray<{ readonly label: string }>,
  label: string,
): { readonly kind: 'found'; readonly stratum: number; readonly label: string } | { readonly kind: 'none' } {
  const wanted = normalize(label);
  const index = strata.findIndex((each) => normalize(each.label) === wanted);
  const found = strata[index];
  return found === undefined ? { kind: 'none' } : { kind: 'found', stratum: index, label: found.label };
}

/** The index of the stratum with this label; -1 where there is none. */
export function indexOfStratum(strata: ReadonlyArray<{ readonly label: string }>, label: string): number {
  const found = findStratum(strata, label);
  return found.kind === 'found' ? found.stratum : -1;
}

function normalize(label: string): string {
  return label
    .split('/')
    .map((part) => part.trim().toLowerCase())
    .join('/');
}
