import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The full path of a command, as a shell would find it; undefined where there is none. */
export async function findOnPath(command: string): Promise<string | undefined> {
  // The native servers are run through a POSIX shell.
  if (process.platform === 'win32') return undefined;
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, command);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
