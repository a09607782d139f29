import type { GateRule, Policy } from '../../rollout/model/policy.ts';

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

const mask = '***';

/**
 * A URL without what it may hold as a credential (P12): the password, or a user name that stands alone, and the values
 * of its query. A path to a socket stays as it is.
 */
export function maskedUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password !== '') url.password = mask;
  else if (url.username !== '') url.username = mask;
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, mask);
  return url.href;
}
