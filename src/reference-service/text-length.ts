/** Characters as code points, so that one outside the basic plane is not counted twice. Nothing has none. */
export function characterCount(text: string | null | undefined): number {
  return Array.from(text ?? '').length;
}
