/**
 * The beginning of a text, without half of a character at its end: a script in Redis can't read a record that has one.
 * @param lengthMax as `length` counts: most emoji are two
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return text.slice(0, lengthMax).replace(/[\ud800-\udbff]$/, '');
}
