import { resolve } from 'node:path';
import type { GateRule, Policy } from '../rollout/policy.ts';

/** The policy with the files that its gates name as whole paths; in the config they are relative to its folder. */
export function withGateFiles(policy: Policy, folder: string): Policy {
  const withFiles = (gate: GateRule): GateRule => ({
    ...gate,
    ...('urlFile' in gate && { urlFile: resolve(folder, gate.urlFile) }),
    ...(gate.tokenFile !== undefined && { tokenFile: resolve(folder, gate.tokenFile) }),
    ...(gate.caFile !== undefined && { caFile: resolve(folder, gate.caFile) }),
  });
  return {
    ...policy,
    waves: policy.waves.map((wave) => ({ ...wave, gates: wave.gates.map(withFiles) })),
  };
}
