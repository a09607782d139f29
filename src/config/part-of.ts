/** What a file's data has under this key, before anything is checked. @returns undefined where it is no object or has none */
export function partOf(data: unknown, key: PropertyKey): unknown {
  return typeof data === 'object' && data !== null && Object.hasOwn(data, key)
    ? Reflect.get(data, key)
    : undefined;
}
