/** Where the JSON string that opens here is over: after its closing quote, or at the end of a text that was cut off. */
export function endOfString(text: string, opening: number): number {
  let closing = text.indexOf('"', opening + 1);
  while (closing !== -1 && isEscaped(text, closing)) closing = text.indexOf('"', closing + 1);
  return closing === -1 ? text.length : closing + 1;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}
