/** A collector build as three integers, `<major>.<minor>-<build>` (collector-api.md §9). */
export interface BuildVersion {
  readonly major: number;
  readonly minor: number;
  readonly build: number;
}

/**
 * Parses a build. A missing build part counts as 0: real fleets have such builds (field-facts.md, Upgrades).
 * @returns undefined for an empty or unreadable text
 */
export function parseBuildVersion(text: string): BuildVersion | undefined {
  const match = /^(\d+)\.(\d+)(?:-(\d+))?$/.exec(text.trim());
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), build: Number(match[3] ?? 0) };
}

/**
 * Orders two builds as integer triples: `19.61-1` < `19.525-63`.
 * @returns negative, zero or positive; undefined when one of them is unreadable
 */
export function compareBuildVersions(a: string, b: string): number | undefined {
  const left = parseBuildVersion(a);
  const right = parseBuildVersion(b);
  if (left === undefined || right === undefined) return undefined;
  return left.major - right.major || left.minor - right.minor || left.build - right.build;
}

/** True when both texts name the same build. Unreadable ones are compared as texts. */
export function isSameBuild(a: string, b: string): boolean {
  return a === b || compareBuildVersions(a, b) === 0;
}
