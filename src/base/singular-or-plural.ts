/** The form for this number. Default for `many`: `one` with an `s`. */
export function singularOrPlural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
