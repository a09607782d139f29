const inGroups = new Intl.NumberFormat('en');

/** A count for people: `1,023`. */
export function showCount(count: number): string {
  return inGroups.format(count);
}

/** The form for this number. Default for `many`: `one` with an `s`. */
export function singularOrPlural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
