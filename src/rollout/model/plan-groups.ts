import type { Attribute } from './attributes.ts';

/**
 * The groups of a plan's members. They are frozen with the plan. Late joiners may only append to the lists, so an index keeps
 * its meaning.
 */
export interface PlanGroups {
  readonly strata: readonly Stratum[];
  readonly lanes: readonly Lane[];
  readonly domains: readonly CapDomain[];
  /** Groups that failed in earlier rollouts, and have members in the plan; absent: none. */
  readonly risks?: readonly RiskyGroup[];
}

/** Collectors with the same attributes, whatever their strata, of which many failed in earlier rollouts. */
export interface RiskyGroup {
  /** `fields.rack=r7 and osName=Linux` */
  readonly label: string;
  readonly tried: number;
  readonly failed: number;
  /** Members in each wave. */
  readonly sizes: readonly number[];
  /** The failures to expect in each wave beyond those of their strata. */
  readonly more: readonly number[];
}

/** Replaces unreadable groups: nothing starts, and no cap has room. */
export const noGroups: PlanGroups = { strata: [], lanes: [], domains: [] };

/** Collectors which are alike in `spreadBy`, or a group that was held for its shared attributes. */
export interface Stratum {
  /** Their values, joined: `Linux / amd64 / 19.441-2`. */
  readonly label: string;
  /** For such a group: the shared attributes of its members. */
  readonly attributes?: readonly Attribute[];
  /** Members in each wave. */
  readonly sizes: readonly number[];
}

/** Collectors that start or wait for the same reasons. Candidates are stored by lane. */
export interface Lane {
  readonly stratum: number;
  /** Their own time zone, where the policy's windows or freezes need it; else empty. */
  readonly timeZone: string;
  /** The caps they share with others, at most one for each `maxInFlightPer` rule. */
  readonly domains: readonly number[];
}

/** Collectors that share a cap of `maxInFlightPer`. */
export interface CapDomain {
  /** `fields.cluster = db-7`. */
  readonly label: string;
  readonly cap: number;
}

/** Between the values of a stratum's label: `Linux / amd64`. */
export const valueSeparator = ' / ';

/** Finds a stratum by its label, ignoring case and blanks around its parts. */
export function findStratum(
  strata: ReadonlyArray<{ readonly label: string }>,
  label: string,
): { readonly kind: 'found'; readonly stratum: number; readonly label: string } | { readonly kind: 'none' } {
  const wanted = normalize(label);
  const index = strata.findIndex((each) => normalize(each.label) === wanted);
  const found = strata[index];
  return found === undefined ? { kind: 'none' } : { kind: 'found', stratum: index, label: found.label };
}

/** The index of the stratum with this label; -1 if there is none. */
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
