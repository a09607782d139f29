import type { GateRule, Policy } from '../../rollout/model/policy.ts';

/** A policy that may be shown. The path of a webhook's URL is masked, because it is often the only secret (P12). */
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
 * A URL without possible credentials (P12): the password, or a lone user name, and the values of its query. The path of a
 * socket stays.
 */
export function maskedUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password !== '') url.password = mask;
  else if (url.username !== '') url.username = mask;
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, mask);
  return url.href;
}
