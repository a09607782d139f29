import { dirname, resolve } from 'node:path';
import { type GateRule, isSearchGate, type Policy } from '../../rollout/model/policy.ts';
import { partOf } from '../schema/value-schemas.ts';
import { formatPath } from '../source/config-error.ts';
import type { Substitution } from './substitute-environment.ts';

/** A file that the config names, and how it stands there: a variable may hold a secret that is no path at all (P12). */
export interface NamedFile {
  readonly path: string;
  readonly written: string;
}

/**
 * Looks at the data before it is checked, so that a bad file is reported together with all other problems.
 * @returns undefined where none is named, or by a variable that is missing, which is reported as such
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

/** The policy with the files that its gates name as whole paths; in the config they are relative to its folder. */
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
