import type { SearchEntry } from '../search-entry.ts';

const shownMax = 12;

/**
 * The sections that have every typed word, or one that begins with it. One with this name comes first, then those with the
 * words in their titles.
 */
export function findSections(entries: readonly SearchEntry[], typed: string): readonly SearchEntry[] {
  const name = typed.trim().toLowerCase();
  const wanted = [...typed.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)].map(([word]) => word);
  if (wanted.length === 0) return [];
  return entries
    .map((entry) => ({ entry, weight: weightOf(entry, wanted), isIt: entry.title.toLowerCase() === name }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => Number(other.isIt) - Number(one.isIt) || other.weight - one.weight)
    .slice(0, shownMax)
    .map(({ entry }) => entry);
}

/** 0: a word is missing. */
function weightOf({ title, in: guide, words }: SearchEntry, wanted: readonly string[]): number {
  const weights = wanted.map((word): number => {
    if (hasWord(title, word)) return 4;
    if (hasWord(guide, word)) return 2;
    return hasWord(words, word) ? 1 : 0;
  });
  return weights.includes(0) ? 0 : weights.reduce((sum, weight) => sum + weight, 0);
}

/** The name of an alert is several words: `UpwaveClockWrong`. */
function hasWord(text: string, begin: string): boolean {
  const words = `${text} ${text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')}`;
  return ` ${words.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' ')}`.includes(` ${begin}`);
}
