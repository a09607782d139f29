/** Deeper than anything our APIs speak of. Writing JSON recurses, so a body nested without end would break who passes it on. */
const depthMax = 100;

/** True when objects and arrays are nested deeper than we are willing to follow. Does not recurse itself. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}
