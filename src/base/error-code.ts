/** The code that Node and its libraries give an error, such as `ECONNREFUSED`; undefined for one without. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
