import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Builds `dist/` where the sources are newer, since tests run the program as a process. */
export async function setup(): Promise<void> {
  const builtAt = await stat(join(root, 'dist/main.js')).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  if ((await newestChange(join(root, 'src'))) <= builtAt) return;
  try {
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: root });
  } catch (error) {
    // The compiler writes its findings to stdout.
    throw new Error(`the build failed: ${(error as { stdout?: string }).stdout ?? ''}`, { cause: error });
  }
}

async function newestChange(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const times = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).mtimeMs);
  return Math.max(...(await Promise.all(times)));
}
