import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCodeOf } from '../../base/node-errors.ts';

/** Whether this user could write reports there, by what the file system shows now. One sentence, or none. */
export function reportRisk(directory: string): readonly string[] {
  const found = nearestPath(directory);
  if (found === undefined) return [];
  const { path, isDirectory } = found;
  const what = path === directory ? '' : `: ${path}`;
  if (isDirectory && mayWrite(path)) return [];
  const why = isDirectory ? 'lets this user write nothing' : 'is not a directory';
  return [`no report can be written to report.directory ${directory}${what} ${why}`];
}

/** The path itself, or the nearest one above that exists. */
function nearestPath(path: string): { readonly path: string; readonly isDirectory: boolean } | undefined {
  try {
    return { path, isDirectory: statSync(path).isDirectory() };
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    const above = dirname(path);
    return above === path ? undefined : nearestPath(above);
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return false;
  }
}
