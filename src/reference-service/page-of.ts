/** One page of a list; past the end it is empty (field-facts.md, The wire). */
export function pageOf<T>(
  items: readonly T[],
  page: { readonly offset: number; readonly limit: number },
): T[] {
  return items.slice(page.offset, page.offset + page.limit);
}
