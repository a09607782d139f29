// A label has the values of several keys; longer texts are no slip of one, and slow to compare.
const lengthMax = 200;

/** The label that a person most likely meant, whatever the case; undefined where none is near enough. */
export function nearestLabel(text: string, labels: readonly string[]): string | undefined {
  if (text.length > lengthMax) return undefined;
  let nearest: string | undefined;
  // A third of the letters wrong is still a slip; more is another thing.
  let least = Math.max(1, Math.floor(text.length / 3));
  for (const label of new Set(labels)) {
    if (label.length > lengthMax) continue;
    const wrong = distance(text.toLowerCase(), label.toLowerCase());
    if (wrong > least || (wrong === least && nearest !== undefined)) continue;
    nearest = label;
    least = wrong;
  }
  return nearest;
}

/** How many letters are to be changed, added or left out (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + Number(from[i - 1] !== to[j - 1]);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
