import { dirname, resolve } from 'node:path';
import { type GateRule, isSearchGate, type Policy } from '../../rollout/model/policy.ts';
import { partOf } from '../schema/value-schemas.ts';
import { formatPath } from '../source/config-error.ts';
import type { Substitution } from './substitute-environment.ts';

/** A file that the config names. Messages show the text of the config, because a variable may contain a secret (P12). */
export interface NamedFile {
  readonly path: string;
  readonly written: string;
}

/**
 * Reads the data before it is checked, so that a bad file is reported together with all other problems.
 * @returns undefined if no file is named, or only by a missing variable, which is reported separately
 */
export function namedFileOf(
  substitution: Substitution,
  path: readonly PropertyKey[],
  configFile: string,
): NamedFile | undefined {
  const place = formatPath(path);
  if (substitution.issues.some((issue) => formatPath(issue.path) === place)) return undefined;
  const given = path.reduce(partOf, substitution.value);
  if (typeof given !== 'string' || given === '') return undefined;
  const written = substitution.texts.get(place)?.written ?? given;
  return { path: resolve(dirname(configFile), given), written };
}

/** Makes the paths of files that gates name absolute; in the config they are relative to its folder. */
export function withGateFiles(policy: Policy, folder: string): Policy {
  const withFiles = (gate: GateRule): GateRule => {
    if (isSearchGate(gate)) return gate;
    return {
      ...gate,
      ...('urlFile' in gate && { urlFile: resolve(folder, gate.urlFile) }),
      ...(gate.tokenFile !== undefined && { tokenFile: resolve(folder, gate.tokenFile) }),
      ...(gate.caFile !== undefined && { caFile: resolve(folder, gate.caFile) }),
    };
  };
  return {
    ...policy,
    waves: policy.waves.map((wave) => ({ ...wave, gates: wave.gates.map(withFiles) })),
  };
}
