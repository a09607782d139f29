// What fits a line that a person reads.
const namesShown = 5;

/** The first few of some names, for a sentence that says how many there are: `a, b, c, d, e, …`. */
export function someNames(names: readonly string[]): string {
  const shown = names.slice(0, namesShown).join(', ');
  return names.length > namesShown ? `${shown}, …` : shown;
}
