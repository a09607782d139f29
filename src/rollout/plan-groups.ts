/**
 * How the members of a plan group together. Frozen with the plan; late joiners may add to the ends of the lists, so an
 * index once given keeps its meaning.
 */
export interface PlanGroups {
  readonly strata: readonly Stratum[];
  readonly lanes: readonly Lane[];
  readonly domains: readonly CapDomain[];
}

/** In the place of groups that can't be read: nobody starts by them, and no cap has room. */
export const noGroups: PlanGroups = { strata: [], lanes: [], domains: [] };

/** Collectors alike in `spreadBy`. */
export interface Stratum {
  /** Their values, joined: `Linux / amd64 / 19.441-2`. */
  readonly label: string;
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
