import { resolve } from 'node:path';
import type { Policy } from '../rollout/policy.ts';

/** The policy with its gates' token files as whole paths; in the file they are relative to its folder. */
export function withTokenFiles(policy: Policy, folder: string): Policy {
  return {
    ...policy,
    waves: policy.waves.map((wave) => ({
      ...wave,
      gates: wave.gates.map((gate) =>
        gate.tokenFile === undefined ? gate : { ...gate, tokenFile: resolve(folder, gate.tokenFile) },
      ),
    })),
  };
}
