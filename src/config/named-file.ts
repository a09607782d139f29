import { dirname, resolve } from 'node:path';
import { formatPath } from './config-error.ts';
import { partOf } from './part-of.ts';
import type { Substitution } from './substitute-environment.ts';

/** A file that the config names, and how it stands there: a variable may hold a secret that is no path at all (P12). */
export interface NamedFile {
  readonly path: string;
  readonly written: string;
}

/**
 * Looks at the data before it is checked, so that a bad file is told together with all other problems.
 * @returns undefined where none is named, or by a variable that is missing, which is told as such
 */
export function namedFileOf(
  substitution: Substitution,
  [section, key]: readonly [section: string, key: string],
  configFile: string,
): NamedFile | undefined {
  const place = formatPath([section, key]);
  if (substitution.issues.some((issue) => formatPath(issue.path) === place)) return undefined;
  const given = partOf(partOf(substitution.value, section), key);
  if (typeof given !== 'string' || given === '') return undefined;
  const written = substitution.texts.get(place)?.written ?? given;
  return { path: resolve(dirname(configFile), given), written };
}
