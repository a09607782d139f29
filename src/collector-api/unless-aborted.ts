/** @returns undefined when the wait was aborted, by this signal or by the daemon's own stop */
export async function unlessAborted<T>(
  wait: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  try {
    return await wait;
  } catch (error) {
    if (signal?.aborted === true || (error instanceof Error && error.name === 'AbortError')) return undefined;
    throw error;
  }
}
