/** The value, which a test knows to be there. @throws when it is not */
export function lossless<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('expected a value');
  return value;
}
