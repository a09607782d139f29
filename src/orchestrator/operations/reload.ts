import type { Clock, EpochMs } from '../../base/time.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { configWords } from '../../rollout/reload/newest-config.ts';
import {
  comparePolicies,
  differenceWords,
  type PolicyDifference,
} from '../../rollout/reload/policy-difference.ts';
import type { NamedConfig } from '../ports/config-register.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { Configs } from '../scan/configs.ts';
import { type FollowConfigsParts, type FollowedConfig, followConfigs } from '../scan/configs.ts';

/** A config that was read anew and is without a mistake. */
export interface NextConfig {
  readonly rollouts: readonly Policy[];
  readonly own: readonly NamedConfig[];
  /** Keys outside of `rollouts` that differ from what this process runs by. Names alone: values may be secrets (P12). */
  readonly needsRestart: readonly string[];
}

/** Where the config comes from, and where it is in use. */
export interface ConfigSource {
  /** `wrong`: the reason says every mistake, with its line. */
  read():
    | { readonly kind: 'read'; readonly next: NextConfig }
    | { readonly kind: 'wrong'; readonly reason: string };
  /** All of this process works by these policies from here on. */
  use(next: NextConfig): void;
}

export interface ReloadRequest {
  readonly by: string;
  readonly reason: string;
}

/** What a policy says otherwise than before; `added` and `removed` for a whole policy. */
export interface PolicyChange {
  readonly policy: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly differences: readonly PolicyDifference[];
}

export type ReloadResult =
  | {
      readonly kind: 'reloaded' | 'unchanged';
      readonly policies: readonly PolicyChange[];
      readonly needsRestart: readonly string[];
      /** The rollouts on their way, as they stand to the config now. */
      readonly rollouts: readonly FollowedConfig[];
      /** What a person should know beside it. */
      readonly warnings: readonly string[];
    }
  /** The file has mistakes: nothing has changed. */
  | { readonly kind: 'refused'; readonly reason: string };

/** How the last reading of the config went. */
export interface ReloadStatus {
  readonly at: EpochMs;
  /** What is wrong with the file; undefined: nothing. */
  readonly problem?: string;
}

export interface ReloadParts extends Omit<FollowConfigsParts, 'register'> {
  readonly register: FleetRegister;
  readonly configs: Configs;
  readonly source: ConfigSource;
  readonly clock: Clock;
}

/** Reads the config anew, all of it or nothing of it. One reload at a time. */
export function makeReload(parts: ReloadParts): {
  readonly reload: (request: ReloadRequest) => Promise<ReloadResult>;
  readonly standing: () => ReloadStatus;
} {
  let standing: ReloadStatus = { at: parts.clock.now() };
  let last: Promise<unknown> = Promise.resolve();
  const reloadOnce = async ({ by, reason }: ReloadRequest): Promise<ReloadResult> => {
    const read = parts.source.read();
    const at = parts.clock.now();
    if (read.kind === 'wrong') {
      standing = { at, problem: read.reason };
      parts.sink.note({ event: 'config.refused', by, reason: read.reason });
      return { kind: 'refused', reason: read.reason };
    }
    const { next } = read;
    standing = { at };
    const policies = compareConfigs(parts.rollouts, next.rollouts);
    const removed = policies.flatMap(({ kind, policy }) => (kind === 'removed' ? [policy] : []));
    const isUnchanged = policies.length === 0 && next.needsRestart.length === 0;
    parts.source.use(next);
    parts.configs.replace(next.own);
    const words = changeWords(policies, next.needsRestart);
    const told = `${words}${reason === '' ? '' : `; ${reason}`}`;
    parts.sink.note({ event: 'config.reloaded', by, at, reason: told });
    if (!isUnchanged)
      await parts.register.audit({ event: 'config.reloaded', subject: 'config', by, at, reason: told });
    await parts.configs.beat();
    const rollouts = await followConfigs(parts, by);
    const orphans = await parts.store.activeRolloutIds(removed);
    return {
      kind: isUnchanged ? 'unchanged' : 'reloaded',
      policies,
      needsRestart: next.needsRestart,
      rollouts,
      warnings: [
        ...orphans.map((id) => `${id} stands still: its policy is no longer in the config`),
        ...[...parts.configs.standings()].flatMap(([policy, each]) => configWords(policy, each) ?? []),
      ],
    };
  };
  return {
    reload: (request) => {
      const reload = last.then(() => reloadOnce(request));
      last = reload.catch(() => undefined);
      return reload;
    },
    standing: () => standing,
  };
}

function compareConfigs(before: readonly Policy[], after: readonly Policy[]): readonly PolicyChange[] {
  const present = new Map(after.map((policy) => [policy.name, policy]));
  const old = new Set(before.map(({ name }) => name));
  const whole = { differences: [] };
  return [
    ...before.flatMap((policy): readonly PolicyChange[] => {
      const { name } = policy;
      const next = present.get(name);
      if (next === undefined) return [{ policy: name, kind: 'removed', ...whole }];
      const differences = comparePolicies(policy, next);
      return differences.length === 0 ? [] : [{ policy: name, kind: 'changed', differences }];
    }),
    ...after.flatMap(({ name }): readonly PolicyChange[] =>
      old.has(name) ? [] : [{ policy: name, kind: 'added', ...whole }],
    ),
  ];
}

// The audit keeps what fits in a line that a person reads; the answer to the reload has all of it.
const wordsMax = 2_000;

function changeWords(policies: readonly PolicyChange[], needsRestart: readonly string[]): string {
  const parts = policies.map(({ policy, kind, differences }) =>
    kind === 'changed' ? `${policy}: ${differenceWords(differences)}` : `${policy}: ${kind}`,
  );
  if (needsRestart.length > 0) parts.push(`needs a restart: ${needsRestart.join(', ')}`);
  const words = parts.length === 0 ? 'nothing changed' : parts.join('; ');
  return words.length > wordsMax ? `${words.slice(0, wordsMax)}…` : words;
}
