import { distance } from 'fastest-levenshtein';

// A key, a label of a stratum, a rollout's id; longer texts are no slip of one, and slow to compare.
const lengthMax = 200;

/** The one that a person most likely meant, whatever the case, blanks and dashes; undefined where none is near enough. */
export function nearestText(text: string, known: readonly string[]): string | undefined {
  if (text.length > lengthMax) return undefined;
  let nearest: string | undefined;
  // A third of the letters wrong is still a slip; more is another thing.
  let least = Math.max(1, Math.floor(text.length / 3));
  for (const each of new Set(known)) {
    if (each.length > lengthMax) continue;
    const wrong = distance(simplified(text), simplified(each));
    if (wrong > least || (wrong === least && nearest !== undefined)) continue;
    nearest = each;
    least = wrong;
  }
  return nearest;
}

function simplified(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}
