import type { GateRule, Policy } from '../rollout/policy.ts';
import { mask, maskedUrl } from './masked-url.ts';

/** A policy as it may be shown: the path of a webhook's URL is often all that keeps others from it (P12). */
export function maskedPolicy(policy: Policy): Policy {
  return {
    ...policy,
    waves: policy.waves.map((wave) => ({ ...wave, gates: wave.gates.map(maskedGate) })),
  };
}

export function maskedGate(gate: GateRule): GateRule {
  if (!('url' in gate)) return gate;
  const masked = maskedUrl(gate.url);
  if (gate.kind !== 'webhook' || !URL.canParse(masked)) return { ...gate, url: masked };
  const url = new URL(masked);
  if (url.pathname !== '/') url.pathname = `/${mask}`;
  return { ...gate, url: url.href };
}
