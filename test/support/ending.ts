import { onTestFinished } from 'vitest';

/** Closes this after the test, the last opened first. Not for concurrent tests. */
export function ending<Opened extends { close(): Promise<unknown> }>(opened: Opened): Opened {
  onTestFinished(async () => void (await opened.close()));
  return opened;
}
