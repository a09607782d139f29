import { onTestFinished } from 'vitest';

/** Ends with the present test, which is no concurrent one; what was opened last ends first. */
export function ending<Opened extends { close(): Promise<unknown> }>(opened: Opened): Opened {
  onTestFinished(async () => void (await opened.close()));
  return opened;
}
