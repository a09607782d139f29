import { sharedKeys } from '../../rollout/model/attributes.ts';
import { type FleetCollector, valueUnder } from '../../rollout/model/collector.ts';
import type { Amount, CollectorKey, Policy, WaveRule } from '../../rollout/model/policy.ts';

/** A policy with one difference from the rehearsed one. */
export interface Variant {
  /** The difference as the config writes it. */
  readonly name: string;
  readonly policy: Policy;
}

/** A key with more values would put nearly the whole fleet into the canary. */
const valuesMax = 100;

/** A fleet may have a hundred fields. Those with the fewest values come first. */
const keysMax = 6;

/**
 * Policies that might detect a bad build earlier: a canary for another attribute, lower concurrency, longer soaks, smaller
 * waves.
 */
export function variantsOf(policy: Policy, collectors: readonly FleetCollector[]): readonly Variant[] {
  const spreads = otherKeys(policy, collectors).map((key) => {
    const spreadBy = [...policy.spreadBy, key];
    return { name: `spreadBy: + ${key}`, policy: { ...policy, spreadBy } };
  });
  const waves = (name: string, change: (wave: WaveRule) => WaveRule): Variant => ({
    name,
    policy: { ...policy, waves: policy.waves.map((wave, at) => (at === last ? wave : change(wave))) },
  });
  const last = policy.waves.length - 1;
  return [
    ...(policy.waves.some(({ size }) => size.kind === 'perStratum') ? spreads : []),
    ...(policy.concurrency >= 5
      ? [
          {
            name: 'concurrency: a fifth',
            policy: { ...policy, concurrency: Math.floor(policy.concurrency / 5) },
          },
        ]
      : []),
    { name: 'isolate: attributes', policy: { ...policy, isolate: 'attributes' as const } },
    waves('soak: twice as long', (wave) => ({ ...wave, soakMs: wave.soakMs * 2 })),
    waves('soak: six times as long', (wave) => ({ ...wave, soakMs: wave.soakMs * 6 })),
    waves('size: half (canaries unchanged)', (wave) =>
      wave.size.kind === 'perStratum' ? wave : { ...wave, size: halved(wave.size) },
    ),
    waves('maxFailures: 0 before the last wave', (wave) => ({
      ...wave,
      maxFailures: { kind: 'count', count: 0 },
    })),
  ].filter((variant) => JSON.stringify(variant.policy) !== JSON.stringify(policy));
}

function halved(size: Amount): Amount {
  return size.kind === 'count'
    ? { kind: 'count', count: Math.max(1, Math.floor(size.count / 2)) }
    : { kind: 'percent', percent: size.percent / 2 };
}

/** Keys with several values in the fleet that the policy does not spread by yet. */
function otherKeys({ spreadBy }: Policy, collectors: readonly FleetCollector[]): readonly CollectorKey[] {
  const fields = new Set(collectors.flatMap(({ fields }) => Object.keys(fields)));
  const all: CollectorKey[] = [...sharedKeys, ...[...fields].map((name) => `fields.${name}` as const)];
  return all
    .filter((key) => !spreadBy.includes(key))
    .map((key) => ({ key, values: new Set(collectors.map((each) => valueUnder(each, key))).size }))
    .filter(({ values }) => values > 1 && values <= valuesMax)
    .sort((a, b) => a.values - b.values)
    .slice(0, keysMax)
    .map(({ key }) => key);
}
