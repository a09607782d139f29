/** Values of path segments or query parameters. */
export type TargetValues = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Encodes an operation's path and query for the request line. `{id}` in the path is replaced by the value in `params`,
 * as one segment. Query parameters that are undefined are left out.
 * @throws when a path segment has no value: a bug of the caller
 */
export function encodeTarget(path: string, params: TargetValues, query: TargetValues): string {
  const encodedPath = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeSegment(name, params[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? encodedPath : `${encodedPath}?${search.toString()}`;
}

function encodeSegment(name: string, value: TargetValues[string]): string {
  const text = String(value ?? '');
  if (text === '') throw new Error(`no value for the path segment {${name}}`);
  // A segment of dots would mean "here" or "one up".
  return /^\.{1,2}$/.test(text) ? text.replaceAll('.', '%2E') : encodeURIComponent(text);
}
