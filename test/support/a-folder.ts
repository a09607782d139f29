import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder, removed after the test. @param atEnd of a concurrent test, its own `onTestFinished` */
export function aFolder(atEnd: (work: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'upwave-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
