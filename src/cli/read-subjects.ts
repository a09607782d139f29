/**
 * What `hold` and `release` mean by their words: a thing each, but the parts of a stratum's label, which a lone `/`
 * shows, are one. What has blanks is quoted.
 */
export function readSubjects(words: readonly string[]): readonly string[] {
  return words.includes('/') ? [words.join(' ')] : [...new Set(words)];
}
