// What fits a line that a person reads.
const namesShown = 5;

/** The first few of some names, and how many more there are: `a, b, c, d, e and 2 more`. */
export function someNames(names: readonly string[]): string {
  const shown = names.slice(0, namesShown).join(', ');
  const more = names.length - namesShown;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
