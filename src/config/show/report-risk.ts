import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { unlessRefused } from '../../base/node-errors.ts';

/** Checks in the file system whether this user can write reports there. Returns one sentence, or none. */
export function reportRisk(directory: string): readonly string[] {
  const found = nearestPath(directory);
  if (found === undefined) return [];
  const { path, isDirectory } = found;
  const what = path === directory ? '' : `: ${path}`;
  if (isDirectory && mayWrite(path)) return [];
  const why = isDirectory ? 'is not writable for this user' : 'is not a directory';
  return [`no report can be written to report.directory ${directory}${what} ${why}`];
}

/** The path itself, or its nearest existing parent. */
function nearestPath(path: string): { readonly path: string; readonly isDirectory: boolean } | undefined {
  const isDirectory = unlessRefused(() => statSync(path).isDirectory());
  if (isDirectory !== undefined) return { path, isDirectory };
  const above = dirname(path);
  return above === path ? undefined : nearestPath(above);
}

function mayWrite(path: string): boolean {
  const isGranted = unlessRefused(() => {
    accessSync(path, constants.W_OK);
    return true;
  });
  return isGranted === true;
}
